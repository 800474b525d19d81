/* ab_test.c - A against B: what decides, what disturbs, what explains, and how often it is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyze/ab.h"
#include "analyze/stat.h"
#include "base/distribution.h"
#include "base/random.h"
#include "code/binary.h"
#include "model/run.h"

enum { PAIRS = 20 };

struct fixture {
	struct run *run;
	struct arena arena;
	struct bench_view view;
	struct ab_view ab;
	struct err err;
};

static struct execution_packed *row_of(struct fixture *f, unsigned pair, unsigned side)
{
	return &f->run->executions.at[2 * pair + side];
}

/* 20 pairs of 100 ms with a little noise, half of it CPU time; B takes `ratio` as long. */
static void begin(struct fixture *f, double ratio)
{
	*f = (struct fixture){.run = run_open()};
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "old")});
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "new")});
	for (unsigned i = 0; i < PAIRS; i++)
		for (unsigned side = 0; side < 2; side++) {
			uint64_t wall = (uint64_t)(1e8 * (side ? ratio : 1)) +
					(i * 7 + side * 3) % 5 * 100000;

			run_add_execution(
				f->run, &(struct execution_row){
						.command = 1 + side,
						.start_ns = (2 * i + side) * UINT64_C(200000000),
						.wall_ns = wall,
						.user_ns = wall / 2,
						.max_rss_bytes = 8 << 20,
						.rss_floor_bytes = 1 << 20,
						.minor_faults = 100,
						.flags = EXECUTION_STEAL | EXECUTION_PRESSURE,
					});
		}
}

static void make(struct fixture *f)
{
	const struct compare_rule rule = {0};

	assert_int_equal(bench_view_make(f->run, false, &f->arena, &f->view, &f->err), 0);
	assert_int_equal(ab_view_make(&f->view, &rule, &f->arena, &f->ab, &f->err), 0);
}

static void end(struct fixture *f)
{
	run_close(f->run);
	arena_done(&f->arena);
}

static void memory_and_faults_are_judged_and_decide_nothing(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	for (unsigned i = 0; i < PAIRS; i++) {
		row_of(&f, i, 1)->max_rss_kib = 9 << 10;
		row_of(&f, i, 1)->minor_faults = 101; /* a count that never varies: 1 is a change */
	}
	make(&f);
	assert_int_equal(f.ab.metric_count, 4);
	assert_int_equal(f.ab.deciding_count, 2);
	assert_int_equal(f.ab.verdict.outcome, COMPARE_EQUIVALENT);
	assert_int_equal(f.ab.metrics[AB_MEMORY].outcome, COMPARE_REGRESSED);
	assert_true(fabs(f.ab.metrics[AB_MEMORY].effect - 0.125) < 1e-9);
	assert_true(f.ab.metrics[AB_FAULTS].constant);
	assert_int_equal(f.ab.metrics[AB_FAULTS].outcome, COMPARE_REGRESSED);
	end(&f);
}

static void memory_below_what_can_be_seen_is_not_judged(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	for (unsigned i = 0; i < 2 * PAIRS; i++)
		f.run->executions.at[i].max_rss_kib = f.run->executions.at[i].rss_floor_kib;
	make(&f);
	assert_int_equal(f.ab.metric_count, 3);
	assert_string_equal(f.ab.metrics[2].name, "faults");
	end(&f);
}

static void a_pair_with_one_disturbed_side_is_named_and_both_sides_cancel(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	row_of(&f, 3, 0)->steal_us = 10000;
	row_of(&f, 5, 1)->pressure_us = 50000;
	row_of(&f, 7, 1)->involuntary_switches = 11;
	row_of(&f, 9, 0)->steal_us = row_of(&f, 9, 1)->steal_us = 10000;
	row_of(&f, 11, 0)->involuntary_switches = 10; /* not far above what is usual */
	make(&f);
	assert_int_equal(f.ab.disturbed[3], AB_STEAL);
	assert_int_equal(f.ab.disturbed[5], AB_PRESSURE);
	assert_int_equal(f.ab.disturbed[7], AB_PUSHED);
	assert_int_equal(f.ab.disturbed_count, 3);
	assert_false(f.ab.calm_differs);
	end(&f);
}

static void disturbed_pairs_that_make_the_verdict_are_told(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	/* B was pushed aside in 9 of 20 pairs, and is 30 % slower there. */
	for (unsigned i = 0; i < 9; i++) {
		row_of(&f, i, 1)->wall_ns = 130000000 + i;
		row_of(&f, i, 1)->steal_us = 30000;
	}
	make(&f);
	assert_int_equal(f.ab.disturbed_count, 9);
	assert_int_not_equal(f.ab.verdict.outcome, COMPARE_EQUIVALENT);
	assert_int_equal(f.ab.calm_verdict.outcome, COMPARE_EQUIVALENT);
	assert_true(f.ab.calm_differs && f.ab.weaknesses & AB_WEAK_DISTURBED);
	end(&f);
}

/* The first `PAIRS - count` pairs are no more. */
static void keep_last(struct fixture *f, unsigned count)
{
	struct run *run = f->run;

	memmove(run->executions.at, run->executions.at + 2 * (PAIRS - count),
		2 * count * sizeof(*run->executions.at));
	run->executions.count = 2 * count;
}

static void fewer_pairs_alone_are_no_other_verdict(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 0.95);
	keep_last(&f, COMPARE_BATCH);
	row_of(&f, 3, 0)->steal_us = 10000;
	make(&f);
	assert_int_equal(f.ab.disturbed_count, 1);
	assert_int_equal(f.ab.verdict.outcome, COMPARE_IMPROVED);
	assert_true(f.ab.calm_metrics[AB_WALL].hi < 0);
	assert_false(f.ab.calm_differs || f.ab.weaknesses & AB_WEAK_DISTURBED);
	assert_int_equal(f.ab.calm_verdict.outcome, COMPARE_IMPROVED);
	end(&f);
}

static void fewer_pairs_that_vary_more_are_no_other_verdict(void **state)
{
	struct fixture f;

	(void)state;
	for (unsigned changed = 0; changed < 2; changed++) {
		begin(&f, changed ? 0.7 : 1);
		for (unsigned i = 0; i < PAIRS; i++) {
			double spread = changed ? 0.35 : 0.011;

			row_of(&f, i, 1)->wall_ns =
				(uint32_t)((changed ? 0.7e8 : 1e8) *
					   (i / 2 % 2 ? 1 + spread : 1 - spread));
			row_of(&f, i, 0)->wall_ns = 100000000;
			row_of(&f, i, 0)->user_ns = row_of(&f, i, 1)->user_ns = 0;
			row_of(&f, i, 1)->steal_us = i < 9 ? 10000000 : 0;
		}
		make(&f);
		assert_int_equal(f.ab.disturbed_count, 9);
		assert_int_equal(
			f.ab.verdict.outcome, changed ? COMPARE_IMPROVED : COMPARE_EQUIVALENT);
		assert_int_equal(f.ab.calm_metrics[AB_WALL].outcome, COMPARE_INCONCLUSIVE);
		assert_false(f.ab.calm_differs);
		end(&f);
	}
}

static void what_one_side_always_does_is_no_disturbance(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	for (unsigned i = 0; i < PAIRS; i++)
		row_of(&f, i, 1)->involuntary_switches = 500;
	make(&f);
	assert_int_equal(f.ab.disturbed_count, 0);
	end(&f);
}

static void work_that_came_and_went_is_noticed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	for (unsigned i = 0; i < PAIRS; i++)
		row_of(&f, i, 0)->pressure_us = row_of(&f, i, 1)->pressure_us =
			i < PAIRS / 2 ? 5000 : 90000;
	make(&f);
	assert_true(f.ab.load_changed && f.ab.contested_low < 0.1 && f.ab.contested_high > 0.8);
	end(&f);
	begin(&f, 1);
	make(&f);
	assert_false(f.ab.load_changed);
	end(&f);
}

static enum ab_tier tier_at(double ratio)
{
	struct fixture f;
	enum ab_tier tier;

	begin(&f, ratio);
	make(&f);
	tier = f.ab.tier;
	end(&f);
	return tier;
}

static void the_better_tier_is_asked_first(void **state)
{
	(void)state;
	assert_int_equal(tier_at(0.85), AB_HEALTHY_MARGIN); /* within 1.25 as well */
	assert_int_equal(tier_at(0.95), AB_PARITY_TO_MARGIN);
	assert_int_equal(tier_at(1.2), AB_PARITY_TO_MARGIN);
	assert_int_equal(tier_at(1.3), AB_BELOW_PARITY);
	assert_string_equal(ab_tier_name(AB_HEALTHY_MARGIN), "HealthyMargin");
}

static void an_open_question_says_how_many_more_pairs(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	for (unsigned i = 0; i < PAIRS; i++)
		row_of(&f, i, i % 2)->wall_ns = 108000000 + i * 100000;
	make(&f);
	assert_int_equal(f.ab.verdict.outcome, COMPARE_INCONCLUSIVE);
	assert_int_equal(f.ab.more_pairs, f.ab.metrics[AB_WALL].pairs_needed - PAIRS);
	assert_true(f.ab.pair_ns > 300000000 && f.ab.pair_ns < 500000000);
	assert_false(ab_is_settled(&f.ab) || ab_is_narrow(&f.ab));
	end(&f);
}

#define NONE ((double)NAN)

static struct ab_explanation explained(const struct ab_side *a, const struct ab_side *b)
{
	static struct arena arena; /* its texts are looked at before the next call */

	arena_done(&arena);
	return ab_explain(a, b, &arena);
}

static void more_cycles_are_more_work_or_more_stalls(void **state)
{
	const struct ab_side a = {1e9, NONE, 100, 5, 5, 2e9, 1e9, 1e6, 1e5};
	struct ab_side b = a;
	struct ab_explanation e;

	(void)state;
	b.cycles = 1.2e9;
	b.instructions = 2.4e9;
	e = explained(&a, &b);
	assert_int_equal(e.cause, AB_CAUSE_WORK);
	assert_true(fabs(e.instructions_share - 1) < 1e-9 && fabs(e.ipc_b - 2) < 1e-9);
	/* 12 million mispredicted branches at 15 cycles are 180 of the 200 million. */
	b.instructions = a.instructions;
	b.branch_misses = 13e6;
	e = explained(&a, &b);
	assert_int_equal(e.cause, AB_CAUSE_STALLS);
	assert_string_equal(e.stall, "branch-misses");
	assert_true(fabs(e.stall_share - 0.9) < 1e-9 && strstr(e.text, "from 2.00 to 1.67"));
	b.branch_misses = a.branch_misses;
	b.cache_misses = 1.6e6;
	assert_string_equal(explained(&a, &b).stall, "cache-misses");
	b.cache_misses = a.cache_misses;
	assert_null(explained(&a, &b).stall);
	b.instructions = 2.2e9;
	assert_int_equal(explained(&a, &b).cause, AB_CAUSE_BOTH);
	b.cycles = 1.001e9;
	assert_int_equal(explained(&a, &b).cause, AB_CAUSE_CLOCK);
}

static void fewer_cycles_are_explained_the_same_way(void **state)
{
	const struct ab_side a = {1e9, NONE, 100, 5, 5, 2e9, 1.2e9, 13e6, 1e5};
	const struct ab_side b = {1e9, NONE, 100, 5, 5, 2e9, 1e9, 1e6, 1e5};
	struct ab_explanation e = explained(&a, &b);

	(void)state;
	assert_int_equal(e.cause, AB_CAUSE_STALLS);
	assert_string_equal(e.stall, "branch-misses");
}

static void without_counters_the_kernels_counts_explain_and_say_what_is_missing(void **state)
{
	const struct ab_side a = {1e9, 0.1, 100, 5, 5, NONE, NONE, NONE, NONE};
	struct ab_side b = a;
	struct ab_explanation e = explained(&a, &b);

	(void)state;
	assert_int_equal(e.cause, AB_CAUSE_UNKNOWN);
	assert_true(isnan(e.ipc_a) && strstr(e.text, "no hardware counters"));
	b.faults = 3000;
	b.system_share = 0.3;
	e = explained(&a, &b);
	assert_int_equal(e.cause, AB_CAUSE_SYSTEM);
	assert_non_null(strstr(e.text, "page faults from 100 to 3000"));
	assert_non_null(strstr(e.text, "from 10 % to 30 %"));
	assert_null(strstr(e.text, "waits from"));
}

static void counted_events_are_found_by_name_and_summed_over_cores(void **state)
{
	struct stat_event events[] = {
		{.name = "cycles:u", .known = true, .value = 5},
		{.name = "cycles:u", .known = true, .value = 7},
		{.name = "instructions", .known = false, .value = 9},
		{.name = "cycles-ref", .known = true, .value = 11},
	};
	const struct stat_view view = {.events = events, .event_count = 4};
	struct ab_side side = {.cycles = NONE, .instructions = NONE};

	(void)state;
	ab_side_add_events(&side, &view);
	assert_true(side.cycles == 12 && isnan(side.instructions));
}

static void builds_that_differ_where_it_matters_are_named(void **state)
{
	struct binary_facts a = {.optimisation = "-O2",
		.optimisation_evidence = EVIDENCE_PRODUCER,
		.sanitizers = "none",
		.instruments = "none",
		.lto = BINARY_NO};
	struct binary_facts b = a;
	struct ab_build_difference found[AB_BUILD_DIFFERENCES];

	(void)state;
	assert_int_equal(ab_builds_differ(&a, &b, found), 0);
	b.optimisation = "-O0";
	b.sanitizers = "address";
	b.lto = BINARY_UNKNOWN; /* what is not known is no difference */
	assert_int_equal(ab_builds_differ(&a, &b, found), 2);
	assert_string_equal(found[0].what, "optimisation");
	assert_string_equal(found[0].b, "-O0");
	assert_string_equal(found[1].b, "address");
	/* A stripped program only shows that it is optimised. */
	b = a;
	b.optimisation = "optimised";
	b.optimisation_evidence = EVIDENCE_CODE;
	assert_int_equal(ab_builds_differ(&a, &b, found), 0);
	a.optimisation = "-O0";
	assert_int_equal(ab_builds_differ(&a, &b, found), 1);
}

/* --- how often the whole procedure is wrong, on simulated noise with a fixed seed --- */

enum { GROWING_MAX = 150 };

/* Two clocks of the same runs: each remembers the run before, and they share a part of the noise.
 */
static void runs_simulate(struct random *random, double ratio, double *wall, double *cpu)
{
	double slow = normal_quantile(random_share(random)), own = slow;

	for (unsigned i = 0; i < 2 * GROWING_MAX; i++) {
		/* A B B A A B B A ... */
		bool is_b = i % 2 != i / 2 % 2;

		wall[i] = (is_b ? ratio : 1) * 2e7 * exp(0.5 * slow);
		cpu[i] = (is_b ? ratio : 1) * 2e7 * exp(0.03 * slow + 0.04 * own);
		slow = 0.66 * slow + 0.75 * normal_quantile(random_share(random));
		own = 0.57 * own + 0.82 * normal_quantile(random_share(random));
	}
}

static struct comparison clock_judge(const double *runs, size_t pairs, enum compare_kind kind)
{
	const struct compare_rule rule = {0};
	double a[GROWING_MAX], b[GROWING_MAX];
	const struct compare_input input = {"time", kind, a, b, pairs, pairs};
	struct comparison result;
	struct err err = {0};

	for (size_t i = 0; i < pairs; i++) {
		a[i] = runs[2 * i + i % 2];
		b[i] = runs[2 * i + 1 - i % 2];
	}
	assert_int_equal(compare_pairs(&input, &rule, &result, &err), 0);
	return result;
}

/* Measure as `assay ab` does, until it stops; true when a change is called.  *pairs: how many. */
static bool procedure_calls(struct random *random, double ratio, size_t *pairs)
{
	const struct compare_plan plan = compare_plan_make(COMPARE_BATCH, GROWING_MAX);
	double wall[2 * GROWING_MAX], cpu[2 * GROWING_MAX];
	struct ab_view ab = {.deciding_count = 2};

	runs_simulate(random, ratio, wall, cpu);
	for (size_t n = COMPARE_BATCH;; n++) {
		if (n < GROWING_MAX && n % COMPARE_BATCH && !compare_plan_looks_at(&plan, n))
			continue;
		ab.metrics[AB_WALL] = clock_judge(wall, n, COMPARE_WALL);
		ab.metrics[AB_CPU] = clock_judge(cpu, n, COMPARE_CPU);
		compare_family(ab.metrics, 2);
		ab.verdict = compare_decide(ab.metrics, 2);
		if (n < GROWING_MAX && (n % COMPARE_BATCH || !ab_is_narrow(&ab)) &&
			!(compare_plan_looks_at(&plan, n) && ab_is_settled(&ab)))
			continue;
		*pairs += n;
		return ab.verdict.outcome == COMPARE_REGRESSED ||
		       ab.verdict.outcome == COMPARE_IMPROVED;
	}
}

static double called_share(double ratio, size_t trials, double *ret_pairs)
{
	struct random random;
	size_t called = 0, pairs = 0;

	random_seed(&random, 71);
	for (size_t i = 0; i < trials; i++)
		called += procedure_calls(&random, ratio, &pairs);
	*ret_pairs = (double)pairs / (double)trials;
	return (double)called / (double)trials;
}

static void growing_until_it_is_settled_rarely_gives_a_false_alarm(void **state)
{
	double pairs[3];
	double same = called_share(1, 2000, &pairs[0]);
	double five = called_share(1.05, 300, &pairs[1]), two = called_share(1.02, 300, &pairs[2]);

	(void)state;
	print_message("# false alarms %.1f %% (%.0f pairs); found +5 %% %.1f %% (%.0f), +2 %% %.1f "
		      "%% (%.0f)\n",
		100 * same, pairs[0], 100 * five, pairs[1], 100 * two, pairs[2]);
	assert_true(same <= 0.03 && five >= 0.98 && two >= 0.6);
}

static void looks_are_few_and_apart(void **state)
{
	const struct compare_plan plan = compare_plan_make(10, 1000),
				  small = compare_plan_make(3, 10);
	unsigned looks = 0;

	(void)state;
	for (size_t pairs = 1; pairs < 1000; pairs++)
		looks += compare_plan_looks_at(&plan, pairs);
	assert_int_equal(looks, COMPARE_LOOKS_MAX - 1);
	assert_true(compare_plan_looks_at(&plan, 10) && !compare_plan_looks_at(&plan, 20));
	assert_true(compare_plan_looks_at(&small, 3) && compare_plan_looks_at(&small, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_and_faults_are_judged_and_decide_nothing),
		cmocka_unit_test(memory_below_what_can_be_seen_is_not_judged),
		cmocka_unit_test(a_pair_with_one_disturbed_side_is_named_and_both_sides_cancel),
		cmocka_unit_test(disturbed_pairs_that_make_the_verdict_are_told),
		cmocka_unit_test(fewer_pairs_alone_are_no_other_verdict),
		cmocka_unit_test(fewer_pairs_that_vary_more_are_no_other_verdict),
		cmocka_unit_test(what_one_side_always_does_is_no_disturbance),
		cmocka_unit_test(work_that_came_and_went_is_noticed),
		cmocka_unit_test(the_better_tier_is_asked_first),
		cmocka_unit_test(an_open_question_says_how_many_more_pairs),
		cmocka_unit_test(more_cycles_are_more_work_or_more_stalls),
		cmocka_unit_test(fewer_cycles_are_explained_the_same_way),
		cmocka_unit_test(
			without_counters_the_kernels_counts_explain_and_say_what_is_missing),
		cmocka_unit_test(counted_events_are_found_by_name_and_summed_over_cores),
		cmocka_unit_test(builds_that_differ_where_it_matters_are_named),
		cmocka_unit_test(growing_until_it_is_settled_rarely_gives_a_false_alarm),
		cmocka_unit_test(looks_are_few_and_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
