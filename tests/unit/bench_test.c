/* bench_test.c - which runs are used, which make pairs, and what explains one that is far off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/ab.h"
#include "analyze/bench.h"
#include "model/run.h"

struct fixture {
	struct run *run;
	struct arena arena;
	struct bench_view view;
	struct err err;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){.run = run_open()};
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "old 'a b'")});
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "new")});
}

static void end(struct fixture *f)
{
	run_close(f->run);
	arena_done(&f->arena);
}

static struct execution_packed *add(struct fixture *f, row_id command, uint64_t wall_ns)
{
	row_id id =
		run_add_execution(f->run, &(struct execution_row){.command = command,
						  .wall_ns = wall_ns,
						  .user_ns = wall_ns / 2,
						  .flags = EXECUTION_STEAL | EXECUTION_PRESSURE});

	return &f->run->executions.at[id - 1];
}

static void make(struct fixture *f, bool ignore_failure)
{
	assert_int_equal(bench_view_make(f->run, ignore_failure, &f->arena, &f->view, &f->err), 0);
}

static void warmups_failures_and_interrupted_runs_are_not_used(void **state)
{
	struct fixture f;
	const struct bench_command *old;

	(void)state;
	begin(&f);
	add(&f, 1, 999)->flags |= EXECUTION_WARMUP;
	add(&f, 1, 100);
	add(&f, 1, 100)->exit_status = 3;
	add(&f, 1, 100)->flags |= EXECUTION_TIMED_OUT;
	add(&f, 1, 100)->flags |= EXECUTION_INTERRUPTED;
	make(&f, false);
	old = &f.view.commands[0];
	assert_string_equal(old->argv[1], "a b");
	assert_int_equal(old->run_count, 5);
	assert_int_equal(old->warmup_count, 1);
	assert_int_equal(old->used_count, 1);
	assert_int_equal(old->failed->number, 2);
	make(&f, true);
	assert_int_equal(f.view.commands[0].used_count, 2); /* the one that failed, too */
	end(&f);
}

static void only_runs_of_the_same_round_make_a_pair(void **state)
{
	const struct compare_rule rule = {0};
	struct fixture f;
	struct ab_view ab;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 4; i++) {
		add(&f, 1, 100 + i);
		add(&f, 2, 200 + i)->exit_status = i == 1; /* round 2 has no pair */
	}
	make(&f, false);
	assert_int_equal(ab_view_make(&f.view, &rule, &f.arena, &ab, &f.err), 0);
	assert_int_equal(ab.pair_count, 3);
	assert_int_equal(bench_run_at(ab.a, ab.pairs[1].a).wall_ns, 102);
	assert_int_equal(bench_run_at(ab.b, ab.pairs[1].b).wall_ns, 202);
	assert_int_equal(ab.verdict.outcome, COMPARE_REGRESSED); /* plainly */
	end(&f);
}

static void twice_the_time_is_a_regression_and_settled(void **state)
{
	const struct compare_rule rule = {0};
	struct fixture f;
	struct ab_view ab;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 20; i++) {
		add(&f, 1, 100000 + i * 7 % 5 * 100);
		add(&f, 2, 200000 + i * 3 % 7 * 100);
	}
	make(&f, false);
	assert_int_equal(f.view.fastest, 0);
	assert_int_equal(f.view.ratio_count, 1);
	assert_true(f.view.ratios[0].wall.effect > 0.9 && f.view.ratios[0].wall.effect < 1.1);
	assert_int_equal(ab_view_make(&f.view, &rule, &f.arena, &ab, &f.err), 0);
	assert_int_equal(ab.verdict.outcome, COMPARE_REGRESSED);
	assert_true(ab_is_settled(&ab));
	end(&f);
}

static void cpu_time_below_the_kernels_accounting_is_not_judged(void **state)
{
	const struct compare_rule rule = {0};
	struct fixture f;
	struct ab_view ab;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 8; i++) {
		add(&f, 1, 100 + i)->user_ns = i == 5 ? 0 : 50;
		add(&f, 2, 101 + i);
	}
	make(&f, false);
	assert_int_equal(ab_view_make(&f.view, &rule, &f.arena, &ab, &f.err), 0);
	assert_false(ab.cpu_is_known);
	assert_int_equal(ab.metric_count, 1);
	end(&f);
}

/* One run of 40 takes twice as long; `what` is done to it. */
static enum bench_cause cause_of(void (*what)(struct execution_packed *row))
{
	struct fixture f;
	enum bench_cause cause;

	begin(&f);
	for (uint64_t i = 0; i < 40; i++) {
		struct execution_packed *row = add(&f, 1, 1000000 + i * 7 % 5 * 1000);

		row->user_ns = 500000;
		if (i == 20) {
			row->wall_ns = 2000000;
			what(row);
		}
	}
	make(&f, false);
	assert_int_not_equal(f.view.commands[0].marks[20].far, OUTLIER_NONE);
	cause = f.view.commands[0].marks[20].cause;
	assert_int_equal(f.view.commands[0].causes[cause], 1);
	end(&f);
	return cause;
}

static void nothing(struct execution_packed *row)
{
	(void)row;
}

static void disk(struct execution_packed *row)
{
	row->major_faults = 3;
	row->involuntary_switches = 5;
}

static void steal(struct execution_packed *row)
{
	row->steal_us = 900;
}

static void steal_not_measured(struct execution_packed *row)
{
	steal(row);
	row->flags &= (uint16_t)~EXECUTION_STEAL;
}

static void work(struct execution_packed *row)
{
	row->user_ns = 1400000;
}

static void pushed(struct execution_packed *row)
{
	row->involuntary_switches = 2;
}

static void pressure(struct execution_packed *row)
{
	row->pressure_us = 800;
}

static void quick(struct execution_packed *row)
{
	row->wall_ns = 10;
}

static void a_run_far_off_is_named_with_the_strongest_evidence(void **state)
{
	(void)state;
	assert_int_equal(cause_of(nothing), BENCH_CAUSE_UNKNOWN);
	assert_int_equal(cause_of(disk), BENCH_CAUSE_DISK);
	assert_int_equal(cause_of(steal), BENCH_CAUSE_STEAL);
	assert_int_equal(cause_of(steal_not_measured), BENCH_CAUSE_UNKNOWN);
	assert_int_equal(cause_of(work), BENCH_CAUSE_CPU);
	assert_int_equal(cause_of(pushed), BENCH_CAUSE_PUSHED);
	assert_int_equal(cause_of(pressure), BENCH_CAUSE_PRESSURE);
	assert_int_equal(cause_of(quick), BENCH_CAUSE_FASTER);
}

static void a_run_costs_the_view_eight_bytes_and_the_run_seventy_two(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct bench_mark), 8);
	assert_int_equal(sizeof(struct execution_packed), 72);
}

/* A file may hold them in any order. */
static void warmups_come_first_and_are_numbered_apart(void **state)
{
	struct fixture f;
	const struct bench_command *old;

	(void)state;
	begin(&f);
	for (unsigned i = 0; i < 5; i++)
		add(&f, 1, 100 + i)->flags |= i % 2 ? EXECUTION_WARMUP : 0;
	make(&f, false);
	old = &f.view.commands[0];
	assert_int_equal(old->warmup_count, 2);
	assert_int_equal(bench_run_at(old, 1).wall_ns, 103);
	assert_int_equal(bench_run_at(old, 1).number, 2);
	assert_int_equal(bench_run_at(old, 2).wall_ns, 100);
	assert_int_equal(bench_run_at(old, 2).number, 1);
	assert_int_equal(bench_run_at(old, 4).position, 5);
	assert_int_equal(bench_run_at(old, 4).number, 3);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warmups_failures_and_interrupted_runs_are_not_used),
		cmocka_unit_test(only_runs_of_the_same_round_make_a_pair),
		cmocka_unit_test(twice_the_time_is_a_regression_and_settled),
		cmocka_unit_test(cpu_time_below_the_kernels_accounting_is_not_judged),
		cmocka_unit_test(a_run_costs_the_view_eight_bytes_and_the_run_seventy_two),
		cmocka_unit_test(warmups_come_first_and_are_numbered_apart),
		cmocka_unit_test(a_run_far_off_is_named_with_the_strongest_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
