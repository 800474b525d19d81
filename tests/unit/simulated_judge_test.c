/* simulated_judge_test.c - what a simulator counted, joined with time and judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/hot_loop.h"
#include "analyze/simulated.h"
#include "analyze/text_block.h"
#include "base/str.h"
#include "code/listing.h"
#include "model/run.h"

/* ---- the rules ---- */

static void every_line_of_the_rules_is_read(void **state)
{
	struct simulated_rules rules;
	struct err err = {0};

	(void)state;
	assert_int_equal(simulated_rules_parse("t", data_text("simulated.rules"), &rules, &err), 0);
	assert_true(rules.retiring_cpi < rules.core_cpi);
	assert_int_equal(simulated_rules_parse("t", "core-cpi x\n", &rules, &err), -EINVAL);
	assert_string_equal(err.text, "t:1: not a number: 'x'");
	assert_int_equal(simulated_rules_parse("t", "# c\nunknown 3\n", &rules, &err), -EINVAL);
	assert_string_equal(err.text, "t:2: unknown rule 'unknown'");
	assert_int_equal(
		simulated_rules_parse("t", "core-cpi 3\ncore-cpi 4\n", &rules, &err), -EINVAL);
	assert_string_equal(err.text, "t:2: duplicate rule 'core-cpi'");
	assert_int_equal(simulated_rules_parse("t", "core-cpi 0\n", &rules, &err), -EINVAL);
	assert_string_equal(err.text, "t:1: must be above 0: '0'");
	assert_int_equal(simulated_rules_parse("t", "core-cpi 3\n", &rules, &err), -EINVAL);
	assert_string_equal(err.text, "t:1: a rule is missing in 't'");
}

static const struct simulated_costs costs = {.cycle_ns = 0.25,
	.memory_ns = 100,
	.line_ns = 4,
	.plain_ns = 4,
	.cache_ns = 4,
	.mispredict_ns = 5,
	.measured = true};

struct known_case {
	const char *name;
	double time_ns;
	uint64_t instructions, l1, ll, mispredicts;
	enum verdict_category category;
};

static void judge(const struct known_case *known, struct simulated_site *site, struct arena *arena)
{
	struct simulated_rules rules;

	simulated_rules_load(&rules);
	*site = (struct simulated_site){.row = {.function = known->name, .file = ""},
		.time_ns = known->time_ns,
		.samples = 500};
	site->row.counts[SIMULATED_INSTRUCTIONS] = known->instructions;
	site->row.counts[SIMULATED_L1_LOAD_MISSES] = known->l1;
	site->row.counts[SIMULATED_LL_LOAD_MISSES] = known->ll;
	site->row.counts[SIMULATED_CONDITIONAL_MISSES] = known->mispredicts;
	simulated_site_ratios(&costs, site);
	simulated_site_judge(&rules, &costs, arena, site);
}

static void the_time_per_event_tells_which_kind_of_work_takes_it(void **state)
{
	static const struct known_case cases[] = {
		{"chase", 100e6, 5000000, 1000000, 1000000, 0, VERDICT_MEMORY_LATENCY},
		{"slow chase", 450e6, 5000000, 1000000, 1000000, 0, VERDICT_MEMORY_LATENCY},
		{"stream", 5e6, 5000000, 1000000, 1000000, 0, VERDICT_MEMORY_BANDWIDTH},
		{"several at once", 20e6, 8000000, 1000000, 1000000, 0, VERDICT_MEMORY},
		{"in L2", 4e6, 3000000, 1000000, 0, 0, VERDICT_MEMORY_LATENCY},
		{"branches", 7e6, 10000000, 0, 0, 1000000, VERDICT_BAD_SPECULATION},
		{"branches that the CPU predicts", 1.2e6, 10000000, 0, 0, 1000000,
			VERDICT_RETIRING},
		{"chain", 20e6, 40000000, 0, 0, 10, VERDICT_CORE},
		{"busy", 3e6, 40000000, 0, 0, 10, VERDICT_RETIRING},
		{"prefetched stream with work", 30e6, 250000000, 1000000, 1000000, 0,
			VERDICT_RETIRING},
		{"misses and mispredicts", 10e6, 5000000, 80000, 80000, 1100000, VERDICT_MIXED},
		{"between", 6.5e6, 40000000, 0, 0, 10, VERDICT_UNCLEAR},
	};
	arena_auto struct arena arena = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct simulated_site site;

		judge(&cases[i], &site, &arena);
		if (site.category != cases[i].category)
			print_message("%s: %s (%s)\n", cases[i].name,
				verdict_category_word(site.category), site.why);
		assert_int_equal(site.category, cases[i].category);
		assert_true(*site.why);
	}
}

/* A million loads miss L1 and none goes to memory; `beyond_l2` of them miss L2, -1: not known. */
static struct simulated_site near_site(
	double time_ns, uint64_t instructions, int64_t beyond_l2, struct arena *arena)
{
	struct simulated_costs levels = costs;
	struct simulated_rules rules;
	struct simulated_site site = {.row = {.function = "f", .file = ""},
		.time_ns = time_ns,
		.time_share = 1,
		.samples = 500,
		.l2_known = beyond_l2 >= 0};

	levels.far_ns = 15;
	simulated_rules_load(&rules);
	site.row.counts[SIMULATED_INSTRUCTIONS] = instructions;
	site.row.counts[SIMULATED_L1_LOAD_MISSES] = 1000000;
	site.row.counts[SIMULATED_L2_LOAD_MISSES] = site.l2_known ? (uint64_t)beyond_l2 : 0;
	simulated_site_ratios(&levels, &site);
	simulated_site_judge(&rules, &levels, arena, &site);
	return site;
}

static void which_cache_is_waited_for_is_known_with_its_misses_only(void **state)
{
	arena_auto struct arena arena = {0};
	struct simulated_site site = near_site(10e6, 6000000, -1, &arena);

	(void)state;
	/* 6.7 cycles per instruction: hits of L3 would explain them, hits of L2 would not. */
	assert_int_equal(site.category, VERDICT_UNCLEAR);
	assert_non_null(strstr(site.why, "which of them hit L2 was not simulated"));
	site = near_site(10e6, 6000000, 1000000, &arena);
	assert_int_equal(site.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(site.confidence, VERDICT_MEDIUM);
	assert_non_null(strstr(site.why, "it waits for data in L3"));
	site = near_site(10e6, 6000000, 0, &arena);
	assert_int_equal(site.category, VERDICT_CORE);
	site = near_site(4e6, 3000000, 0, &arena);
	assert_int_equal(site.category, VERDICT_MEMORY_LATENCY);
	assert_non_null(strstr(site.why, "it waits for data in L2"));
	/* 16 cycles are more than any chain of operations takes: it waits, whatever for. */
	site = near_site(20e6, 5000000, -1, &arena);
	assert_int_equal(site.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(site.confidence, VERDICT_LOW);
	assert_non_null(strstr(site.why, "L2 or L3"));
	/* An L3 that other programs use too has less of the data than the model's. */
	site = near_site(60e6, 5000000, 1000000, &arena);
	assert_int_equal(site.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(site.confidence, VERDICT_LOW);
	assert_non_null(strstr(site.why, "L3 or memory"));
	/* Fast code misses, too. */
	assert_int_equal(near_site(10e6, 90000000, -1, &arena).category, VERDICT_RETIRING);
}

static void a_second_simulation_is_asked_for_where_it_matters(void **state)
{
	arena_auto struct arena arena = {0};
	struct simulated_site site = near_site(10e6, 6000000, -1, &arena);
	struct simulated_view view = {.costs = costs, .functions = &site, .function_count = 1};

	(void)state;
	assert_false(simulated_asks_for_l2(&view)); /* there is no L3 */
	view.costs.far_ns = 15;
	assert_true(simulated_asks_for_l2(&view));
	site.time_share = 0.05;
	assert_false(simulated_asks_for_l2(&view));
	site = near_site(10e6, 6000000, 1000000, &arena);
	assert_false(simulated_asks_for_l2(&view));
	site = near_site(10e6, 90000000, -1, &arena);
	assert_false(simulated_asks_for_l2(&view));
}

static void far_more_cycles_than_the_model_of_the_core_predicts_are_not_the_cores(void **state)
{
	arena_auto struct arena arena = {0};
	struct simulated_site site = {
		.far_share = 0.1, .time_share = 0.5, .category = VERDICT_CORE};
	struct simulated_view view = {.functions = &site,
		.function_count = 1,
		.kernel_share = 0.2,
		.category_share = {[VERDICT_CORE] = 0.6, [VERDICT_FRONTEND] = 0.1}};

	(void)state;
	view.verdict = (struct verdict){.category = VERDICT_CORE, .confidence = VERDICT_MEDIUM};
	simulated_doubt_core(&view, 7, 6, &arena);
	assert_int_equal(view.verdict.confidence, VERDICT_MEDIUM);
	simulated_doubt_core(&view, 12, 6, &arena);
	assert_int_equal(view.verdict.category, VERDICT_CORE);
	assert_int_equal(view.verdict.confidence, VERDICT_LOW);
	simulated_doubt_core(&view, 77, 5, &arena);
	assert_int_equal(view.verdict.category, VERDICT_UNCLEAR);
	assert_non_null(strstr(view.verdict.why, "takes 77 cycles, and llvm-mca predicts 5"));
	/* The function's own row and the shares of the categories say the same. */
	assert_int_equal(site.category, VERDICT_UNCLEAR);
	assert_int_equal(site.confidence, VERDICT_LOW);
	assert_string_equal(site.why, view.verdict.why);
	assert_true(fabs(view.category_share[VERDICT_CORE] - (0.1)) < 1e-9);
	assert_true(fabs(view.category_share[VERDICT_UNCLEAR] - (0.5)) < 1e-9);
	assert_true(fabs(view.verdict.share - (0.2 / 0.8)) < 1e-9); /* what has a cause */
	site.far_share = 0.8;
	site.category = view.verdict.category = VERDICT_CORE;
	simulated_doubt_core(&view, 77, 5, &arena);
	assert_int_equal(view.verdict.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(site.category, VERDICT_MEMORY_LATENCY);
	assert_true(fabs(view.verdict.share - (view.category_share[VERDICT_MEMORY_LATENCY] / 0.8)) <
		    1e-9);
	view.verdict.category = VERDICT_RETIRING;
	simulated_doubt_core(&view, 77, 5, &arena);
	assert_int_equal(view.verdict.category, VERDICT_RETIRING);
}

static void close_to_another_cause_is_low(void **state)
{
	/* At 5 ns each, the mispredictions explain 0.45 and 0.3 of the time. */
	const struct known_case close = {"close", 11e6, 20000000, 0, 0, 1000000, 0};
	const struct known_case clear = {"clear", 17e6, 30000000, 0, 0, 1000000, 0};
	arena_auto struct arena arena = {0};
	struct simulated_site site;

	(void)state;
	judge(&close, &site, &arena);
	assert_int_equal(site.category, VERDICT_CORE);
	assert_int_equal(site.confidence, VERDICT_LOW);
	judge(&clear, &site, &arena);
	assert_int_equal(site.category, VERDICT_CORE);
	assert_int_equal(site.confidence, VERDICT_MEDIUM);
}

/* b[i] = f(a[i]): as many lines are written as read, and a written one is read first. */
static void a_line_that_is_written_is_moved_twice(void **state)
{
	const struct known_case known = {"scale", 18e6, 80000000, 1000000, 1000000, 0, 0};
	arena_auto struct arena arena = {0};
	struct simulated_rules rules;
	struct simulated_site site;

	(void)state;
	judge(&known, &site, &arena);
	assert_int_equal(site.category, VERDICT_MIXED);
	site.row.counts[SIMULATED_L1_STORE_MISSES] = 1000000;
	site.row.counts[SIMULATED_LL_STORE_MISSES] = 1000000;
	simulated_rules_load(&rules);
	simulated_site_ratios(&costs, &site);
	simulated_site_judge(&rules, &costs, &arena, &site);
	assert_int_equal(site.category, VERDICT_MEMORY_BANDWIDTH);
	assert_true(fabs(site.line_share - 12. / 18) < 1e-9);
	assert_non_null(strstr(site.why, "6.0 ns per line moved"));
	/* Not far from the threshold; a stream at the full speed is. */
	assert_int_equal(site.confidence, VERDICT_LOW);
	judge(&(struct known_case){"stream", 5e6, 5000000, 1000000, 1000000, 0, 0}, &site, &arena);
	assert_int_equal(site.confidence, VERDICT_MEDIUM);
}

/* Now and then a host slows loops of many instructions and not those of few. */
static void a_plain_loop_is_compared_with_a_plain_read_too(void **state)
{
	const struct known_case known = {"sum", 10e6, 60000000, 1000000, 1000000, 0, 0};
	const struct known_case waits = {"sum of doubles", 13e6, 60000000, 1000000, 1000000, 0, 0};
	const struct known_case busy = {"work", 10e6, 100000000, 1000000, 1000000, 0, 0};
	struct simulated_costs shared = costs;
	arena_auto struct arena arena = {0};
	struct simulated_rules rules;
	struct simulated_site site;

	(void)state;
	simulated_rules_load(&rules);
	judge(&known, &site, &arena);
	assert_int_equal(site.category, VERDICT_UNCLEAR);
	shared.plain_ns = 8;
	simulated_site_ratios(&shared, &site);
	simulated_site_judge(&rules, &shared, &arena, &site);
	assert_int_equal(site.category, VERDICT_MEMORY_BANDWIDTH);
	assert_int_equal(site.confidence, VERDICT_LOW);
	assert_non_null(strstr(site.why, "takes 8.0 ns word by word"));
	/* The faster of the two reads is what counts. */
	shared.line_ns = 12;
	simulated_site_ratios(&shared, &site);
	assert_true(fabs(site.line_share - 0.8) < 1e-9);
	shared.line_ns = 4;
	/* Slower than a plain read, and not slow at all. */
	judge(&waits, &site, &arena);
	simulated_site_ratios(&shared, &site);
	simulated_site_judge(&rules, &shared, &arena, &site);
	assert_int_equal(site.category, VERDICT_MIXED);
	judge(&busy, &site, &arena);
	simulated_site_ratios(&shared, &site);
	simulated_site_judge(&rules, &shared, &arena, &site);
	assert_int_equal(site.category, VERDICT_RETIRING);
}

static void of_two_measurements_a_cycle_is_the_better_and_the_rest_the_mean(void **state)
{
	const struct simulated_costs not_measured = {.cycle_ns = 0.1, .line_ns = 100};
	struct simulated_costs again = {.cycle_ns = 0.5,
		.memory_ns = 200,
		.line_ns = 2,
		.plain_ns = 8,
		.cache_ns = 3,
		.mispredict_ns = 9,
		.measured = true};
	struct simulated_costs both = not_measured;

	(void)state;
	simulated_costs_join(&both, &costs);
	assert_memory_equal(&both, &costs, sizeof(both));
	simulated_costs_join(&both, &not_measured);
	assert_memory_equal(&both, &costs, sizeof(both));
	simulated_costs_join(&both, &again);
	assert_true(both.measured);
	assert_true(fabs(both.cycle_ns - 0.25) < 1e-9 && fabs(both.cache_ns - 3.5) < 1e-9);
	assert_true(fabs(both.mispredict_ns - 7) < 1e-9);
	assert_true(fabs(both.memory_ns - 150) < 1e-9 && fabs(both.line_ns - 3) < 1e-9);
	assert_true(fabs(both.plain_ns - 6) < 1e-9);
}

/* ---- the join ---- */

static row_id stack_add(
	struct run *run, row_id module, const char *name, unsigned addr, row_id parent)
{
	row_id function = run_add_function(
		run, &(struct function_row){.name = run_intern(run, name), .module = module});
	row_id frame = run_add_frame(run,
		&(struct frame_row){
			.function = function, .file = run_intern(run, "/src/w.c"), .line = 10});
	row_id location = run_add_location(
		run, &(struct location_row){.module = module,
			     .addr = addr,
			     .frame = frame,
			     .flags = str_equal(name, "kernel") ? LOCATION_KERNEL : 0});

	return run_add_stack(run, &(struct stack_row){.location = location, .parent = parent});
}

/* A clock run with samples in named functions, 1 ms each; "hit<main": called by main. */
static struct run *clock_run(const char *const *functions, const unsigned *samples, unsigned count)
{
	struct run *run = run_open();
	row_id module = run_add_module(run, &(struct module_row){.path = run_intern(run, "/w")});

	run_add_event(run, &(struct event_row){.name = run_intern(run, "cpu-clock"),
				   .unit = run_intern(run, "ns"),
				   .scale = 1});
	run_add_execution(run, &(struct execution_row){.wall_ns = 1});
	for (unsigned i = 0; i < count; i++) {
		char name[32];
		const char *caller = strchr(functions[i], '<');
		row_id parent = caller ? stack_add(run, module, caller + 1, 16 * i + 24, 0) : 0;
		row_id stack;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(functions[i], "<"), functions[i]);
		stack = stack_add(run, module, name, 16 * (i + 1), parent);
		for (unsigned k = 0; k < samples[i]; k++)
			run_add_sample(run, &(struct sample_row){.event = 1,
						    .stack = stack,
						    .period = 1000000,
						    .time_ns = k + 1});
	}
	run_freeze(run);
	return run;
}

static struct run *simulated_run(
	const char *const *functions, const uint64_t (*counts)[4], unsigned count, uint32_t flags)
{
	static const char *const names[] = {"instructions", "L1-dcache-load-misses",
		"LLC-load-misses", "conditional-branch-misses"};
	struct run *run = run_open();

	for (unsigned k = 0; k < 4; k++)
		run_add_event(run, &(struct event_row){.name = run_intern(run, names[k]),
					   .flags = EVENT_SIMULATED,
					   .scale = 1});
	run_add_execution(run, &(struct execution_row){.flags = EXECUTION_NO_USAGE | flags});
	for (unsigned k = 0; k < 4; k++) {
		uint64_t sum = 0;

		for (unsigned i = 0; i < count; i++) {
			run_add_place(run, &(struct place_row){.event = k + 1,
						   .function = run_intern(run, functions[i]),
						   .file = run_intern(run, "/build/src/w.c"),
						   .line = 10,
						   .value = counts[i][k]});
			sum += counts[i][k];
		}
		run_add_count(
			run, &(struct count_row){.event = k + 1, .execution = 1, .value = sum});
	}
	run_freeze(run);
	return run;
}

static void functions_meet_by_name_and_the_program_gets_the_word_of_most_of_its_time(void **state)
{
	static const char *const sampled[] = {"chase.isra.0", "chain", "kernel"};
	static const unsigned samples[] = {400, 50, 50};
	static const char *const simulated[] = {"chase", "chain"};
	static const uint64_t counts[][4] = {{20000000, 4000000, 4000000, 0}, {100000000, 0, 0, 0}};
	struct run *clock = clock_run(sampled, samples, 3);
	struct run *sim = simulated_run(simulated, counts, 2, 0);
	arena_auto struct arena arena = {0};
	struct simulated_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(simulated_join(sim, clock, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.samples, 500);
	assert_true(fabs(view.kernel_share - 0.1) < 1e-9);
	assert_true(fabs(view.joined_share - 0.9) < 1e-9);
	assert_string_equal(view.functions[0].row.function, "chase");
	assert_true(fabs(view.functions[0].ns_per_ll_miss - 100) < 1e-9);
	assert_int_equal(view.functions[0].category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(view.functions[1].category, VERDICT_CORE);
	assert_int_equal(view.hottest_core, 1);
	assert_false(view.functions[1].few_samples);
	assert_int_equal(view.verdict.category, VERDICT_MEMORY_LATENCY);
	assert_true(fabs(view.verdict.share - 8. / 9) < 1e-9);
	assert_int_equal(view.line_count, 1); /* w.c:10, by the end of the path */
	assert_int_equal(view.lines[0].samples, 450);
	run_close(clock);
	run_close(sim);
}

/* if (random bit) hit(); else miss(): counted in main, paid for in what it calls. */
static void a_mispredicted_branch_is_paid_for_where_it_jumps_to(void **state)
{
	static const char *const together[] = {"main", "hit<main", "miss<main"};
	static const char *const apart[] = {"main", "hit<other", "miss"};
	static const unsigned samples[] = {80, 60, 60};
	static const char *const simulated[] = {"main", "hit", "miss", "other"};
	static const uint64_t counts[][4] = {{340000000, 0, 0, 11600000}, {34000000, 0, 0, 0},
		{34000000, 0, 0, 0}, {1, 0, 0, 0}};
	static const uint64_t few[][4] = {
		{340000000, 0, 0, 200000}, {34000000, 0, 0, 0}, {34000000, 0, 0, 0}, {1, 0, 0, 0}};
	struct run *clock = clock_run(together, samples, 3), *other = clock_run(apart, samples, 3);
	struct run *sim = simulated_run(simulated, counts, 4, 0);
	struct run *calm = simulated_run(simulated, few, 4, 0);
	arena_auto struct arena arena = {0};
	struct simulated_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(simulated_join(sim, clock, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.verdict.category, VERDICT_BAD_SPECULATION);
	assert_int_equal(view.verdict.confidence, VERDICT_LOW);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(view.functions[i].category, VERDICT_BAD_SPECULATION);
	assert_non_null(strstr(view.functions[1].why, "mispredicted branches of main"));
	assert_int_equal(view.hottest_core, UINT32_MAX);
	/* Called by somebody else, or by one that hardly mispredicts. */
	assert_int_equal(simulated_join(sim, other, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.functions[1].category, VERDICT_CORE);
	assert_int_equal(simulated_join(calm, clock, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.functions[1].category, VERDICT_CORE);
	run_close(clock);
	run_close(other);
	run_close(sim);
	run_close(calm);
}

/* 30, 25 and 20 samples: 75 are enough for the program, which names none of them. */
static void a_place_with_few_samples_has_no_cause_and_many_of_them_together_have(void **state)
{
	static const char *const names[] = {"a", "b", "c"};
	static const unsigned samples[] = {30, 25, 20}, fewer[] = {20, 15, 10}, one[] = {1};
	static const uint64_t counts[][4] = {{1000000, 300000, 300000, 0},
		{1000000, 250000, 250000, 0}, {1000000, 200000, 200000, 0}};
	struct run *clock = clock_run(names, samples, 3), *less = clock_run(names, fewer, 3);
	struct run *single = clock_run(names, one, 1);
	struct run *sim = simulated_run(names, counts, 3, 0);
	arena_auto struct arena arena = {0};
	struct simulated_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(simulated_join(sim, clock, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.verdict.category, VERDICT_MEMORY_LATENCY);
	assert_non_null(strstr(view.verdict.why, "many functions add up"));
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(view.functions[i].few_samples);
		assert_int_equal(view.functions[i].category, VERDICT_UNCLEAR);
	}
	assert_string_equal(
		view.functions[0].why, "30 samples are too few to name a cause: it needs 50");
	assert_int_equal(simulated_join(sim, less, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.verdict.category, VERDICT_UNCLEAR);
	assert_non_null(strstr(view.verdict.why, "45 samples are too few"));
	assert_true(isnan(view.verdict.share) && *view.verdict.share_reason);
	assert_true(fabs(view.category_share[VERDICT_UNCLEAR] - 1) < 1e-9);
	assert_int_equal(simulated_join(sim, single, &costs, &arena, &view, &err), 0);
	assert_non_null(strstr(view.verdict.why, "1 sample is too few"));
	assert_false(view.functions[2].few_samples); /* never sampled: that is said */
	assert_non_null(strstr(view.functions[2].why, "did not both see it"));
	run_close(clock);
	run_close(less);
	run_close(single);
	run_close(sim);
}

/* The verdict about two runs of 1 ms per sample. */
static struct verdict verdict_of(const char *const *sampled, const unsigned *samples,
	const char *const *simulated, const uint64_t (*counts)[4], unsigned count)
{
	struct run *clock = clock_run(sampled, samples, count);
	struct run *sim = simulated_run(simulated, counts, count, 0);
	arena_auto struct arena arena = {0};
	struct simulated_view view;
	struct err err = {0};

	assert_int_equal(simulated_join(sim, clock, &costs, &arena, &view, &err), 0);
	view.verdict.why = ""; /* its text goes with the arena */
	run_close(clock);
	run_close(sim);
	return view.verdict;
}

static void a_verdict_is_no_surer_than_the_functions_that_carry_it(void **state)
{
	/* The hottest is sure of its mispredictions; what it calls is not, and has more time. */
	static const char *const targets[] = {"main", "hit<main", "miss<main"};
	static const char *const targets_simulated[] = {"main", "hit", "miss"};
	static const unsigned targets_samples[] = {60, 50, 50};
	static const uint64_t targets_counts[][4] = {
		{170000000, 0, 0, 10000000}, {17000000, 0, 0, 0}, {17000000, 0, 0, 0}};
	/* 20 samples are a guess, but the first function carries the word alone. */
	static const char *const chases[] = {"chase", "tail"};
	static const unsigned chases_samples[] = {80, 20};
	static const uint64_t chases_counts[][4] = {
		{4000000, 800000, 800000, 0}, {1000000, 200000, 200000, 0}};
	/* Neither kind of memory leads alone. */
	static const char *const halves[] = {"chase", "stream"};
	static const unsigned halves_samples[] = {60, 40};
	static const uint64_t halves_counts[][4] = {
		{3000000, 600000, 600000, 0}, {40000000, 10000000, 10000000, 0}};
	struct verdict v =
		verdict_of(targets, targets_samples, targets_simulated, targets_counts, 3);

	(void)state;
	assert_int_equal(v.category, VERDICT_BAD_SPECULATION);
	assert_int_equal(v.confidence, VERDICT_LOW);
	v = verdict_of(chases, chases_samples, chases, chases_counts, 2);
	assert_int_equal(v.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(v.confidence, VERDICT_MEDIUM);
	v = verdict_of(halves, halves_samples, halves, halves_counts, 2);
	assert_int_equal(v.category, VERDICT_MEMORY);
	assert_int_equal(v.confidence, VERDICT_LOW);
}

static void half_and_half_is_mixed_and_the_kernel_alone_is_unclear(void **state)
{
	static const char *const names[] = {"chase", "chain"};
	static const unsigned samples[] = {50, 50};
	static const uint64_t counts[][4] = {{2500000, 500000, 500000, 0}, {20000000, 0, 0, 0}};
	static const char *const mostly_kernel[] = {"chase", "kernel"};
	static const unsigned kernel_samples[] = {20, 80};
	struct run *clock = clock_run(names, samples, 2);
	struct run *kernel = clock_run(mostly_kernel, kernel_samples, 2);
	struct run *sim = simulated_run(names, counts, 2, 0);
	arena_auto struct arena arena = {0};
	struct simulated_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(simulated_join(sim, clock, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.verdict.category, VERDICT_MIXED);
	assert_int_equal(simulated_join(sim, kernel, &costs, &arena, &view, &err), 0);
	assert_int_equal(view.verdict.category, VERDICT_UNCLEAR);
	assert_non_null(strstr(view.verdict.why, "kernel"));
	run_close(clock);
	run_close(kernel);
	run_close(sim);
}

/* A loop over memory that is new: half of the time the kernel makes pages. */
static void a_little_more_in_the_kernel_makes_a_cause_less_sure_and_not_unclear(void **state)
{
	static const char *const names[] = {"chase", "kernel"};
	static const unsigned less[] = {104, 96}, more[] = {96, 104};
	static const uint64_t counts[][4] = {{5000000, 1000000, 1000000, 0}, {1, 0, 0, 0}};
	struct verdict v = verdict_of(names, less, names, counts, 2);

	(void)state;
	assert_int_equal(v.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(v.confidence, VERDICT_MEDIUM);
	v = verdict_of(names, more, names, counts, 2);
	assert_int_equal(v.category, VERDICT_MEMORY_LATENCY);
	assert_int_equal(v.confidence, VERDICT_LOW);
	assert_non_null(strstr(v.doubt, "in the kernel"));
}

/* The machine copies with AVX-512, the simulator with AVX, and each has its name for it. */
static void a_copy_meets_under_any_name_of_the_same_code(void **state)
{
	static const char *const sampled[] = {"__memmove_avx512_unaligned_erms"};
	static const char *const simulated[] = {"__memcpy_avx_unaligned_erms"};
	static const unsigned samples[] = {100};
	static const uint64_t counts[][4] = {{50000000, 20000000, 20000000, 0}};
	struct verdict v = verdict_of(sampled, samples, simulated, counts, 1);

	(void)state;
	assert_int_equal(v.category, VERDICT_MEMORY_BANDWIDTH);
	assert_true(fabs(v.share - 1) < 1e-9);
}

static void a_simulation_that_was_cut_gives_rates_and_no_verdict(void **state)
{
	static const char *const names[] = {"chase"};
	static const unsigned samples[] = {100};
	static const uint64_t counts[][4] = {{4000000, 800000, 800000, 0}};
	struct run *clock = clock_run(names, samples, 1);
	struct run *sim = simulated_run(names, counts, 1, EXECUTION_TIMED_OUT);
	arena_auto struct arena arena = {0};
	struct simulated_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(simulated_join(sim, clock, &costs, &arena, &view, &err), 0);
	assert_true(view.counts.partial);
	assert_int_equal(view.verdict.category, VERDICT_UNCLEAR);
	assert_true(isnan(view.functions[0].ns_per_ll_miss));
	assert_true(fabs(view.functions[0].ll_mpki - 200) < 1e-9);
	assert_int_equal(simulated_join(clock, clock, &costs, &arena, &view, &err), -ENODATA);
	assert_int_equal(simulated_join(sim, sim, &costs, &arena, &view, &err), -ENODATA);
	run_close(clock);
	run_close(sim);
}

static void a_cut_simulation_of_the_start_alone_is_known_as_such(void **state)
{
	static const char *const names[] = {"fill", "chase"};
	static const unsigned samples[] = {10, 90};
	static const uint64_t start[][4] = {{4000000, 0, 0, 0}, {1000, 0, 0, 0}};
	static const uint64_t both[][4] = {{4000000, 0, 0, 0}, {400000, 0, 0, 0}};
	struct run *clock = clock_run(names, samples, 2);
	struct run *cut = simulated_run(names, start, 2, EXECUTION_TIMED_OUT);
	struct run *later = simulated_run(names, both, 2, EXECUTION_TIMED_OUT);
	struct run *whole = simulated_run(names, start, 2, 0);
	arena_auto struct arena arena = {0};

	(void)state;
	assert_true(simulated_is_start_only(cut, clock, &arena));
	assert_false(simulated_is_start_only(later, clock, &arena));
	assert_false(simulated_is_start_only(whole, clock, &arena));
	assert_false(simulated_is_start_only(clock, clock, &arena)); /* nothing was simulated */
	/* The start and the work in one function: their lines tell them apart. */
	clock->frames.at[1].line = 20;
	assert_true(simulated_is_start_only(later, clock, &arena));
	run_close(clock);
	run_close(cut);
	run_close(later);
	run_close(whole);
}

static void names_meet_without_parameters_clones_and_instruction_sets(void **state)
{
	static const struct {
		const char *name;
		size_t len;
	} cases[] = {
		{"main", 4},
		{"f.isra.0", 1},
		{"f.constprop.0.cold", 1},
		{"a::b(int (*)(int)) const", 4},
		{"(anonymous namespace)::f(int)", 24},
		{"__memmove_evex_unaligned_erms", 9},
		{"__memmove_avx_unaligned_erms", 9},
		{"x_avx_y", 7},
		{"operator()", 8},
		{"(anonymous namespace)::f(int) [clone .constprop.0]", 24},
		{"main.(*T).f", 11},
		{"", 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(simulated_name_length(cases[i].name), cases[i].len);
}

/* ---- the loop ---- */

static void the_smallest_loop_with_half_of_the_samples_is_the_hot_one(void **state)
{
	static struct instruction rows[] = {
		{.addr = 0x10, .size_bytes = 4, .text = "movq %rdi, %rax"},
		{.addr = 0x14, .size_bytes = 4, .text = "mulsd %xmm1, %xmm0"},
		{.addr = 0x18, .size_bytes = 4, .text = "subq $1, %rax"},
		{.addr = 0x1c,
			.size_bytes = 2,
			.text = "jne 0x14",
			.kind = INSTRUCTION_JUMP,
			.has_target = true,
			.target = 0x14},
		{.addr = 0x1e,
			.size_bytes = 2,
			.text = "jne 0x10",
			.kind = INSTRUCTION_JUMP,
			.has_target = true,
			.target = 0x10},
	};
	static const char *const names[] = {"f", "f2"};
	static const unsigned samples[] = {9, 1}; /* at 0x10 and 0x20 */
	struct listing listing = {.instructions = rows, .instruction_count = 5};
	struct run *clock = clock_run(names, samples, 2);
	arena_auto struct arena arena = {0};
	struct hot_loop loop;

	(void)state;
	hot_loop_find(clock, 1, &listing, &arena, &loop);
	assert_null(loop.missing);
	assert_int_equal(loop.count, 5); /* the sample at 0x10 is only in the outer one */
	rows[1].addr = 0x10;
	rows[0].addr = 0x0c;
	rows[3].target = 0x10;
	hot_loop_find(clock, 1, &listing, &arena, &loop);
	assert_int_equal(loop.count, 3);
	assert_string_equal(loop.lines[0], "mulsd %xmm1, %xmm0");
	listing.instruction_count = 1;
	hot_loop_find(clock, 1, &listing, &arena, &loop);
	assert_non_null(loop.missing);
	run_close(clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_of_the_rules_is_read),
		cmocka_unit_test(the_time_per_event_tells_which_kind_of_work_takes_it),
		cmocka_unit_test(which_cache_is_waited_for_is_known_with_its_misses_only),
		cmocka_unit_test(a_second_simulation_is_asked_for_where_it_matters),
		cmocka_unit_test(
			far_more_cycles_than_the_model_of_the_core_predicts_are_not_the_cores),
		cmocka_unit_test(close_to_another_cause_is_low),
		cmocka_unit_test(a_line_that_is_written_is_moved_twice),
		cmocka_unit_test(a_plain_loop_is_compared_with_a_plain_read_too),
		cmocka_unit_test(of_two_measurements_a_cycle_is_the_better_and_the_rest_the_mean),
		cmocka_unit_test(
			functions_meet_by_name_and_the_program_gets_the_word_of_most_of_its_time),
		cmocka_unit_test(a_mispredicted_branch_is_paid_for_where_it_jumps_to),
		cmocka_unit_test(
			a_place_with_few_samples_has_no_cause_and_many_of_them_together_have),
		cmocka_unit_test(a_verdict_is_no_surer_than_the_functions_that_carry_it),
		cmocka_unit_test(half_and_half_is_mixed_and_the_kernel_alone_is_unclear),
		cmocka_unit_test(
			a_little_more_in_the_kernel_makes_a_cause_less_sure_and_not_unclear),
		cmocka_unit_test(a_copy_meets_under_any_name_of_the_same_code),
		cmocka_unit_test(a_simulation_that_was_cut_gives_rates_and_no_verdict),
		cmocka_unit_test(a_cut_simulation_of_the_start_alone_is_known_as_such),
		cmocka_unit_test(names_meet_without_parameters_clones_and_instruction_sets),
		cmocka_unit_test(the_smallest_loop_with_half_of_the_samples_is_the_hot_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
