/* cache_pmu_test.c - the levels and the verdict of `assay cache` on PMUs that are not here.
 *
 * Each tests/golden/cache/NAME.in says what the counters of a machine read (fake_pmu.h); it goes
 * through the sets of the CPU's table, the records, ingest, the view and the screen, which is
 * NAME.txt.  ASSAY_ACCEPT=1 writes the screens anew; read the difference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "analyze/cache.h"
#include "base/io.h"
#include "fake_pmu.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "render/cache.h"
#include "render/cpu_json.h"
#include "screen.h"

#define assert_near(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-9 * (double)(b))

/* A machine and a program, as a .in file tells. */
struct machine {
	struct arena arena;
	struct fake_pmu pmu;
	struct metric_book metrics;
	struct advice_book advice;
	struct verdict_subject subject;
	const char *own; /* what the tables count, as it was asked for */
	struct run *run;
	struct site_summary summary;
	struct cache_view view;
};

static void machine_read(struct machine *m, const char *text)
{
	char *copy = arena_text(&m->arena, text, strlen(text)), *key, *rest;

	while (fake_next_line(&copy, &key, &rest))
		if (str_equal(key, "program"))
			m->subject.program = rest;
		else if (str_equal(key, "language"))
			m->subject.language = rest;
		else if (*key && !fake_line(&m->pmu, key, rest))
			fail_msg("no key '%s'", key);
}

/* What the two counted runs would emit. */
static void machine_count(struct machine *m)
{
	struct ingest ingest = {.run = m->run};
	struct err err = {0};
	const struct event_set *set = event_set_find(&m->metrics, "hierarchy", &err);

	assert_non_null(set);
	m->own = "";
	m->pmu.sink = ingest_sink(&ingest);
	fake_execute(&m->pmu, 1000000000);
	fake_events(&m->pmu, 0, NULL, set->events);
	ingest_next_source(&ingest);
	m->pmu.events = m->pmu.groups = m->pmu.execution = 0;
	for (unsigned c = 0; c < m->pmu.core_count; c++) {
		const char *own = topdown_plan_sets(&m->pmu.cores[c], cache_sets, &m->arena);

		if (*own && !m->pmu.execution)
			fake_execute(&m->pmu, 1000000000);
		fake_events(&m->pmu, 0, m->pmu.cores[c].pmu, own);
		m->own = *own ? own : m->own;
	}
	assert_int_equal(ingest.malformed, 0);
	ingest_done(&ingest);
}

static void machine_load(struct machine *m, const char *name)
{
	str_auto struct str text = {0}, path = {0};
	struct err err = {0};

	*m = (struct machine){.run = run_open(), .subject = {"", ""}};
	fake_pmu_begin(&m->pmu);
	str_addf(&path, "%s/cache/%s.in", TEST_GOLDEN, name);
	if (io_read(str_text(&path), 1 << 20, &text, &err) < 0 ||
		metric_book_load(&m->metrics, &err) < 0 || advice_book_load(&m->advice, &err) < 0)
		fail_msg("%s", err.text);
	machine_read(m, str_text(&text));
	machine_count(m);
	m->run->target = run_intern(m->run, m->subject.program);
	run_freeze(m->run);
	if (cpu_book_metrics(&m->pmu.cpus, m->run, cache_sets, true, &m->metrics, &err) < 0)
		fail_msg("%s", err.text);
	site_summary_make(m->run, &m->metrics, cache_metrics, &m->arena, &m->summary);
	cache_make(m->run, &m->summary, &(struct cache_options){0}, &m->view);
	cache_judge(&m->view, &m->arena, &m->summary);
	verdict_advise(&m->advice, &m->subject, &m->arena, &m->summary.verdict);
}

static void machine_end(struct machine *m)
{
	cache_done(&m->view);
	run_close(m->run);
	metric_book_done(&m->metrics);
	advice_book_done(&m->advice);
	fake_pmu_end(&m->pmu);
	arena_done(&m->arena);
}
#define machine_auto __attribute__((cleanup(machine_end)))

static void every_machine_has_its_screen(void **state)
{
	static const char *const names[] = {"sapphire_rapids", "skylake", "zen4", "neoverse_v2",
		"unknown", "silent_zeros", "hybrid"};

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		str_auto struct str screen = {0}, file = {0};
		struct paper paper = {.out = &screen, .width = 100};
		struct paper agent = {.out = &screen, .ascii = true, .width = 100};
		machine_auto struct machine m;
		const struct cache_page page = {&m.view, &m.summary, 0};

		machine_load(&m, names[i]);
		cache_text(&paper, &page);
		str_add(&screen, "--- --agent\n");
		cache_agent(&agent, &page);
		str_addf(&file, "%s.txt", names[i]);
		assert_screen("cache", file.at, &screen);
	}
}

static void reads_one_after_the_other_are_memory_latency(void **state)
{
	machine_auto struct machine m;
	const struct cache_level_row *level = m.view.levels;

	(void)state;
	machine_load(&m, "sapphire_rapids");
	assert_near(level[CACHE_L2].accesses, 40e6);
	assert_near(level[CACHE_L2].rate, 0.6);
	assert_near(level[CACHE_L2].mpki, 80);
	assert_near(level[CACHE_L2].load_mpki, 60);
	assert_int_equal(level[CACHE_L2].assessment, METRIC_INVESTIGATE);
	/* Walks of loads and stores over loads and stores, judged as walks are. */
	assert_near(level[CACHE_DTLB].misses, 960000);
	assert_near(level[CACHE_DTLB].rate, 0.008);
	assert_int_equal(level[CACHE_DTLB].assessment, METRIC_INVESTIGATE);
	assert_near(level[CACHE_ITLB].misses, 600);
	assert_int_equal(level[CACHE_ITLB].assessment, METRIC_HEALTHY);
	assert_true(isnan(level[CACHE_ITLB].rate));
	assert_int_equal(m.summary.verdict.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(m.summary.verdict.confidence, VERDICT_MEDIUM);
	assert_non_null(strstr(m.summary.verdict.why, "80 % of the cycles"));
}

/* The most general counters that a group of "{A,B},{A,C}" takes. */
static unsigned group_largest(const struct cpu_table *table, const char *groups)
{
	unsigned most = 0, now = 0;

	while (*groups) {
		char name[80];
		size_t len = strcspn(groups, "{},");
		const struct cpu_event *event;

		snprintf(name, sizeof(name), "%.*s", (int)len, groups);
		event = len ? cpu_table_event(table, name) : NULL;
		now = *groups == '{' ? 0 : now + (event && !(event->flags & CPU_EVENT_FIXED));
		most = now > most ? now : most;
		groups += len + (groups[len] != '\0');
	}
	return most;
}

static void many_reads_at_once_are_memory_bandwidth(void **state)
{
	machine_auto struct machine m;

	(void)state;
	machine_load(&m, "skylake");
	assert_int_equal(m.summary.verdict.category, VERDICT_MEMORY_BANDWIDTH);
	assert_near(m.view.levels[CACHE_L2].load_mpki, 22);
	assert_true(isnan(m.summary.verdict.share));
	/* Three counters: no piece has more, and each has its own measure. */
	assert_int_equal(group_largest(m.pmu.cores[0].table, m.own), 3);
	assert_non_null(strstr(m.own, "{INST_RETIRED.ANY,L2_RQSTS.REFERENCES,L2_RQSTS.MISS,"
				      "MEM_LOAD_RETIRED.L2_MISS}"));
	assert_non_null(strstr(m.own, "{INST_RETIRED.ANY,MEM_LOAD_RETIRED.L1_MISS}"));
}

static void the_groups_of_every_table_fit_the_counters_that_there_are(void **state)
{
	struct fake_pmu pmu;
	unsigned with = 0;

	(void)state;
	fake_pmu_begin(&pmu);
	vec_foreach (const struct cpu_table, table, &pmu.cpus.tables)
		for (unsigned counters = 2; counters <= 8; counters++) {
			const struct topdown_core core = {.table = table, .counters = counters};
			const char *own = topdown_plan_sets(&core, cache_sets, &pmu.arena);

			assert_true(group_largest(table, own) <= counters);
			with += counters == 2 && cpu_table_set(table, "l2_tlb") && *own;
		}
	assert_true(with >= 18);
	fake_pmu_end(&pmu);
}

static void without_events_for_it_memory_stays_one_word(void **state)
{
	machine_auto struct machine m;

	(void)state;
	machine_load(&m, "zen4");
	assert_int_equal(m.summary.verdict.category, VERDICT_MEMORY);
	assert_int_equal(m.summary.verdict.confidence, VERDICT_LOW);
	assert_near(m.view.levels[CACHE_L2].rate, 50.0 / 90);
	assert_near(m.view.levels[CACHE_L2].load_mpki, 25);
}

static void the_misses_of_l2_are_no_row_of_the_last_level(void **state)
{
	machine_auto struct machine amd, intel;

	(void)state;
	machine_load(&amd, "zen4");
	assert_true(isnan(amd.view.levels[CACHE_LLC].misses));
	assert_string_equal(amd.view.levels[CACHE_LLC].misses_reason, "this CPU has no such event");
	machine_load(&intel, "sapphire_rapids");
	assert_near(intel.view.levels[CACHE_LLC].misses, 12e6);
}

static void walks_are_judged_where_the_generic_event_counts_something_else(void **state)
{
	machine_auto struct machine m;

	(void)state;
	machine_load(&m, "neoverse_v2");
	/* 45 first-level misses per 1,000 instructions are no walks; 10 are. */
	assert_near(m.view.levels[CACHE_DTLB].mpki, 10);
	assert_int_equal(m.view.levels[CACHE_DTLB].assessment, METRIC_INVESTIGATE);
	assert_int_equal(m.view.levels[CACHE_L2].assessment, METRIC_HEALTHY);
	assert_int_equal(m.view.levels[CACHE_LLC].assessment, METRIC_HEALTHY);
	assert_int_equal(m.summary.verdict.category, VERDICT_MEMORY);
	assert_non_null(strstr(m.summary.verdict.why, "dTLB"));
	assert_true(m.summary.user_only);
}

static void an_unknown_cpu_has_generic_levels_and_no_l2(void **state)
{
	machine_auto struct machine m;

	(void)state;
	machine_load(&m, "unknown");
	assert_string_equal(m.own, "");
	assert_true(isnan(m.view.levels[CACHE_L2].misses));
	assert_non_null(strstr(m.view.levels[CACHE_L2].misses_reason, "not known"));
	assert_near(m.view.levels[CACHE_DTLB].rate, 0.009);
	assert_int_equal(m.summary.verdict.category, VERDICT_MEMORY);
}

static void counters_that_read_zero_fill_no_row(void **state)
{
	machine_auto struct machine m;

	(void)state;
	machine_load(&m, "silent_zeros");
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		assert_true(isnan(m.view.levels[i].misses) && *m.view.levels[i].misses_reason);
	assert_non_null(strstr(m.view.levels[CACHE_L2].misses_reason, "reads 0"));
	assert_int_equal(m.summary.verdict.category, VERDICT_UNCLEAR);
}

static void on_a_hybrid_the_cores_that_have_the_events_fill_the_row(void **state)
{
	machine_auto struct machine m;

	(void)state;
	machine_load(&m, "hybrid");
	assert_near(m.view.levels[CACHE_L2].misses, 1.8e6);
	assert_near(m.view.levels[CACHE_L2].mpki, 0.9);
	assert_int_equal(m.view.levels[CACHE_L2].assessment, METRIC_HEALTHY);
	assert_near(m.view.levels[CACHE_L1D].misses, 6.9e6);
}

static void a_level_in_the_document_has_its_loads_or_says_why_not(void **state)
{
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text, .compact = true};
	machine_auto struct machine m;
	const struct cache_page page = {&m.view, &m.summary, 0};
	json_t *data, *level;
	size_t i;

	(void)state;
	machine_load(&m, "sapphire_rapids");
	jsonw_begin_object(&w);
	cache_json(&w, &page);
	jsonw_end_object(&w);
	data = json_loads(str_text(&text), 0, NULL);
	assert_non_null(data);
	json_array_foreach(json_object_get(data, "levels"), i, level)
	{
		bool null = json_is_null(json_object_get(level, "load_mpki"));

		assert_int_equal(null, json_object_get(level, "load_mpki_reason") != NULL);
		assert_int_equal(null, i != CACHE_L2);
	}
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(data, "verdict"), "category")),
		"memory_latency");
	json_decref(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_has_its_screen),
		cmocka_unit_test(reads_one_after_the_other_are_memory_latency),
		cmocka_unit_test(many_reads_at_once_are_memory_bandwidth),
		cmocka_unit_test(the_groups_of_every_table_fit_the_counters_that_there_are),
		cmocka_unit_test(without_events_for_it_memory_stays_one_word),
		cmocka_unit_test(the_misses_of_l2_are_no_row_of_the_last_level),
		cmocka_unit_test(walks_are_judged_where_the_generic_event_counts_something_else),
		cmocka_unit_test(an_unknown_cpu_has_generic_levels_and_no_l2),
		cmocka_unit_test(counters_that_read_zero_fill_no_row),
		cmocka_unit_test(on_a_hybrid_the_cores_that_have_the_events_fill_the_row),
		cmocka_unit_test(a_level_in_the_document_has_its_loads_or_says_why_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
