/* diff_counts_test.c - the counts of two runs: ratios, intervals, and who explains the time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/diff_counts.h"
#include "model/run.h"

enum { RUNS = 6 };

/* One side: CPU time in ns and counts, RUNS times with a little noise. */
struct side {
	uint64_t cpu_ns, instructions, cycles, branch_misses, cache_misses;
};

static struct run *run_of(const struct side *side, unsigned runs, bool hardware)
{
	static const char *const names[] = {
		"task-clock", "instructions", "cycles", "branch-misses", "cache-misses"};
	const uint64_t values[] = {side->cpu_ns, side->instructions, side->cycles,
		side->branch_misses, side->cache_misses};
	struct run *run = run_open();

	for (unsigned i = 0; i < 5; i++)
		run_add_event(
			run, &(struct event_row){
				     .name = run_intern(run, names[i]),
				     .reason = run_intern(run, i && !hardware ? "no PMU" : ""),
				     .status = i && !hardware ? EVENT_NOT_SUPPORTED : EVENT_COUNTED,
				     .scale = 1,
			     });
	for (unsigned k = 0; k < runs; k++) {
		/* -3, -2, -1, 1, 2, 3 per mille */
		double noise = 1 + ((double)k - 2.5) / 1000;

		run_add_execution(run, &(struct execution_row){
					       .wall_ns = side->cpu_ns,
					       .user_ns = (uint64_t)((double)side->cpu_ns * noise),
				       });
		for (unsigned i = 0; i < (hardware ? 5U : 1U); i++)
			run_add_count(run, &(struct count_row){i + 1, k + 1, 0,
						   (uint64_t)((double)values[i] * noise), 9, 9});
	}
	return run;
}

static const struct diff_count_row *row_of(const struct diff_counts_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->row_count; i++)
		if (strcmp(view->rows[i].name, name) == 0)
			return &view->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static const struct side base = {1000000000, 2000000000, 3000000000, 1000000, 100000};

static void more_instructions_explain_the_time(void **state)
{
	const struct side more = {1500000000, 3000000000, 4500000000, 1000000, 100000};
	run_auto struct run *a = run_of(&base, RUNS, true), *b = run_of(&more, RUNS, true);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	assert_true(diff_counts_possible(a, b));
	diff_counts_make(a, b, &arena, &view);
	assert_true(fabs(view.time.change - 0.5) < 1e-6);
	assert_true(view.time.moved && view.time.lo < 0.5 && view.time.hi > 0.5);
	assert_true(fabs(view.work_share - 1) < 1e-6);
	assert_true(fabs(view.stall_share) < 1e-6 && fabs(view.clock_share) < 1e-6);
	assert_int_equal(view.explanation.cause, AB_CAUSE_WORK);
	assert_true(fabs(row_of(&view, "instructions")->explains_share - 1) < 1e-6);
	assert_true(fabs(row_of(&view, "branch-misses")->explains_share) < 1e-6);
	assert_false(row_of(&view, "branch-misses")->moved);
}

static void a_miss_is_named_by_its_increase_at_its_price(void **state)
{
	/* 60 million more mispredictions at 15 cycles are 900 of the 1,000 million new cycles. */
	const struct side stalls = {1333333333, 2000000000, 4000000000, 61000000, 100000};
	run_auto struct run *a = run_of(&base, RUNS, true), *b = run_of(&stalls, RUNS, true);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	diff_counts_make(a, b, &arena, &view);
	assert_int_equal(view.explanation.cause, AB_CAUSE_STALLS);
	assert_string_equal(view.explanation.stall, "branch-misses");
	assert_true(fabs(view.work_share) < 1e-6);
	assert_true(fabs(view.stall_share - 1) < 1e-3);
	assert_true(fabs(row_of(&view, "branch-misses")->explains_share - 0.9) < 0.01);
	assert_true(row_of(&view, "branch-misses")->priced);
	/* cycles explain all of it, then the misses, then what did not move. */
	assert_string_equal(view.rows[0].name, "cycles");
	assert_string_equal(view.rows[1].name, "branch-misses");
}

static void the_clock_explains_what_cycles_do_not(void **state)
{
	const struct side slower = {2000000000, 2000000000, 3000000000, 1000000, 100000};
	run_auto struct run *a = run_of(&base, RUNS, true), *b = run_of(&slower, RUNS, true);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	diff_counts_make(a, b, &arena, &view);
	assert_true(fabs(view.clock_share - 1) < 1e-6);
	assert_int_equal(view.explanation.cause, AB_CAUSE_CLOCK);
}

static void one_run_of_each_side_has_a_change_and_no_interval(void **state)
{
	const struct side more = {1500000000, 3000000000, 4500000000, 1000000, 100000};
	run_auto struct run *a = run_of(&base, 1, true), *b = run_of(&more, 1, true);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	diff_counts_make(a, b, &arena, &view);
	assert_true(fabs(row_of(&view, "cycles")->change - 0.5) < 1e-6);
	assert_true(isnan(row_of(&view, "cycles")->lo) && isnan(row_of(&view, "cycles")->hi));
	assert_false(row_of(&view, "cycles")->moved);
}

static void without_a_pmu_the_reason_stands_in_the_row(void **state)
{
	const struct side more = {1500000000, 0, 0, 0, 0};
	run_auto struct run *a = run_of(&base, RUNS, false), *b = run_of(&more, RUNS, false);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	diff_counts_make(a, b, &arena, &view);
	assert_true(isnan(row_of(&view, "cycles")->change));
	assert_string_equal(row_of(&view, "cycles")->reason, "no PMU");
	assert_true(isnan(view.work_share));
	assert_true(isnan(row_of(&view, "task-clock")->explains_share));
	assert_true(row_of(&view, "task-clock")->moved);
	assert_non_null(strstr(view.explanation.text, "no hardware counters"));
}

static void the_same_run_twice_shows_no_change(void **state)
{
	run_auto struct run *a = run_of(&base, RUNS, true);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	diff_counts_make(a, a, &arena, &view);
	assert_false(view.time.moved);
	assert_true(isnan(view.work_share));
	for (uint32_t i = 0; i < view.row_count; i++) {
		assert_false(view.rows[i].moved);
		assert_true(view.rows[i].change == 0);
	}
}

/* One event, counted by a simulator or by a machine; an execution for each value. */
static struct run *run_of_values(bool simulated, const uint64_t *values, unsigned count)
{
	struct run *run = run_open();

	run_add_event(run, &(struct event_row){
				   .name = run_intern(run, "instructions"),
				   .status = EVENT_COUNTED,
				   .flags = simulated ? EVENT_SIMULATED : 0,
				   .scale = 1,
			   });
	for (unsigned k = 0; k < count; k++) {
		run_add_execution(run, &(struct execution_row){.wall_ns = 400000000 + k,
					       .flags = simulated ? EXECUTION_NO_USAGE : 0});
		run_add_count(run, &(struct count_row){1, k + 1, 0, values[k], 9, 9});
	}
	return run;
}

static void two_simulated_runs_are_compared_exactly_and_have_no_time(void **state)
{
	const uint64_t before = 1000, after = 1500;
	run_auto struct run *a = run_of_values(true, &before, 1);
	run_auto struct run *b = run_of_values(true, &after, 1);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;
	const struct diff_count_row *row;

	(void)state;
	diff_counts_make(a, b, &arena, &view);
	row = row_of(&view, "instructions");
	assert_true(view.simulated_a && view.simulated_b);
	assert_true(row->simulated && row->exact && row->moved);
	assert_true(row->difference == 500 && fabs(row->change - 0.5) < 1e-9);
	assert_true(isnan(row->lo) && isnan(row->hi));
	assert_true(isnan(view.time.a) && isnan(view.time.b) && isnan(view.time.change));
	assert_string_equal(view.time.reason, "it was simulated, not timed");
	assert_null(strstr(view.explanation.text, "unknown"));
	assert_null(strstr(view.explanation.text, "page faults"));
	diff_counts_make(a, a, &arena, &view);
	row = row_of(&view, "instructions");
	assert_true(row->exact && !row->moved && row->difference == 0);
}

static void a_simulated_run_is_not_compared_with_a_measured_one(void **state)
{
	const uint64_t value = 1000;
	run_auto struct run *a = run_of_values(true, &value, 1);
	run_auto struct run *b = run_of_values(false, &value, 1);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;
	const struct diff_count_row *row;

	(void)state;
	diff_counts_make(a, b, &arena, &view);
	row = row_of(&view, "instructions");
	assert_true(row->a == 1000 && row->b == 1000);
	assert_true(isnan(row->change) && isnan(row->difference) && !row->moved);
	assert_string_equal(row->reason, "not comparable: simulated in A, measured in B");
	assert_true(isnan(view.time.a) && view.time.b == 400000000);
	assert_true(isnan(view.time.change));
	assert_non_null(strstr(view.explanation.text, "can be compared"));
}

static void a_simulation_of_a_part_of_a_run_is_not_compared(void **state)
{
	const uint64_t value = 1000;
	run_auto struct run *a = run_of_values(true, &value, 1);
	run_auto struct run *b = run_of_values(true, &value, 1);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	b->partial = true;
	diff_counts_make(a, b, &arena, &view);
	assert_false(row_of(&view, "instructions")->exact);
	assert_true(isnan(row_of(&view, "instructions")->change));
	assert_non_null(strstr(row_of(&view, "instructions")->reason, "the simulation of B"));
}

static void simulated_counts_that_differ_between_runs_are_not_called_exact(void **state)
{
	const uint64_t before[] = {1000, 1001, 1002, 1003, 1004, 1005};
	const uint64_t after[] = {1500, 1501, 1502, 1503, 1504, 1505};
	run_auto struct run *a = run_of_values(true, before, 6);
	run_auto struct run *b = run_of_values(true, after, 6);
	arena_auto struct arena arena = {0};
	struct diff_counts_view view;

	(void)state;
	diff_counts_make(a, b, &arena, &view);
	assert_true(row_of(&view, "instructions")->simulated);
	assert_false(row_of(&view, "instructions")->exact);
	assert_true(row_of(&view, "instructions")->lo > 0.4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_instructions_explain_the_time),
		cmocka_unit_test(a_miss_is_named_by_its_increase_at_its_price),
		cmocka_unit_test(the_clock_explains_what_cycles_do_not),
		cmocka_unit_test(one_run_of_each_side_has_a_change_and_no_interval),
		cmocka_unit_test(without_a_pmu_the_reason_stands_in_the_row),
		cmocka_unit_test(the_same_run_twice_shows_no_change),
		cmocka_unit_test(two_simulated_runs_are_compared_exactly_and_have_no_time),
		cmocka_unit_test(a_simulated_run_is_not_compared_with_a_measured_one),
		cmocka_unit_test(a_simulation_of_a_part_of_a_run_is_not_compared),
		cmocka_unit_test(simulated_counts_that_differ_between_runs_are_not_called_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
