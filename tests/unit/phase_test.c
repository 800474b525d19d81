/* phase_test.c - a child that is watched, limited and stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "drive/phase.h"

static struct interrupt never(void)
{
	return (struct interrupt){0};
}

/* `sh -c TEXT`, with its words in `log`. */
static struct phase_result shell(const char *text, uint64_t limit_ms, const char *log)
{
	const char *const argv[] = {"sh", "-c", text, NULL};
	struct phase_result result;
	struct err err = {0};

	assert_int_equal(phase_run(&(struct phase_options){.path = "/bin/sh",
					   .argv = argv,
					   .setting = "PHASE_TEST=yes",
					   .output_path = log,
					   .limit_ns = limit_ms * 1000000,
					   .interrupted = never},
				 &result, &err),
		0);
	return result;
}

static void its_status_and_its_words_are_kept(void **state)
{
	char log[] = "/tmp/assay-phase.XXXXXX";
	str_auto struct str text = {0};
	struct phase_result result;
	int fd = mkstemp(log);
	struct err err;

	(void)state;
	result = shell("echo $PHASE_TEST; read x; echo end$?; exit 3", 0, log);
	assert_int_equal(result.status, 3);
	assert_false(result.limited || result.interrupted || result.killed);
	assert_int_equal(io_read(log, 1000, &text, &err), 0);
	assert_string_equal(text.at, "yes\nend1\n"); /* stdin is empty */
	close(fd);
	unlink(log);
}

static void why_it_failed_is_what_it_wrote_for_us_and_not_what_it_says(void **state)
{
	struct phase_result result = shell("echo assay: nonsense >&2; exit 3", 0, NULL);

	(void)state;
	assert_int_equal(result.failure.code, 0);
	result = shell("eval \"echo 'no disk is left' >&$ASSAY_FAILURE; "
		       "echo 'buy one' >&$ASSAY_FAILURE\"; exit 7",
		0, NULL);
	assert_int_equal(result.status, 7);
	assert_true(result.failure.code != 0);
	assert_string_equal(result.failure.text, "no disk is left");
	assert_string_equal(result.failure.hint, "buy one");
	result = shell("eval \"printf 'no way out' >&$ASSAY_FAILURE\"", 0, NULL);
	assert_string_equal(result.failure.text, "no way out");
	assert_string_equal(result.failure.hint, "");
}

static void at_its_limit_it_may_end_in_its_own_way(void **state)
{
	struct phase_result result =
		shell("trap 'exit 9' TERM; while :; do sleep 0.05; done", 300, NULL);

	(void)state;
	assert_true(result.limited);
	assert_false(result.killed);
	assert_int_equal(result.status, 9);
}

static void what_a_stopped_child_leaves_in_its_group_ends_too(void **state)
{
	char log[] = "/tmp/assay-phase.XXXXXX";
	str_auto struct str text = {0};
	int fd = mkstemp(log), left = 100;
	struct err err;
	pid_t pid;

	(void)state;
	shell("sleep 1000 & echo $!; trap 'exit 9' TERM; while :; do sleep 0.05; done", 300, log);
	assert_int_equal(io_read(log, 1000, &text, &err), 0);
	pid = (pid_t)strtol(text.at, NULL, 10);
	assert_true(pid > 1);
	/* It may be a zombie for a moment, until init has seen it. */
	while (left-- && kill(pid, 0) == 0) {
		char path[64], line[256];

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		if (io_read_line(path, line, sizeof(line)) < 0 || strstr(line, ") Z "))
			break;
		nanosleep(&(struct timespec){0, 50000000}, NULL);
	}
	assert_true(left > 0);
	close(fd);
	unlink(log);
}

/* kill -9 of the one that waits: the kernel ends the child. */
static void a_killed_parent_takes_its_child_along(void **state)
{
	char log[] = "/tmp/assay-phase.XXXXXX";
	int fd = mkstemp(log), tries = 100;
	str_auto struct str text = {0};
	struct err err;
	pid_t parent = fork(), pid;

	(void)state;
	if (parent == 0) {
		shell("echo $$; exec sleep 1000", 0, log);
		_exit(0);
	}
	while (tries-- && !text.len) {
		nanosleep(&(struct timespec){0, 50000000}, NULL);
		assert_int_equal(io_read(log, 1000, &text, &err), 0);
	}
	pid = (pid_t)strtol(str_text(&text), NULL, 10);
	assert_true(pid > 1);
	assert_int_equal(kill(parent, SIGKILL), 0);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	for (tries = 100; tries && kill(pid, 0) == 0; tries--) {
		char path[64], line[256];

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		if (io_read_line(path, line, sizeof(line)) < 0 || strstr(line, ") Z "))
			break;
		nanosleep(&(struct timespec){0, 50000000}, NULL);
	}
	assert_true(tries > 0);
	close(fd);
	unlink(log);
}

static void what_cannot_be_started_says_so_by_its_status(void **state)
{
	const char *const argv[] = {"nothing", NULL};
	struct phase_result result;
	struct err err = {0};

	(void)state;
	assert_int_equal(phase_run(&(struct phase_options){.path = "/nowhere/nothing",
					   .argv = argv,
					   .interrupted = never},
				 &result, &err),
		0);
	assert_int_equal(result.status, 127);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_status_and_its_words_are_kept),
		cmocka_unit_test(why_it_failed_is_what_it_wrote_for_us_and_not_what_it_says),
		cmocka_unit_test(at_its_limit_it_may_end_in_its_own_way),
		cmocka_unit_test(what_a_stopped_child_leaves_in_its_group_ends_too),
		cmocka_unit_test(a_killed_parent_takes_its_child_along),
		cmocka_unit_test(what_cannot_be_started_says_so_by_its_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
