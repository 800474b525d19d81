/* sample_walk_test.c - what exporters get: only what is used, everything named, nothing lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analyze/module_time.h"
#include "analyze/sample_walk.h"
#include "base/str.h"
#include "model/run.h"
#include "profile_text.h"

static const char shop[] = "event cpu-clock ns\n"
			   "thread 7 7 prog\n"
			   "period 1000\n"
			   "2 main;work:5;+tiny:9\n"
			   "1 main;twice;twice\n"
			   "thread 7 8 helper\n"
			   "period 3000\n"
			   "3 main;work:5;+tiny:9\n"
			   "1 ?@libx.so\n"
			   "1 -\n"
			   "event cycles\n"
			   "4 main;elsewhere@libz.so\n";

static void make(struct sample_walk *walk, const struct run *run, struct profile_filter filter,
	enum walk_order order)
{
	struct err err = {0};

	assert_int_equal(sample_walk_make(run, &filter, order, walk, &err), 0);
}

static const char *node_name(const struct sample_walk *walk, uint32_t node)
{
	return walk->functions.at[walk->frames.at[walk->nodes.at[node].frame].function].name;
}

/* "main;work;tiny" of a node. */
static void assert_chain(const struct sample_walk *walk, uint32_t node, const char *expected)
{
	walk_chain_auto struct walk_chain chain = {0};
	str_auto struct str text = {0};

	sample_walk_chain(walk, node, &chain);
	vec_foreach (const uint32_t, at, &chain.nodes)
		str_addf(&text, "%s%s", text.len ? ";" : "", node_name(walk, *at));
	assert_string_equal(str_text(&text), expected);
}

static void a_chain_holds_inlined_functions_as_steps_of_one_location(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	sample_walk_auto struct sample_walk walk = {0};
	const struct walk_node *tiny;

	(void)state;
	make(&walk, run, (struct profile_filter){0}, WALK_BY_TIME);
	assert_chain(&walk, walk.samples.at[0].node, "main;work;tiny");
	tiny = &walk.nodes.at[walk.samples.at[0].node];
	assert_int_equal(tiny->inline_depth, 1);
	assert_int_equal(walk.nodes.at[tiny->parent].inline_depth, 0);
	assert_int_equal(walk.nodes.at[tiny->parent].location, tiny->location);
	assert_int_equal(walk.frames.at[tiny->frame].line, 9);
	assert_chain(&walk, walk.samples.at[2].node, "main;twice;twice");
}

static void what_has_no_name_has_one_here(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	sample_walk_auto struct sample_walk walk = {0};

	(void)state;
	make(&walk, run, (struct profile_filter){0}, WALK_BY_TIME);
	assert_int_equal(walk.samples.count, 8);
	assert_chain(&walk, walk.samples.at[6].node, "[libx.so]");
	assert_chain(&walk, walk.samples.at[7].node, "[no stack]");
	assert_null(sample_walk_module(&walk, walk.samples.at[7].node));
	assert_string_equal(sample_walk_module(&walk, walk.samples.at[6].node)->name, "libx.so");
}

/* A line is known, but not the function: the module's name stands for it, the line stays. */
static void a_line_without_a_function_keeps_its_line(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	sample_walk_auto struct sample_walk walk = {0};
	row_id frame =
		run_add_frame(run, &(struct frame_row){.file = run_intern(run, "x.c"), .line = 77});
	row_id location = run_add_location(run, &(struct location_row){2, 0x99, frame, 0});
	row_id stack = run_add_stack(run, &(struct stack_row){0, location});

	(void)state;
	run_add_sample(run, &(struct sample_row){.time_ns = UINT32_MAX * 2ULL,
				    .period = 1,
				    .event = 1,
				    .thread = 1,
				    .stack = stack});
	make(&walk, run, (struct profile_filter){0}, WALK_BY_TIME);
	assert_chain(&walk, walk.samples.at[8].node, "[libx.so]");
	frame = walk.nodes.at[walk.samples.at[8].node].frame;
	assert_int_equal(walk.frames.at[frame].line, 77);
	assert_string_equal(walk.frames.at[frame].file, "x.c");
}

static void only_what_the_samples_use_is_in_the_tables(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	sample_walk_auto struct sample_walk walk = {0};

	(void)state;
	make(&walk, run, (struct profile_filter){.event = "cycles"}, WALK_BY_TIME);
	assert_int_equal(walk.functions.count, 2);
	assert_int_equal(walk.modules.count, 2);
	assert_int_equal(walk.threads.count, 1);
	assert_int_equal(walk.nodes.count, 2);
	assert_int_equal(walk.total_samples, 4);
	assert_false(walk.period_is_ns);
	assert_true(sample_walk_others(run, walk.event_row) == 8);
}

static void merged_samples_add_up_by_thread(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	sample_walk_auto struct sample_walk walk = {0};
	uint64_t samples = 0, period = 0;

	(void)state;
	make(&walk, run, (struct profile_filter){0}, WALK_MERGED);
	assert_int_equal(walk.samples.count, 5); /* tiny is in both threads */
	vec_foreach (const struct walk_sample, sample, &walk.samples) {
		samples += sample->samples;
		period += sample->period;
	}
	assert_true(samples == 8 && walk.total_samples == 8);
	assert_true(period == 3 * 1000 + 5 * 3000 && walk.total_period == period);
	assert_true(walk.common_period == 0 && walk.period_is_ns);
}

static void samples_come_in_the_order_that_was_asked_for(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	struct sample_row early = {.time_ns = 5, .period = 1, .event = 1, .thread = 2};

	(void)state;
	run_add_sample(run, &early); /* CPUs are written one after the other: time is not sorted */
	for (enum walk_order order = WALK_BY_TIME; order <= WALK_BY_THREAD; order++) {
		sample_walk_auto struct sample_walk walk = {0};

		make(&walk, run, (struct profile_filter){0}, order);
		assert_int_equal(walk.samples.count, 9);
		for (uint32_t i = 1; i < walk.samples.count; i++) {
			const struct walk_sample *at = &walk.samples.at[i];

			if (order == WALK_BY_THREAD)
				assert_true(at[-1].thread <= at->thread);
			if (order == WALK_BY_TIME || at[-1].thread == at->thread)
				assert_true(at[-1].time_ns <= at->time_ns);
		}
		assert_true(walk.first_ns == 5);
	}
}

static void samples_without_periods_weigh_one_each(void **state)
{
	run_auto struct run *run = profile_text_run("event cycles\nperiod 0\n3 main\n");
	sample_walk_auto struct sample_walk walk = {0};

	(void)state;
	make(&walk, run, (struct profile_filter){0}, WALK_MERGED);
	assert_false(walk.weighted);
	assert_true(walk.samples.at[0].period == 3);
	assert_string_equal(walk.unit, "samples");
}

/* A shell that waits has few samples; a program has those in its libraries too, each once. */
static void time_is_in_the_files_that_are_on_the_stacks(void **state)
{
	run_auto struct run *run = profile_text_run(
		"event cpu-clock ns\nperiod 1000\n"
		"3 main@/bin/prog;work@/bin/prog;memcpy@/lib/libc.so.6\n1 main@/bin/sh\n");
	arena_auto struct arena arena = {0};
	struct module_time *times;
	struct err err = {0};
	uint32_t count;

	(void)state;
	assert_int_equal(module_times_make(run, &arena, &times, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_string_equal(times[2].path, "/bin/sh");
	assert_true(fabs(times[0].share - 0.75) < 1e-9 && fabs(times[1].share - 0.75) < 1e-9);
	assert_true(fabs(times[2].share - 0.25) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_holds_inlined_functions_as_steps_of_one_location),
		cmocka_unit_test(what_has_no_name_has_one_here),
		cmocka_unit_test(a_line_without_a_function_keeps_its_line),
		cmocka_unit_test(only_what_the_samples_use_is_in_the_tables),
		cmocka_unit_test(merged_samples_add_up_by_thread),
		cmocka_unit_test(samples_come_in_the_order_that_was_asked_for),
		cmocka_unit_test(time_is_in_the_files_that_are_on_the_stacks),
		cmocka_unit_test(samples_without_periods_weigh_one_each),
	};

	return cmocka_run_group_tests_name("sample_walk", tests, NULL, NULL);
}
