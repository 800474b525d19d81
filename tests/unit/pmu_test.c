/* pmu_test.c - the self-test's verdicts on PMUs that are not here: a sound one, an emulated one
 * that lies the way QEMU's TCG and cloud guests were measured to lie, a hybrid one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "source/pmu.h"

struct fake {
	unsigned counters; /* a larger group never runs */
	unsigned opens;	   /* a larger group is refused */
	bool emulated;	 /* only cycles and instructions count, stalls and codes are silent zeros */
	bool cache_zero; /* cache events read 0, as on some cloud guests */
	double factor;	 /* what instructions are multiplied by; 0: 1 */
	uint32_t pmu_type; /* must stand in the upper half of a generic config */
	unsigned measured;
};

static uint64_t value_of(
	const struct fake *fake, uint32_t type, uint64_t config, enum pmu_work work)
{
	static const uint64_t steps[PMU_WORKS] = {
		PMU_LOOP_STEPS, PMU_BRANCH_STEPS, PMU_CHASE_STEPS};

	if (type == PERF_TYPE_RAW) /* one code moves in one kind of work only */
		return fake->emulated || work != PMU_WORK_CHASE ? 0 : steps[work];
	if (type == PERF_TYPE_HW_CACHE)
		return fake->cache_zero ? 0 : steps[work];
	switch (config) {
	case PERF_COUNT_HW_INSTRUCTIONS:
		return (uint64_t)(4.001 * PMU_LOOP_STEPS * (fake->factor > 0 ? fake->factor : 1));
	case PERF_COUNT_HW_CPU_CYCLES:
	case PERF_COUNT_HW_REF_CPU_CYCLES:
		return 3000000; /* in 1 ms: 3 GHz */
	case PERF_COUNT_HW_BRANCH_MISSES:
		return steps[work] / 2;
	case PERF_COUNT_HW_STALLED_CYCLES_FRONTEND:
	case PERF_COUNT_HW_STALLED_CYCLES_BACKEND:
		return fake->emulated ? 0 : 1000;
	case PERF_COUNT_HW_CACHE_REFERENCES:
	case PERF_COUNT_HW_CACHE_MISSES:
		return fake->cache_zero ? 0 : steps[work];
	default:
		return steps[work];
	}
}

static bool fake_has(const struct fake *fake, uint32_t type, uint64_t config)
{
	if (!fake->emulated || type == PERF_TYPE_RAW)
		return true;
	return type == PERF_TYPE_HARDWARE &&
	       (config == PERF_COUNT_HW_CPU_CYCLES || config == PERF_COUNT_HW_INSTRUCTIONS ||
		       config == PERF_COUNT_HW_STALLED_CYCLES_FRONTEND ||
		       config == PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
}

static int fake_measure(void *context, const struct pmu_group *group, struct pmu_count *ret_counts)
{
	struct fake *fake = context;
	bool runs = group->count <= fake->counters;

	fake->measured++;
	if (group->count > fake->opens)
		return -EINVAL;
	for (unsigned i = 0; i < group->count; i++) {
		uint64_t config = group->config[i] & 0xffffffffu;

		if (group->config[i] >> 32 != fake->pmu_type)
			return -ENOENT;
		if (!fake_has(fake, group->type[i], config))
			return -ENOENT;
		ret_counts[i] = (struct pmu_count){
			.value = runs ? value_of(fake, group->type[i], config, group->work) : 0,
			.enabled_ns = 1000000,
			.running_ns = runs ? 1000000 : 0,
		};
	}
	return 0;
}

static struct pmu_core test_core(struct fake *fake, bool hybrid)
{
	struct pmu_port port = {fake_measure, fake};
	struct pmu_core core = {.name = "fake", .type = fake->pmu_type, .cpu = -1};

	pmu_test_core(&port, hybrid, &core);
	return core;
}

static const struct pmu_event *event_of(const struct pmu_core *core, const char *name)
{
	for (unsigned i = 0; i < core->events; i++)
		if (str_equal(core->event[i].name, name))
			return &core->event[i];
	fail_msg("no event %s", name);
	return &core->event[0];
}

static void a_sound_pmu_is_trusted_in_every_event(void **state)
{
	struct fake fake = {.counters = 6, .opens = 16};
	struct pmu_core core = test_core(&fake, false);

	(void)state;
	assert_int_equal(core.counters, 6);
	assert_true(core.events >= 10);
	for (unsigned i = 0; i < core.events; i++)
		assert_int_equal(core.event[i].verdict, PMU_TRUSTED);
}

static void a_group_that_opens_and_never_runs_is_not_counted_as_counters(void **state)
{
	struct fake fake = {.counters = 6, .opens = 7};

	(void)state;
	assert_int_equal(test_core(&fake, false).counters, 6);
	fake = (struct fake){.counters = 4, .opens = 4};
	assert_int_equal(test_core(&fake, false).counters, 4);
	fake = (struct fake){.counters = 16, .opens = 16};
	assert_int_equal(test_core(&fake, false).counters, PMU_GROUP_MAX);
}

static void an_emulated_pmu_keeps_only_what_really_counts(void **state)
{
	struct fake fake = {.counters = 6, .opens = 7, .emulated = true};
	struct pmu_core core = test_core(&fake, false);

	(void)state;
	assert_int_equal(core.counters, 6); /* found with instructions: branches are absent */
	assert_int_equal(event_of(&core, "instructions")->verdict, PMU_TRUSTED);
	assert_int_equal(event_of(&core, "branches")->verdict, PMU_ABSENT);
	assert_int_equal(event_of(&core, "stalled-cycles-backend")->verdict, PMU_ZERO);
	assert_non_null(strstr(event_of(&core, "stalled-cycles-backend")->reason, "reads 0"));
	assert_int_equal(event_of(&core, "L1-dcache-loads")->verdict, PMU_ABSENT);
}

static void a_silent_zero_is_not_a_measurement(void **state)
{
	struct fake fake = {.counters = 4, .opens = 4, .cache_zero = true};
	struct pmu_core core = test_core(&fake, false);

	(void)state;
	assert_int_equal(event_of(&core, "cache-misses")->verdict, PMU_ZERO);
	assert_int_equal(event_of(&core, "cache-references")->verdict, PMU_ZERO);
	assert_int_equal(event_of(&core, "branch-misses")->verdict, PMU_TRUSTED);
}

static void a_count_that_is_off_by_two_percent_is_implausible(void **state)
{
	struct fake fake = {.counters = 4, .opens = 4, .factor = 1.02};
	struct pmu_core core = test_core(&fake, false);

	(void)state;
	assert_int_equal(event_of(&core, "instructions")->verdict, PMU_IMPLAUSIBLE);
	assert_non_null(strstr(event_of(&core, "instructions")->reason, "expected"));
}

static void counters_held_by_others_give_never_ran(void **state)
{
	struct fake fake = {.counters = 0, .opens = 16};
	struct pmu_core core = test_core(&fake, false);

	(void)state;
	assert_int_equal(core.counters, 0);
	assert_int_equal(event_of(&core, "cycles")->verdict, PMU_NEVER_RAN);
}

static void a_hybrid_core_is_asked_by_the_type_of_its_own_pmu(void **state)
{
	struct fake fake = {.counters = 8, .opens = 8, .pmu_type = 7};
	struct pmu_core core = test_core(&fake, true);

	(void)state;
	assert_int_equal(core.counters, 8);
	assert_int_equal(event_of(&core, "cycles")->verdict, PMU_TRUSTED);
}

static void a_code_is_tried_over_every_kind_of_work(void **state)
{
	struct fake fake = {.counters = 6, .opens = 7};
	struct pmu_port port = {fake_measure, &fake};

	(void)state;
	assert_int_equal(pmu_test_event(&port, PERF_TYPE_RAW, 0x10), 1);
	fake.emulated = true;
	assert_int_equal(pmu_test_event(&port, PERF_TYPE_RAW, 0x10), 0);
	fake.counters = 0; /* held by others: nothing is known */
	assert_int_equal(pmu_test_event(&port, PERF_TYPE_RAW, 0x10), 1);
	fake.opens = 0;
	assert_int_equal(pmu_test_event(&port, PERF_TYPE_RAW, 0x10), -EINVAL);
}

static void zeros_and_gaps_make_a_pmu_cut_down(void **state)
{
	struct fake fake = {.counters = 6, .opens = 16};
	struct pmu_core core = test_core(&fake, false);

	(void)state;
	assert_false(pmu_core_is_cut_down(&core));
	fake.cache_zero = true;
	core = test_core(&fake, false);
	assert_true(pmu_core_is_cut_down(&core));
	fake = (struct fake){.counters = 6, .opens = 7, .emulated = true};
	core = test_core(&fake, false);
	assert_true(pmu_core_is_cut_down(&core));
}

static void write_text(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void core_pmus_are_told_from_uncore_ones(void **state)
{
	char folder[] = "/tmp/assay-pmu-XXXXXX", path[128], command[160];
	struct pmu_core cores[PMU_CORE_TYPES];
	static const char *const rows[][4] = {{"cpu_core", "cpus", "0-3", "4"},
		{"cpu_atom", "cpus", "4-7", "10"}, {"uncore_imc", "cpumask", "0", "20"},
		{"software", NULL, NULL, "1"}};
	unsigned atom;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, rows[i][0]);
		mkdir(path, 0700);
		write_text(path, "type", rows[i][3]);
		if (rows[i][1])
			write_text(path, rows[i][1], rows[i][2]);
	}
	assert_int_equal(pmu_list(folder, cores, PMU_CORE_TYPES), 2);
	atom = str_equal(cores[0].name, "cpu_atom") ? 0 : 1;
	assert_string_equal(cores[atom].name, "cpu_atom");
	assert_int_equal(cores[atom].type, 10);
	assert_int_equal(cores[atom].cpu, 4);
	assert_string_equal(cores[!atom].name, "cpu_core");
	assert_int_equal(pmu_list("/nowhere", cores, PMU_CORE_TYPES), 0);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void mark(void *context)
{
	++*(unsigned *)context;
}

static void each_work_is_done_between_its_two_calls(void **state)
{
	unsigned calls = 0;

	(void)state;
	for (unsigned work = 0; work < PMU_WORKS; work++)
		assert_int_equal(pmu_do_work((enum pmu_work)work, mark, mark, &calls), 0);
	assert_int_equal(calls, 2 * PMU_WORKS);
}

static void the_machine_itself_gets_an_honest_answer(void **state)
{
	struct pmu_report report;
	struct err err = {0};
	int present = pmu_present(&err), r = pmu_selftest(&report, &err);

	(void)state;
	if (r < 0) {
		assert_true(present < 0);
		assert_true(err.text[0] && err.hint[0]);
		return;
	}
	assert_int_equal(report.present, present);
	assert_int_equal(report.present, report.cores > 0);
	for (unsigned i = 0; i < report.cores; i++)
		for (unsigned e = 0; e < report.core[i].events; e++)
			assert_true(report.core[i].event[e].reason[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_pmu_is_trusted_in_every_event),
		cmocka_unit_test(a_group_that_opens_and_never_runs_is_not_counted_as_counters),
		cmocka_unit_test(an_emulated_pmu_keeps_only_what_really_counts),
		cmocka_unit_test(a_silent_zero_is_not_a_measurement),
		cmocka_unit_test(a_count_that_is_off_by_two_percent_is_implausible),
		cmocka_unit_test(counters_held_by_others_give_never_ran),
		cmocka_unit_test(a_hybrid_core_is_asked_by_the_type_of_its_own_pmu),
		cmocka_unit_test(a_code_is_tried_over_every_kind_of_work),
		cmocka_unit_test(zeros_and_gaps_make_a_pmu_cut_down),
		cmocka_unit_test(core_pmus_are_told_from_uncore_ones),
		cmocka_unit_test(each_work_is_done_between_its_two_calls),
		cmocka_unit_test(the_machine_itself_gets_an_honest_answer),
	};

	return cmocka_run_group_tests_name("pmu", tests, NULL, NULL);
}
