/* helper_test.c - another program, run to its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/helper.h"

static int shell(const char *text, struct helper_options options, struct err *err)
{
	options.argv = (const char *const[]){"sh", "-c", text, NULL};
	options.output_fd = options.error_fd = -1;
	return helper_run(&options, err);
}

static void its_status_or_its_signal_comes_back(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(shell("read x; exit $((3 + $?))", (struct helper_options){0}, &err), 4);
	assert_int_equal(
		shell("kill -9 $$", (struct helper_options){0}, &err), HELPER_KILLED + SIGKILL);
}

static void a_program_that_is_not_there_is_not_started(void **state)
{
	static const char *const argv[] = {"no-such-program-anywhere", NULL};
	char output[16] = "x";

	(void)state;
	assert_int_equal(helper_ask(argv, NULL, output, sizeof(output)), HELPER_NOT_STARTED);
	assert_string_equal(output, "");
}

static void it_is_killed_with_its_children_at_the_limit(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(shell("sleep 1000 & sleep 1000",
				 (struct helper_options){.limit_ns = 100000000}, &err),
		-ETIME);
	assert_non_null(strstr(err.text, "time limit"));
}

static struct interrupt told_once(void)
{
	static unsigned calls; /* the first call is before it waits */

	return (struct interrupt){.count = calls++ > 0, .signal = SIGINT};
}

static void what_the_user_stopped_is_told(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(
		shell("sleep 0.2", (struct helper_options){.interrupted = told_once}, &err),
		-EINTR);
}

static void settings_go_in_and_names_are_taken_out(void **state)
{
	static const char *const settings[] = {"HELPER_A=1", "HELPER_B=2", NULL};
	static const char *const without[] = {"HELPER_C", NULL};
	struct helper_options options = {.settings = settings, .without = without};
	struct err err = {0};

	(void)state;
	setenv("HELPER_C", "3", 1);
	assert_int_equal(shell("exit $HELPER_A$HELPER_B$HELPER_C", options, &err), 12);
	assert_string_equal(getenv("HELPER_C"), "3");
	assert_null(getenv("HELPER_A"));
}

static void what_it_prints_is_cut_to_the_room(void **state)
{
	static const char *const argv[] = {"printf", "0123456789", NULL};
	char output[6];

	(void)state;
	assert_int_equal(helper_ask(argv, NULL, output, sizeof(output)), 0);
	assert_string_equal(output, "01234");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_status_or_its_signal_comes_back),
		cmocka_unit_test(a_program_that_is_not_there_is_not_started),
		cmocka_unit_test(it_is_killed_with_its_children_at_the_limit),
		cmocka_unit_test(what_the_user_stopped_is_told),
		cmocka_unit_test(settings_go_in_and_names_are_taken_out),
		cmocka_unit_test(what_it_prints_is_cut_to_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
