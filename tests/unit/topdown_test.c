/* topdown_test.c - the tree on PMUs that are not here.
 *
 * Each tests/golden/topdown/NAME.in says what the counters of a machine read; it goes through the
 * plan, the records, ingest, the view and the screen, which is NAME.txt.  ASSAY_ACCEPT=1 writes the
 * screens anew; read the difference. */
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

#include "analyze/topdown.h"
#include "base/io.h"
#include "fake_pmu.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "render/cpu_json.h"
#include "render/markdown.h"
#include "render/topdown.h"
#include "screen.h"

/* A machine and a program, as a .in file tells. */
struct machine {
	struct arena arena;
	struct fake_pmu pmu;
	struct topdown_facts facts;
	struct topdown_plan plan;
	struct metric_book metrics;
	struct advice_book advice;
	struct verdict_subject subject;
	unsigned level;
	struct run *run;
	struct topdown_view view;
};

static void machine_line(struct machine *m, const char *key, char *rest)
{
	if (str_equal(key, "program"))
		m->subject.program = rest;
	else if (str_equal(key, "language"))
		m->subject.language = rest;
	else if (str_equal(key, "cpu"))
		m->facts.cpu = rest;
	else if (str_equal(key, "virtual"))
		m->facts.is_virtual = true;
	else if (str_equal(key, "watchdog"))
		m->facts.watchdog = true;
	else if (str_equal(key, "once"))
		m->facts.once = true;
	else if (str_equal(key, "level"))
		m->level = (unsigned)atoi(rest);
	else if (str_equal(key, "cut_down")) {
		m->facts.tier = TOPDOWN_CUT_DOWN;
		m->facts.tier_reason = rest;
	} else if (*key && !fake_line(&m->pmu, key, rest))
		fail_msg("no key '%s'", key);
}

static void machine_begin(struct machine *m)
{
	struct err err = {0};

	*m = (struct machine){.run = run_open(), .level = 2};
	fake_pmu_begin(&m->pmu);
	m->facts.tier_reason = m->facts.cpu = "";
	m->subject.program = m->subject.language = "";
	if (metric_book_load(&m->metrics, &err) < 0 || advice_book_load(&m->advice, &err) < 0)
		fail_msg("%s", err.text);
}

static void machine_end(struct machine *m)
{
	run_close(m->run);
	metric_book_done(&m->metrics);
	advice_book_done(&m->advice);
	fake_pmu_end(&m->pmu);
	arena_done(&m->arena);
}

static void machine_read(struct machine *m, const char *text)
{
	char *copy = arena_text(&m->arena, text, strlen(text)), *key, *rest;

	while (fake_next_line(&copy, &key, &rest))
		machine_line(m, key, rest);
}

/* What passes_count() would emit. */
static void machine_pass(struct machine *m, uint32_t pass, uint32_t round)
{
	const struct topdown_pass *one = &m->plan.passes[pass];

	fake_execute(&m->pmu, 100000000 + round * 1000000);
	for (uint32_t g = 0; g < one->group_count; g++) {
		const struct topdown_core *core = &m->facts.cores[one->groups[g].core];

		m->pmu.groups++;
		for (uint32_t i = 0; i < one->groups[g].count; i++)
			fake_event(&m->pmu, round, m->facts.core_count > 1 ? core->pmu : "",
				core->table->events[one->groups[g].events[i]].name, true);
	}
	fake_events(&m->pmu, round, NULL, one->generic);
}

static void machine_run(struct machine *m)
{
	struct topdown_wish wish = {.level = m->level, .together = m->facts.once};
	struct ingest ingest = {.run = m->run};
	struct topdown_books books = {&m->metrics, &m->advice};
	uint32_t rounds = m->facts.once ? 1 : 3;

	m->pmu.sink = ingest_sink(&ingest);
	m->pmu.execution = 0;
	m->facts.core_count = m->pmu.core_count;
	memcpy(m->facts.cores, m->pmu.cores, sizeof(m->facts.cores));
	topdown_plan_make(m->facts.cores, m->facts.core_count, &wish, &m->arena, &m->plan);
	m->facts.level = m->level;
	m->facts.passes = m->plan.pass_count;
	for (uint32_t round = 0; round < rounds; round++) {
		m->pmu.events = m->pmu.groups = 0;
		for (uint32_t pass = 0; pass < m->plan.pass_count; pass++)
			machine_pass(m, pass, round);
	}
	m->run->target = run_intern(m->run, m->subject.program);
	run_freeze(m->run);
	assert_int_equal(ingest.malformed, 0);
	topdown_view_make(m->run, &m->facts, &books, &m->subject, &m->arena, &m->view);
}

static void machine_load(struct machine *m, const char *name)
{
	str_auto struct str text = {0}, path = {0};
	struct err err = {0};

	machine_begin(m);
	str_addf(&path, "%s/topdown/%s.in", TEST_GOLDEN, name);
	if (io_read(str_text(&path), 1 << 20, &text, &err) < 0)
		fail_msg("%s", err.text);
	machine_read(m, str_text(&text));
	machine_run(m);
}

static const struct topdown_node *node_of(const struct machine *m, unsigned tree, const char *name)
{
	assert_true(tree < m->view.tree_count);
	for (uint32_t i = 0; i < m->view.trees[tree].node_count; i++)
		if (str_equal(m->view.trees[tree].nodes[i].name, name))
			return &m->view.trees[tree].nodes[i];
	fail_msg("no node %s", name);
	return NULL;
}

static void assert_share(const struct topdown_node *node, double percent)
{
	assert_true(node->known);
	if (fabs(node->share * 100 - percent) > 0.05)
		fail_msg("%s is %.2f %%, not %.2f %%", node->name, node->share * 100, percent);
}

static void every_machine_has_its_screen(void **state)
{
	static const char *const names[] = {"sapphire_rapids", "zen4", "neoverse_v2", "neoverse_n1",
		"hybrid", "negative", "silent_zeros", "unknown", "once"};

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		str_auto struct str screen = {0}, file = {0};
		struct paper paper = {.out = &screen, .width = 100};
		struct paper agent = {.out = &screen, .ascii = true, .width = 100};
		struct machine m;

		machine_load(&m, names[i]);
		topdown_text(&paper, &m.view);
		str_add(&screen, "--- --agent\n");
		topdown_agent(&agent, &m.view);
		str_addf(&file, "%s.txt", names[i]);
		assert_screen("topdown", str_text(&file), &screen);
		machine_end(&m);
	}
}

static void the_report_of_a_memory_bound_program_names_cause_and_checks(void **state)
{
	static const struct topdown_fact facts[] = {{"CPU", "a | b"}, {0}};
	str_auto struct str text = {0};
	struct machine m;

	(void)state;
	machine_load(&m, "sapphire_rapids");
	topdown_markdown(&text, &m.view, facts);
	assert_screen("topdown", "sapphire_rapids.md", &text);
	machine_end(&m);
}

static void level_two_of_sapphire_rapids_takes_one_run_and_names_memory(void **state)
{
	struct machine m;

	(void)state;
	machine_load(&m, "sapphire_rapids");
	assert_int_equal(
		m.plan.pass_count, 2); /* level 1 is in level 2's group; the generic ones */
	assert_true(m.plan.metrics);
	assert_share(node_of(&m, 0, "retiring"), 20);
	assert_share(node_of(&m, 0, "frontend_bound"), 7.9);
	assert_share(node_of(&m, 0, "backend_bound"), 67);
	assert_share(node_of(&m, 0, "memory_bound"), 55);
	assert_share(node_of(&m, 0, "core_bound"), 12);
	assert_int_equal(m.view.verdict.category, VERDICT_MEMORY);
	assert_true(fabs(m.view.verdict.share - 0.55) < 0.001);
	assert_int_equal(m.view.verdict.confidence, VERDICT_HIGH);
	assert_int_equal(node_of(&m, 0, "memory_bound")->assessment, METRIC_INVESTIGATE);
	assert_int_equal(node_of(&m, 0, "fetch_latency")->assessment, METRIC_NONE);
	machine_end(&m);
}

static void a_negative_node_is_clamped_and_flagged(void **state)
{
	const struct topdown_node *node;
	struct machine m;

	(void)state;
	machine_load(&m, "negative");
	node = node_of(&m, 0, "bad_speculation");
	assert_true(node->raw < -0.03);
	assert_true(node->share == 0 && node->lo == 0);
	assert_non_null(strstr(node->flag, "the result is -3.8 %"));
	assert_true(m.plan.cut);
	assert_int_equal(m.view.verdict.category, VERDICT_RETIRING);
	machine_end(&m);
}

static void silent_zeros_make_no_node_and_say_why(void **state)
{
	struct machine m;

	(void)state;
	machine_load(&m, "silent_zeros");
	for (uint32_t i = 0; i < m.view.trees[0].node_count; i++) {
		assert_false(m.view.trees[0].nodes[i].known);
		assert_non_null(strstr(m.view.trees[0].nodes[i].reason, "reads 0"));
	}
	assert_true(m.view.trees[0].node_count >= 4);
	/* What still counts leads to a hint: 18 wrong guesses of 1,000 instructions. */
	assert_int_equal(m.view.verdict.category, VERDICT_BAD_SPECULATION);
	assert_int_equal(m.view.verdict.confidence, VERDICT_LOW);
	assert_true(isnan(m.view.verdict.share));
	machine_end(&m);
}

static void an_unknown_cpu_gets_generic_events_and_no_tree(void **state)
{
	struct machine m;

	(void)state;
	machine_load(&m, "unknown");
	assert_int_equal(m.view.tree_count, 1);
	assert_int_equal(m.view.trees[0].node_count, 0);
	assert_non_null(strstr(m.view.trees[0].reason, "no table"));
	assert_non_null(strstr(m.view.tier_words, "unknown to assay"));
	assert_int_equal(m.view.verdict.category, VERDICT_CORE);
	machine_end(&m);
}

static void in_the_document_what_is_not_known_is_null_with_its_reason(void **state)
{
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text, .compact = true};
	struct machine m;
	json_t *data;
	size_t i;
	json_t *metric;

	(void)state;
	machine_load(&m, "silent_zeros");
	jsonw_begin_object(&w);
	topdown_json(&w, &m.view);
	jsonw_end_object(&w);
	data = json_loads(str_text(&text), 0, NULL);
	assert_non_null(data);
	assert_string_equal(json_string_value(json_object_get(data, "engine")), "pmu");
	assert_string_equal(json_string_value(json_object_get(data, "tier")), "cut_down");
	assert_true(json_array_size(json_object_get(data, "metrics")) > 12);
	json_array_foreach(json_object_get(data, "metrics"), i, metric)
	{
		bool null = json_is_null(json_object_get(metric, "value"));

		assert_int_equal(null, json_object_get(metric, "value_reason") != NULL);
		if (str_equal(json_string_value(json_object_get(metric, "kind")), "node"))
			assert_true(null);
	}
	assert_true(json_is_null(json_object_get(json_object_get(data, "verdict"), "share")));
	assert_non_null(json_object_get(json_object_get(data, "verdict"), "share_reason"));
	json_decref(data);
	machine_end(&m);
}

static void a_hybrid_has_one_tree_per_kind_and_the_busy_one_decides(void **state)
{
	struct machine m;

	(void)state;
	machine_load(&m, "hybrid");
	assert_int_equal(m.view.tree_count, 2);
	assert_string_equal(m.view.trees[0].label, "cpu_core");
	assert_true(fabs(m.view.trees[0].part - 0.9) < 0.001);
	assert_share(node_of(&m, 0, "frontend_bound"), 30);
	assert_share(node_of(&m, 1, "frontend_bound"), 20);
	assert_int_equal(m.view.verdict.category, VERDICT_FRONTEND);
	machine_end(&m);
}

static void a_core_that_never_ran_has_no_tree(void **state)
{
	static const char text[] = "core cpu_core golden_cove 8\ncore cpu_atom gracemont 6\n"
				   "count cpu_core/slots 6000 6000 6000\n"
				   "count cpu_core/topdown-retiring 3000 3000 3000\n"
				   "count cpu_core/topdown-bad-spec 1000 1000 1000\n"
				   "count cpu_core/topdown-fe-bound 1000 1000 1000\n"
				   "count cpu_core/topdown-be-bound 1000 1000 1000\n"
				   "count cpu_core/INT_MISC.UOP_DROPPING 0 0 0\n"
				   "count cpu_atom/CPU_CLK_UNHALTED.CORE 0 0 0\n"
				   "count cpu_atom/TOPDOWN_FE_BOUND.ALL 0 0 0\n"
				   "count cpu_atom/TOPDOWN_BE_BOUND.ALL 0 0 0\n"
				   "count cpu_atom/TOPDOWN_RETIRING.ALL 0 0 0\n"
				   "level 1\n";
	struct machine m;

	(void)state;
	machine_begin(&m);
	machine_read(&m, text);
	machine_run(&m);
	assert_int_equal(m.view.tree_count, 2);
	assert_int_equal(m.view.trees[1].node_count, 0);
	assert_non_null(strstr(m.view.trees[1].reason, "never ran"));
	assert_share(node_of(&m, 0, "retiring"), 50);
	machine_end(&m);
}

static void runs_of_different_length_are_brought_to_one(void **state)
{
	struct machine m;
	struct fake_value *value;

	(void)state;
	machine_load(&m, "zen4");
	assert_share(node_of(&m, 0, "memory_bound"), 9);
	assert_share(node_of(&m, 0, "smt_contention"), 5);
	machine_end(&m);
	/* The same program, but one round took twice as long: no share moves. */
	machine_load(&m, "zen4");
	value = NULL;
	for (unsigned i = 0; i < m.pmu.value_count; i++)
		for (unsigned r = 0; r < m.pmu.values[i].count; r += 2)
			(value = &m.pmu.values[i])->each[r] *= 2;
	assert_non_null(value);
	run_close(m.run);
	m.run = run_open();
	machine_run(&m);
	assert_share(node_of(&m, 0, "retiring"), 50);
	assert_share(node_of(&m, 0, "memory_bound"), 9);
	machine_end(&m);
}

static void the_agent_text_fits_into_forty_lines_and_ends_with_the_next_command(void **state)
{
	static const char *const names[] = {"hybrid", "silent_zeros", "zen4"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		str_auto struct str text = {0};
		struct paper paper = {.out = &text, .ascii = true};
		struct machine m;
		unsigned lines = 0;
		const char *last = NULL;

		machine_load(&m, names[i]);
		topdown_agent(&paper, &m.view);
		for (const char *at = str_text(&text); *at; at = strchr(at, '\n') + 1) {
			last = at;
			lines++;
		}
		assert_true(lines <= 33); /* and 7 for warnings */
		assert_true(str_starts(last, "next: assay "));
		machine_end(&m);
	}
}

static void a_group_is_cut_to_the_counters_and_keeps_its_measure(void **state)
{
	struct topdown_wish wish = {.level = 1};
	struct topdown_plan plan;
	struct machine m;

	(void)state;
	machine_begin(&m);
	fake_core(&m.pmu, arena_text(&m.arena, "cpu zen4 4", 10));
	topdown_plan_make(m.pmu.cores, 1, &wish, &m.arena, &plan);
	assert_true(plan.cut);
	for (uint32_t i = 0; i < plan.pass_count; i++)
		for (uint32_t g = 0; g < plan.passes[i].group_count; g++) {
			const struct topdown_group *group = &plan.passes[i].groups[g];

			assert_true(group->count <= 4);
			assert_string_equal(m.pmu.cores[0].table->events[group->events[0]].name,
				"ls_not_halted_cyc");
		}
	machine_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_has_its_screen),
		cmocka_unit_test(the_report_of_a_memory_bound_program_names_cause_and_checks),
		cmocka_unit_test(level_two_of_sapphire_rapids_takes_one_run_and_names_memory),
		cmocka_unit_test(a_negative_node_is_clamped_and_flagged),
		cmocka_unit_test(silent_zeros_make_no_node_and_say_why),
		cmocka_unit_test(an_unknown_cpu_gets_generic_events_and_no_tree),
		cmocka_unit_test(in_the_document_what_is_not_known_is_null_with_its_reason),
		cmocka_unit_test(a_hybrid_has_one_tree_per_kind_and_the_busy_one_decides),
		cmocka_unit_test(a_core_that_never_ran_has_no_tree),
		cmocka_unit_test(runs_of_different_length_are_brought_to_one),
		cmocka_unit_test(
			the_agent_text_fits_into_forty_lines_and_ends_with_the_next_command),
		cmocka_unit_test(a_group_is_cut_to_the_counters_and_keeps_its_measure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
