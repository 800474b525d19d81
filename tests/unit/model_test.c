/* model_test.c - ids, texts and rows of a run in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/run.h"

static void the_same_text_has_one_id_and_no_text_is_zero(void **state)
{
	run_auto struct run *run = run_open();
	text_id first = run_intern(run, "cycles"), second = run_intern(run, "instructions");

	(void)state;
	assert_int_equal(first, 1);
	assert_int_equal(second, 2);
	assert_int_equal(run_intern(run, "cycles"), first);
	assert_int_equal(run_intern(run, ""), 0);
	assert_int_equal(run_intern(run, NULL), 0);
	assert_int_equal(run_text_count(run), 2);
	assert_string_equal(run_text(run, second), "instructions");
	assert_string_equal(run_text(run, 0), "");
	assert_string_equal(run_text(run, 3), "");
	assert_string_equal(run_text(run, UINT32_MAX), "");
}

static void a_text_stays_where_it_is_while_others_are_added(void **state)
{
	run_auto struct run *run = run_open();
	const char *first = run_text(run, run_intern(run, "first"));
	char text[32];

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(run_intern(run, text), i + 2);
	}
	assert_ptr_equal(run_text(run, 1), first);
	assert_string_equal(first, "first");
	assert_string_equal(run_text(run, 20001), "text 19999");
}

static void ids_of_rows_count_from_one_in_each_table(void **state)
{
	run_auto struct run *run = run_open();

	(void)state;
	for (row_id id = 1; id <= 100; id++) {
		assert_int_equal(run_add_thread(run, &(struct thread_row){.tid = id}), id);
		assert_int_equal(run_add_stack(run, &(struct stack_row){.parent = id - 1}), id);
	}
	assert_int_equal(run_add_note(run, "code", "text", NULL), 1);
	assert_int_equal(run->threads.at[41].tid, 42);
	assert_int_equal(run->stacks.at[99].parent, 99);
	assert_int_equal(run->notes.at[0].hint, 0);
	assert_string_equal(run_text(run, run->notes.at[0].text), "text");
}

static void a_frozen_run_takes_no_more_rows(void **state)
{
	run_auto struct run *run = run_open();
	int status;
	pid_t child;

	(void)state;
	run_add_note(run, "code", "text", "hint");
	run_freeze(run);
	child = fork();
	if (child == 0) {
		close(STDERR_FILENO); /* what assert() says */
		signal(SIGABRT, SIG_DFL);
		run_add_note(run, "code", "text", "hint");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void an_execution_comes_back_as_it_went_in(void **state)
{
	run_auto struct run *run = run_open();
	const struct execution_row row = {
		.start_ns = (UINT64_C(1) << 58) - 1,
		.wall_ns = (UINT64_C(1) << 54) - 1,
		.user_ns = (UINT64_C(1) << 56) - 1,
		.system_ns = 4,
		.max_rss_bytes = UINT64_C(5) << 40 >> 3,
		.rss_floor_bytes = 6 << 10,
		.minor_faults = UINT32_MAX,
		.major_faults = 8,
		.voluntary_switches = 9,
		.involuntary_switches = 10,
		.steal_ns = UINT64_C(4294967295000),
		.pressure_ns = 12000,
		.queue_ns = UINT64_C(4294967295000),
		.command = EXECUTION_COMMANDS_MAX,
		.exit_status = 255,
		.signal = -1,
		.flags = EXECUTION_FLAGS_MAX,
	};
	struct execution_row back;
	uint64_t saturated;

	(void)state;
	assert_int_equal(run_add_execution(run, &row), 1);
	back = run_execution(run, 1);
	assert_memory_equal(&back, &row, sizeof(row));
	assert_false(run_get_quality(run, "saturated_values", &saturated));
}

static void what_does_not_fit_is_kept_as_the_largest_and_counted(void **state)
{
	run_auto struct run *run = run_open();
	struct execution_row back;
	uint64_t saturated = 0;

	(void)state;
	run_add_execution(run, &(struct execution_row){.max_rss_bytes = UINT64_MAX,
				       .minor_faults = UINT64_C(1) << 32,
				       .steal_ns = UINT64_MAX,
				       .exit_status = INT32_MIN});
	run_add_execution(run, &(struct execution_row){.pressure_ns = UINT64_C(4294967296000)});
	back = run_execution(run, 1);
	assert_int_equal(back.max_rss_bytes, UINT64_C(4294967295) * 1024);
	assert_int_equal(back.minor_faults, UINT32_MAX);
	assert_int_equal(back.steal_ns, UINT64_C(4294967295000));
	assert_int_equal(back.exit_status, INT16_MIN);
	assert_int_equal(run_execution(run, 2).pressure_ns, UINT64_C(4294967295000));
	run_add_execution(run, &(struct execution_row){.start_ns = UINT64_C(1) << 58,
				       .wall_ns = UINT64_MAX,
				       .user_ns = UINT64_C(1) << 63,
				       .system_ns = UINT64_C(1) << 56,
				       .queue_ns = UINT64_C(4294967296000),
				       .signal = 128,
				       .flags = EXECUTION_QUEUE | EXECUTION_STEAL});
	back = run_execution(run, 3);
	assert_int_equal(back.start_ns, (UINT64_C(1) << 58) - 1);
	assert_int_equal(back.wall_ns, (UINT64_C(1) << 54) - 1);
	assert_int_equal(back.user_ns, (UINT64_C(1) << 56) - 1);
	assert_int_equal(back.system_ns, (UINT64_C(1) << 56) - 1);
	assert_int_equal(back.queue_ns, UINT64_C(4294967295000));
	assert_int_equal(back.flags, EXECUTION_STEAL); /* a part of the queue is none */
	assert_int_equal(back.signal, 127);
	assert_true(run_get_quality(run, "saturated_values", &saturated));
	assert_int_equal(saturated, 11);
}

static void closing_nothing_is_fine(void **state)
{
	struct run *run = run_open();

	(void)state;
	run_close(NULL);
	run_close_pointer(&run);
	assert_null(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_has_one_id_and_no_text_is_zero),
		cmocka_unit_test(a_text_stays_where_it_is_while_others_are_added),
		cmocka_unit_test(ids_of_rows_count_from_one_in_each_table),
		cmocka_unit_test(a_frozen_run_takes_no_more_rows),
		cmocka_unit_test(an_execution_comes_back_as_it_went_in),
		cmocka_unit_test(what_does_not_fit_is_kept_as_the_largest_and_counted),
		cmocka_unit_test(closing_nothing_is_fine),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
