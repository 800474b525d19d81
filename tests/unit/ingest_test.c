/* ingest_test.c - records and samples in, the right rows out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>

#include "base/str.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "wire/build.h"
#include "wire/sample.h"

struct bench {
	struct run *run;
	struct ingest ingest;
	struct wire_sink sink;
};

static int open_bench(void **state)
{
	struct bench *bench = test_calloc(1, sizeof(*bench));

	bench->run = run_open();
	bench->ingest.run = bench->run;
	bench->sink = ingest_sink(&bench->ingest);
	run_add_event(bench->run, &(struct event_row){.name = run_intern(bench->run, "cpu-clock")});
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	ingest_done(&bench->ingest);
	run_close(bench->run);
	test_free(bench);
	return 0;
}

static void map(struct bench *bench, uint32_t pid, uint64_t start, const char *path, uint64_t time)
{
	union {
		struct wire_map map;
		unsigned char bytes[512];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_MAP, sizeof(space.map));

	space.map.pid = space.map.tid = pid;
	space.map.start = start;
	space.map.len = 0x1000;
	space.map.file_offset = 0x3000;
	space.map.time_ns = time;
	wire_add_text(&b, &space.map.path, path);
	assert_int_equal(bench->sink.take(bench->sink.context, wire_end(&b)), 0);
}

static void map_kernel(struct bench *bench)
{
	struct wire_map all = {.head = {WIRE_MAP, sizeof(all)},
		.flags = WIRE_MAP_KERNEL,
		.start = 0xffffffff80000000};

	bench->sink.take(bench->sink.context, &all.head);
}

static void task(struct bench *bench, enum wire_task_kind kind, uint32_t pid, uint32_t parent,
	const char *name, uint64_t time)
{
	union {
		struct wire_task task;
		unsigned char bytes[256];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_TASK, sizeof(space.task));

	space.task.kind = kind;
	space.task.pid = space.task.tid = pid;
	space.task.parent_pid = space.task.parent_tid = parent;
	space.task.time_ns = time;
	wire_add_text(&b, &space.task.name, name);
	assert_int_equal(bench->sink.take(bench->sink.context, wire_end(&b)), 0);
}

static void sample(struct bench *bench, uint32_t pid, uint64_t ip, uint64_t time)
{
	struct wire_sample one = {
		.event = 1, .pid = pid, .tid = pid, .ip = ip, .time_ns = time, .period = 1};

	assert_int_equal(bench->sink.take_sample(bench->sink.context, &one), 0);
}

/* The innermost location of the newest sample. */
static const struct location_row *place(const struct bench *bench, uint32_t index)
{
	const struct run *run = bench->run;

	return &run->locations.at[run->stacks.at[run->samples.at[index].stack - 1].location - 1];
}

static const char *module_at(const struct bench *bench, uint32_t index)
{
	row_id module = place(bench, index)->module;

	return module ? run_text(bench->run, bench->run->modules.at[module - 1].path) : "none";
}

static void an_address_is_found_in_its_mapping(void **state)
{
	struct bench *bench = *state;

	map(bench, 7, 0x400000, "/no/such/program", 1);
	sample(bench, 7, 0x400123, 2);
	sample(bench, 7, 0x500000, 3);
	sample(bench, 8, 0x400123, 4);
	ingest_end(&bench->ingest);
	assert_string_equal(module_at(bench, 0), "/no/such/program");
	assert_true(place(bench, 0)->addr == 0x3123); /* no file: the offset in it */
	assert_string_equal(module_at(bench, 1), "none");
	assert_string_equal(module_at(bench, 2), "none");
}

static void a_newer_mapping_hides_an_older_one_from_its_time_on(void **state)
{
	struct bench *bench = *state;

	map(bench, 7, 0x400000, "/no/old", 10);
	map(bench, 7, 0x400800, "/no/new", 20);
	sample(bench, 7, 0x400900, 30);
	sample(bench, 7, 0x400900, 15); /* late, from another ring */
	sample(bench, 7, 0x400100, 31); /* what is left of the old one */
	ingest_end(&bench->ingest);
	assert_string_equal(module_at(bench, 0), "/no/old"); /* in order of time */
	assert_true(place(bench, 0)->addr == 0x3900);
	assert_string_equal(module_at(bench, 1), "/no/new");
	assert_true(place(bench, 1)->addr == 0x3100);
	assert_string_equal(module_at(bench, 2), "/no/old");
}

static void a_hole_in_the_middle_leaves_both_sides_where_they_were(void **state)
{
	struct bench *bench = *state;
	struct wire_map large = {.head = {WIRE_MAP, sizeof(large)},
		.pid = 7,
		.start = 0x100000,
		.len = 0x10000,
		.time_ns = 1};

	bench->sink.take(bench->sink.context, &large.head);
	map(bench, 7, 0x104000, "/no/inside", 2);
	sample(bench, 7, 0x100010, 3);
	sample(bench, 7, 0x104010, 4);
	sample(bench, 7, 0x10a010, 5);
	ingest_end(&bench->ingest);
	assert_string_equal(module_at(bench, 0), "[jit 7]");
	assert_string_equal(module_at(bench, 1), "/no/inside");
	assert_string_equal(module_at(bench, 2), "[jit 7]");
	assert_true(place(bench, 2)->addr == 0x10a010); /* JIT code is named by its address */
}

static void a_child_has_its_parents_mappings_until_it_execs(void **state)
{
	struct bench *bench = *state;

	map(bench, 7, 0x400000, "/no/parent", 1);
	task(bench, WIRE_TASK_FORK, 9, 7, NULL, 5);
	map(bench, 7, 0x600000, "/no/later", 6); /* not the child's */
	sample(bench, 9, 0x400010, 7);
	sample(bench, 9, 0x600010, 8);
	task(bench, WIRE_TASK_EXEC, 9, 0, "child", 10);
	map(bench, 9, 0x700000, "/no/child", 11);
	sample(bench, 9, 0x400010, 12);
	sample(bench, 9, 0x700010, 13);
	sample(bench, 9, 0x400010, 9); /* late, from before the exec */
	ingest_end(&bench->ingest);
	assert_string_equal(module_at(bench, 0), "/no/parent");
	assert_string_equal(module_at(bench, 1), "none");
	assert_string_equal(module_at(bench, 2), "/no/parent");
	assert_string_equal(module_at(bench, 3), "none");
	assert_string_equal(module_at(bench, 4), "/no/child");
}

static void a_thread_has_a_row_for_each_name_it_bore(void **state)
{
	struct bench *bench = *state;
	const struct run *run = bench->run;

	task(bench, WIRE_TASK_NAME, 7, 0, "shell", 1);
	task(bench, WIRE_TASK_FORK, 9, 7, NULL, 2);
	sample(bench, 9, 1, 3);
	task(bench, WIRE_TASK_EXEC, 9, 0, "ls", 4);
	sample(bench, 9, 1, 5);
	sample(bench, 9, 1, 6);
	ingest_end(&bench->ingest);
	assert_int_equal(run->threads.count, 2);
	assert_string_equal(run_text(run, run->threads.at[0].name), "shell");
	assert_string_equal(run_text(run, run->threads.at[1].name), "ls");
	assert_int_equal(run->samples.at[2].thread, 2);
}

static void samples_are_in_order_of_time_also_across_rounds(void **state)
{
	struct bench *bench = *state;
	static const uint64_t times[] = {5, 3, 9, 7, 12, 11};
	struct wire_round round = {.head = {WIRE_ROUND, sizeof(round)}, .time_ns = 7};

	for (unsigned i = 0; i < 4; i++)
		sample(bench, 7, 1, times[i]);
	bench->sink.take(bench->sink.context, &round.head);
	assert_int_equal(bench->run->samples.count, 3);
	for (unsigned i = 4; i < 6; i++)
		sample(bench, 7, 1, times[i]);
	ingest_end(&bench->ingest);
	assert_int_equal(bench->run->samples.count, 6);
	for (uint32_t i = 1; i < 6; i++)
		assert_true(
			bench->run->samples.at[i - 1].time_ns < bench->run->samples.at[i].time_ns);
}

static void the_chain_goes_from_the_kernel_to_the_outermost_user_frame(void **state)
{
	struct bench *bench = *state;
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff80001000,
		0xffffffff80002000, (uint64_t)PERF_CONTEXT_USER, 0x400010, 0x400020};
	const uint64_t expected[] = {0xffffffff80001000, 0xffffffff80001fff, 0x3010, 0x301f};
	struct wire_sample one = {.event = 1,
		.pid = 7,
		.tid = 7,
		.flags = WIRE_SAMPLE_KERNEL,
		.ip = 0xffffffff80001000,
		.chain = chain,
		.chain_count = 6};
	const struct run *run = bench->run;
	row_id stack;

	map_kernel(bench);
	map(bench, 7, 0x400000, "/no/program", 0);
	bench->sink.take_sample(bench->sink.context, &one);
	ingest_end(&bench->ingest);
	stack = run->samples.at[0].stack;
	for (unsigned i = 0; i < 4; i++) {
		const struct stack_row *row = &run->stacks.at[stack - 1];
		const struct location_row *location = &run->locations.at[row->location - 1];

		assert_true(location->addr == expected[i]);
		assert_int_equal(!!(location->flags & LOCATION_KERNEL), i < 2);
		assert_int_equal(!!(location->flags & LOCATION_CALLER), i % 2);
		stack = row->parent;
	}
	assert_int_equal(stack, 0);
	assert_true(run->samples.at[0].flags & SAMPLE_KERNEL);
}

static void frames_that_come_with_names_keep_their_inlining(void **state)
{
	struct bench *bench = *state;
	const struct wire_named frames[] = {
		{.function = "leaf", .file = "a.c", .line = 3, .module = "prog", .inlined = true},
		{.function = "middle", .file = "a.c", .line = 9, .module = "prog"},
		{.function = "main", .module = "prog"},
	};
	struct wire_sample one = {
		.event = 1, .pid = 7, .tid = 7, .named = frames, .named_count = 3};
	const struct run *run = bench->run;
	const struct frame_row *frame;

	bench->sink.take_sample(bench->sink.context, &one);
	bench->sink.take_sample(bench->sink.context, &one);
	ingest_end(&bench->ingest);
	assert_int_equal(run->functions.count, 3);
	assert_int_equal(run->stacks.count, 2);
	assert_int_equal(run->samples.at[0].stack, run->samples.at[1].stack);
	frame = &run->frames.at[place(bench, 0)->frame - 1];
	assert_string_equal(run_text(run, run->functions.at[frame->function - 1].name), "leaf");
	frame = &run->frames.at[frame->outer - 1];
	assert_string_equal(run_text(run, run->functions.at[frame->function - 1].name), "middle");
	assert_int_equal(frame->outer, 0);
}

static void a_numbered_frame_is_one_place_alone_and_another_with_what_was_inlined(void **state)
{
	struct bench *bench = *state;
	struct wire_named frames[] = {
		{.function = "leaf", .known = 1, .inlined = true},
		{.function = "middle", .known = 2},
		{.function = "main", .known = 3},
	};
	struct wire_sample whole = {.event = 1, .named = frames, .named_count = 3};
	struct wire_sample outer = {.event = 1, .named = frames + 1, .named_count = 2};
	const struct run *run = bench->run;

	for (unsigned i = 0; i < 3; i++) {
		bench->sink.take_sample(bench->sink.context, &whole);
		bench->sink.take_sample(bench->sink.context, &outer);
	}
	ingest_next_source(&bench->ingest); /* which numbers its frames anew */
	frames[2].function = "other";
	bench->sink.take_sample(bench->sink.context, &outer);
	ingest_end(&bench->ingest);
	assert_int_equal(run->samples.count, 7);
	assert_int_equal(run->locations.count, 4); /* main, middle with leaf, middle, other */
	assert_int_equal(run->stacks.count, 5);
	assert_int_equal(run->samples.at[0].stack, run->samples.at[4].stack);
	assert_int_equal(run->samples.at[1].stack, run->samples.at[5].stack);
	assert_int_not_equal(run->samples.at[0].stack, run->samples.at[1].stack);
	assert_int_not_equal(run->samples.at[1].stack, run->samples.at[6].stack);
}

/* Chains over few functions, so that each branches, ends and goes on in every way. */
static void the_same_chain_is_the_same_stack_in_whatever_order_they_come(void **state)
{
	static const char *const names[] = {"a", "b", "c"};
	struct bench *bench = *state;
	const struct run *run = bench->run;
	row_id first[729] = {0};

	for (unsigned i = 0; i < 2 * 729; i++) {
		struct wire_named frames[6];
		unsigned chain = i * 365 % 729, rest = chain, depth = 1 + chain % 6;

		for (unsigned f = 0; f < depth; f++, rest /= 3)
			frames[depth - 1 - f] = (struct wire_named){.function = names[rest % 3]};
		bench->sink.take_sample(bench->sink.context,
			&(struct wire_sample){.event = 1, .named = frames, .named_count = depth});
		if (!first[chain])
			first[chain] = run->samples.at[i].stack;
		assert_int_equal(run->samples.at[i].stack, first[chain]);
	}
	for (uint32_t i = 0; i < run->stacks.count; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_false(run->stacks.at[i].parent == run->stacks.at[j].parent &&
				     run->stacks.at[i].location == run->stacks.at[j].location);
}

static void what_was_lost_is_counted(void **state)
{
	struct bench *bench = *state;
	struct wire_lost lost = {
		.head = {WIRE_LOST, sizeof(lost)}, .kind = WIRE_LOST_SAMPLES, .count = 5};
	uint64_t value = 0;

	bench->sink.take(bench->sink.context, &lost.head);
	bench->sink.take(bench->sink.context, &lost.head);
	sample(bench, 7, 1, 1);
	ingest_end(&bench->ingest);
	assert_true(run_get_quality(bench->run, "lost_samples", &value) && value == 10);
	assert_true(run_get_quality(bench->run, "samples", &value) && value == 1);
	assert_true(run_get_quality(bench->run, "unknown_addresses", &value) && value == 1);
}

static void emit_event(struct bench *bench, uint32_t id, const char *name)
{
	union {
		struct wire_event event;
		unsigned char bytes[256];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_EVENT, sizeof(space.event));

	space.event.event = id;
	space.event.scale = 1;
	wire_add_text(&b, &space.event.name, name);
	assert_int_equal(bench->sink.take(bench->sink.context, wire_end(&b)), 0);
}

static void emit_count(struct bench *bench, uint32_t event, uint32_t execution, uint64_t value)
{
	struct wire_count count = {.head = {WIRE_COUNT, sizeof(count)},
		.event = event,
		.execution = execution,
		.value = value};

	assert_int_equal(bench->sink.take(bench->sink.context, &count.head), 0);
}

static void a_second_source_counts_its_events_from_one_again(void **state)
{
	struct bench *bench = *state;
	const struct run *run = bench->run;

	emit_count(bench, 1, 1, 7);
	run_add_execution(bench->run, &(struct execution_row){.wall_ns = 1});
	ingest_next_source(&bench->ingest);
	emit_event(bench, 1, "cycles");
	emit_event(bench, 1, "cycles:u"); /* again, with its final name */
	sample(bench, 10, 0x1000, 5);
	emit_count(bench, 1, 1, 8);
	emit_count(bench, 2, 1, 9); /* there is no second event: dropped */
	ingest_end(&bench->ingest);
	assert_int_equal(run->events.count, 2);
	assert_string_equal(run_text(run, run->events.at[0].name), "cpu-clock");
	assert_string_equal(run_text(run, run->events.at[1].name), "cycles:u");
	assert_int_equal(run->samples.at[0].event, 2);
	assert_int_equal(run->counts.count, 2);
	assert_int_equal(run->counts.at[0].event, 1);
	assert_int_equal(run->counts.at[1].event, 2);
	assert_int_equal(run->counts.at[1].execution, 2);
	assert_int_equal(bench->ingest.malformed, 1);
}

#define on_bench(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_bench(an_address_is_found_in_its_mapping),
		on_bench(a_newer_mapping_hides_an_older_one_from_its_time_on),
		on_bench(a_hole_in_the_middle_leaves_both_sides_where_they_were),
		on_bench(a_child_has_its_parents_mappings_until_it_execs),
		on_bench(a_thread_has_a_row_for_each_name_it_bore),
		on_bench(samples_are_in_order_of_time_also_across_rounds),
		on_bench(the_chain_goes_from_the_kernel_to_the_outermost_user_frame),
		on_bench(frames_that_come_with_names_keep_their_inlining),
		on_bench(a_numbered_frame_is_one_place_alone_and_another_with_what_was_inlined),
		on_bench(the_same_chain_is_the_same_stack_in_whatever_order_they_come),
		on_bench(what_was_lost_is_counted),
		on_bench(a_second_source_counts_its_events_from_one_again),
	};

	return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}
