/* doctor_test.c - what capabilities mean, and how the answer looks at its worst. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/doctor.h"
#include "model/run.h"
#include "render/doctor.h"
#include "render/machine_json.h"
#include "source/probe.h"

static void add(struct run *run, const char *name, enum capability_status status, const char *fix)
{
	run_add_capability(run, &(struct capability_row){
					.name = run_intern(run, name),
					.reason = run_intern(run, "a reason"),
					.fix = run_intern(run, fix),
					.status = status,
				});
}

static struct run *run_of_all(enum capability_status status, const char *fix)
{
	struct run *run = run_open();

	for (unsigned i = 0; probe_name(i); i++)
		add(run, probe_name(i), status, fix);
	run_freeze(run);
	return run;
}

static const char *tier_text(const struct doctor_view *view, const char *name)
{
	vec_foreach (const struct doctor_tier, tier, &view->tiers)
		if (str_equal(tier->name, name))
			return tier->text;
	fail_msg("no tier %s", name);
	return "";
}

static void every_capability_is_explained_in_the_data(void **state)
{
	run_auto struct run *run = run_of_all(CAPABILITY_OK, NULL);
	doctor_auto struct doctor_view view = {0};

	(void)state;
	doctor_build(run, &view);
	vec_foreach (const struct doctor_row, row, &view.rows)
		if (!*row->purpose || !*row->commands)
			fail_msg("data/capabilities.txt does not explain %s", row->name);
	assert_true(view.tiers.count >= 3);
}

static void with_everything_each_tier_is_at_its_best(void **state)
{
	run_auto struct run *run = run_of_all(CAPABILITY_OK, NULL);
	doctor_auto struct doctor_view view = {0};

	(void)state;
	doctor_build(run, &view);
	assert_true(view.privileged);
	vec_foreach (const struct doctor_tier, tier, &view.tiers) {
		assert_true(tier->best);
		assert_true(*tier->text != '\0');
	}
}

static void with_nothing_each_tier_says_so(void **state)
{
	run_auto struct run *run = run_of_all(CAPABILITY_NO, "sudo something");
	doctor_auto struct doctor_view view = {0};

	(void)state;
	doctor_build(run, &view);
	assert_string_equal(tier_text(&view, "counting"), "software events only");
	assert_true(str_starts(tier_text(&view, "profiling"), "none"));
	vec_foreach (const struct doctor_row, row, &view.rows)
		assert_true(row->root_adds);
}

static void without_a_pmu_counting_falls_back_to_valgrind(void **state)
{
	run_auto struct run *run = run_open();
	doctor_auto struct doctor_view view = {0};

	(void)state;
	add(run, "pmu", CAPABILITY_NO, "none");
	add(run, "valgrind", CAPABILITY_OK, NULL);
	run_freeze(run);
	doctor_build(run, &view);
	assert_non_null(strstr(tier_text(&view, "counting"), "simulated with valgrind"));
}

static void a_limited_pmu_is_called_limited(void **state)
{
	run_auto struct run *run = run_open();
	doctor_auto struct doctor_view view = {0};

	(void)state;
	add(run, "pmu", CAPABILITY_LIMITED, "none");
	add(run, "valgrind", CAPABILITY_OK, NULL);
	run_freeze(run);
	doctor_build(run, &view);
	assert_true(str_starts(tier_text(&view, "counting"), "a limited PMU"));
	assert_false(view.tiers.at[0].best);
}

static void what_was_not_tried_is_not_called_missing(void **state)
{
	run_auto struct run *run = run_open();
	doctor_auto struct doctor_view view = {0};

	(void)state;
	add(run, "pmu", CAPABILITY_OK, NULL);
	add(run, "sampling", CAPABILITY_OK, NULL);
	run_freeze(run);
	doctor_build(run, &view);
	assert_true(str_starts(tier_text(&view, "counting"), "hardware counters"));
	assert_true(str_starts(
		tier_text(&view, "profiling"), "unknown: not every capability was tried"));
	assert_true(
		str_starts(tier_text(&view, "causal"), "unknown: not every capability was tried"));
}

static void root_is_not_told_what_root_would_add(void **state)
{
	run_auto struct run *run = run_open();
	doctor_auto struct doctor_view view = {0};

	(void)state;
	add(run, "nmi-watchdog", CAPABILITY_LIMITED, "sudo sysctl kernel.nmi_watchdog=0");
	add(run, "privileges", CAPABILITY_OK, NULL);
	run_freeze(run);
	doctor_build(run, &view);
	assert_false(view.rows.at[0].root_adds);
}

static void an_agent_gets_at_most_27_lines_of_ascii(void **state)
{
	run_auto struct run *run = run_of_all(CAPABILITY_NO, "sudo fix it \xc3\xa9");
	doctor_auto struct doctor_view view = {0};
	str_auto struct str text = {0};
	struct paper paper = {.out = &text, .ascii = true};
	unsigned lines = 0;

	(void)state;
	doctor_build(run, &view);
	doctor_agent(&paper, &view);
	for (const char *at = text.at; *at; at++) {
		lines += *at == '\n';
		assert_true((unsigned char)*at < 0x80);
	}
	assert_true(lines <= 27); /* a program's dozen and the next command follow */
}

static void the_text_has_a_fix_below_what_is_not_ok_and_only_there(void **state)
{
	run_auto struct run *run = run_open();
	doctor_auto struct doctor_view view = {0};
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};

	(void)state;
	add(run, "pmu", CAPABILITY_NO, "buy hardware");
	add(run, "bpf", CAPABILITY_OK, NULL);
	run_freeze(run);
	doctor_build(run, &view);
	doctor_text(&paper, &view);
	assert_non_null(strstr(text.at, "buy hardware"));
	assert_non_null(strstr(text.at, "1 ok, 0 limited, 1 no"));
	assert_null(strstr(strstr(text.at, " bpf "), " fix "));
}

static void the_json_keeps_the_contract(void **state)
{
	run_auto struct run *run = run_of_all(CAPABILITY_LIMITED, "sudo fix");
	doctor_auto struct doctor_view view = {0};
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text, .compact = true};

	(void)state;
	doctor_build(run, &view);
	jsonw_begin_object(&w);
	doctor_json(&w, &view);
	jsonw_end_object(&w);
	assert_non_null(strstr(text.at,
		"{\"name\":\"pmu\",\"status\":\"limited\",\"reason\":\"a reason\",\"fix\":\"sudo fix\""));
	assert_non_null(strstr(text.at, "\"root_adds\":[\"pmu\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_capability_is_explained_in_the_data),
		cmocka_unit_test(with_everything_each_tier_is_at_its_best),
		cmocka_unit_test(with_nothing_each_tier_says_so),
		cmocka_unit_test(a_limited_pmu_is_called_limited),
		cmocka_unit_test(without_a_pmu_counting_falls_back_to_valgrind),
		cmocka_unit_test(what_was_not_tried_is_not_called_missing),
		cmocka_unit_test(root_is_not_told_what_root_would_add),
		cmocka_unit_test(an_agent_gets_at_most_27_lines_of_ascii),
		cmocka_unit_test(the_text_has_a_fix_below_what_is_not_ok_and_only_there),
		cmocka_unit_test(the_json_keeps_the_contract),
	};

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
