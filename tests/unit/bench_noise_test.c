/* bench_noise_test.c - which runs were disturbed, and what stands beside the runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/bench.h"
#include "model/run.h"

enum { MS = 1000000 };

struct fixture {
	struct run *run;
	struct arena arena;
	struct bench_view view;
	struct err err;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){.run = run_open()};
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "one")});
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "two")});
}

static void make(struct fixture *f)
{
	assert_int_equal(bench_view_make(f->run, false, &f->arena, &f->view, &f->err), 0);
}

static void end(struct fixture *f)
{
	run_close(f->run);
	arena_done(&f->arena);
}

/* The noise of a run of 100 ms. */
static unsigned noise_of(struct execution_row row)
{
	struct fixture f;
	unsigned noise;

	begin(&f);
	row.command = 1;
	row.wall_ns = 100 * MS;
	row.flags |= EXECUTION_STEAL | EXECUTION_PRESSURE;
	run_add_execution(f.run, &row);
	make(&f);
	noise = f.view.commands[0].marks[0].noise;
	assert_int_equal(f.view.commands[0].dirty_count, noise != 0);
	end(&f);
	return noise;
}

static void a_run_is_dirty_by_rule(void **state)
{
	(void)state;
	assert_int_equal(noise_of((struct execution_row){.involuntary_switches = 12}), 0);
	assert_int_equal(
		noise_of((struct execution_row){.involuntary_switches = 13}), BENCH_NOISE_PUSHED);
	assert_int_equal(noise_of((struct execution_row){.steal_ns = MS - 1000}), 0);
	assert_int_equal(noise_of((struct execution_row){.steal_ns = MS}), BENCH_NOISE_STEAL);
	assert_int_equal(noise_of((struct execution_row){.pressure_ns = 10 * MS - 1000}), 0);
	assert_int_equal(
		noise_of((struct execution_row){.pressure_ns = 10 * MS}), BENCH_NOISE_PRESSURE);
	assert_int_equal(noise_of((struct execution_row){.flags = EXECUTION_THROTTLED}),
		BENCH_NOISE_THROTTLED);
	assert_int_equal(noise_of((struct execution_row){.steal_ns = MS, .pressure_ns = 10 * MS}),
		BENCH_NOISE_STEAL | BENCH_NOISE_PRESSURE);
}

static void the_median_without_disturbed_runs_stands_beside_the_other(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 9; i++)
		run_add_execution(f.run, &(struct execution_row){
						 .command = 1,
						 .wall_ns = i < 3 ? 10 * MS : 90 * MS,
						 .flags = i < 3 ? 0 : EXECUTION_THROTTLED,
					 });
	make(&f);
	assert_int_equal(f.view.commands[0].dirty_count, 6);
	assert_int_equal(f.view.commands[0].clean_wall.count, 3);
	assert_true(f.view.commands[0].clean_wall.median == 10 * MS);
	assert_true(f.view.commands[0].wall.median == 90 * MS);
	end(&f);
}

static void equal_runs_have_no_spread_and_nothing_far_off(void **state)
{
	struct fixture f;
	const struct bench_command *one;

	(void)state;
	begin(&f);
	for (unsigned i = 0; i < 20; i++)
		run_add_execution(
			f.run, &(struct execution_row){.command = 1 + i % 2, .wall_ns = MS});
	make(&f);
	one = &f.view.commands[0];
	assert_true(one->wall.deviation == 0 && one->wall.mad == 0);
	assert_int_equal(one->wall.far + one->wall.extreme, 0);
	assert_true(isfinite(one->wall.median_interval.lo));
	assert_int_equal(f.view.ratio_count, 1);
	assert_true(f.view.ratios[0].wall.effect == 0);
	end(&f);
}

static void wrong_output_is_a_failure_and_is_not_used(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	run_add_execution(
		f.run, &(struct execution_row){
			       .command = 1, .wall_ns = MS, .flags = EXECUTION_WRONG_OUTPUT});
	make(&f);
	assert_int_equal(f.view.commands[0].used_count, 0);
	assert_int_equal(f.view.commands[0].failed_count, 1);
	assert_non_null(f.view.commands[0].failed);
	end(&f);
}

static void field(struct run *run, const char *group, const char *name, const char *value)
{
	run_add_field(run, &(struct field_row){
				   .group = run_intern(run, group),
				   .name = run_intern(run, name),
				   .value = run_intern(run, value),
			   });
}

static void parameters_belong_to_their_command(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	field(f.run, "parameter", "2.threads", "8");
	field(f.run, "parameter", "2.mode", "");
	field(f.run, "parameter", "1.threads", "4");
	field(f.run, "parameter", "3.threads", "there is no such command");
	field(f.run, "parameter", "threads", "of none");
	field(f.run, "parameter", "1.", "without a name");
	field(f.run, "env", "cache_state", "cold");
	make(&f);
	assert_int_equal(f.view.commands[0].parameter_count, 1);
	assert_string_equal(f.view.commands[0].parameters[0].value, "4");
	assert_int_equal(f.view.commands[1].parameter_count, 2);
	assert_string_equal(f.view.commands[1].parameters[0].name, "threads");
	assert_string_equal(f.view.commands[1].parameters[1].value, "");
	assert_string_equal(f.view.cache_state, "cold");
	assert_null(f.view.output_sha256);
	end(&f);
}

static void a_rate_has_the_interval_of_the_time_upside_down(void **state)
{
	struct bench_command command = {
		.wall = {.median = 2e9, .median_interval = {.lo = 1e9, .hi = 4e9}}};
	struct bench_rate rate = bench_rate_of(&command, 1000);

	(void)state;
	assert_true(rate.median == 500 && rate.lo == 250 && rate.hi == 1000);
	command.wall.median_interval.hi = (double)INFINITY;
	assert_true(isnan(bench_rate_of(&command, 1000).lo));
	assert_true(isnan(bench_rate_of(&command, 1000).hi));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_dirty_by_rule),
		cmocka_unit_test(the_median_without_disturbed_runs_stands_beside_the_other),
		cmocka_unit_test(equal_runs_have_no_spread_and_nothing_far_off),
		cmocka_unit_test(wrong_output_is_a_failure_and_is_not_used),
		cmocka_unit_test(parameters_belong_to_their_command),
		cmocka_unit_test(a_rate_has_the_interval_of_the_time_upside_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
