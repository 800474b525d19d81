/* tune_kill_test.c - whatever dies, whenever: every setting comes back, and nothing else is
 * written.
 *
 * The tool is traced and killed after every system call, one after the other.  Meanwhile we play
 * the kernel: when the governor is written, turbo is reset, as intel_pstate does. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include <cmocka.h>

#include "base/io.h"
#include "drive/tune.h"

enum { STOPS_MAX = 100000, VALUE_SIZE = 64 };

static const struct tune_knob knobs[] = {
	{.name = "governor", .pattern = "/sys/governor", .want = "performance"},
	{.name = "turbo", .pattern = "/sys/turbo", .want = "1", .held = "governor"},
	{.name = "pages", .pattern = "/sys/pages", .want = "never"},
	{.name = "swappiness", .pattern = "/proc/swappiness", .want = "<=1"},
};

/* A file, what it says before, and when it is tuned. */
static const struct setting {
	const char *path, *before, *tuned;
} settings[] = {
	{"/sys/governor", "powersave", "performance"},
	{"/sys/turbo", "1", "1"}, /* as wanted already: it must survive the governor */
	{"/sys/pages", "always", "never"},
	{"/proc/swappiness", "60", "1"},
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

struct tree {
	char root[64];
	char governor[VALUE_SIZE]; /* as last seen by the kernel we play */
};

static void put(const struct tree *tree, const char *path, const char *value)
{
	char full[512];
	io_auto int fd = -1;

	snprintf(full, sizeof(full), "%s%s", tree->root, path);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, value, strlen(value)), 0);
}

static void get(const struct tree *tree, const char *path, char value[VALUE_SIZE])
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", tree->root, path);
	assert_true(io_read_line(full, value, VALUE_SIZE) >= 0);
	value[strcspn(value, "\n")] = '\0';
}

static void put_all(const struct tree *tree, bool tuned)
{
	for (unsigned i = 0; i < SETTINGS; i++)
		put(tree, settings[i].path, tuned ? settings[i].tuned : settings[i].before);
}

static int setup(void **state)
{
	static const char *const folders[] = {"", "/sys", "/proc", "/proc/sys", "/proc/sys/kernel",
		"/proc/sys/kernel/random", "/var"};
	struct tree *tree = calloc(1, sizeof(*tree));
	char path[256];

	strcpy(tree->root, "/tmp/assay-kill.XXXXXX");
	assert_non_null(mkdtemp(tree->root));
	for (unsigned i = 1; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", tree->root, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	put(tree, "/proc/sys/kernel/random/boot_id", "aa-01\n");
	put_all(tree, false);
	*state = tree;
	return 0;
}

static int teardown(void **state)
{
	struct tree *tree = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", tree->root);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): our own folder */
	free(tree);
	return 0;
}

static int tune_begin(const struct tree *tree, struct tune *tune)
{
	const struct tune_options options = {
		.root = tree->root, .knobs = knobs, .knob_count = sizeof(knobs) / sizeof(knobs[0])};
	struct err err = {0};

	return tune_open(tune, &options, &err) < 0 || tune_lock(tune, &err) < 0 ? -1 : 0;
}

static int job_apply(const struct tree *tree)
{
	tune_auto struct tune tune;
	struct err err = {0};

	if (tune_begin(tree, &tune) < 0)
		return 1;
	tune_look(&tune);
	vec_foreach (struct tune_item, item, &tune.items)
		item->chosen = item->state == TUNE_CHANGE;
	return tune_apply(&tune, &err) < 0;
}

/* Fails when somebody else is said to have had a hand in it: nobody had. */
static int job_revert(const struct tree *tree)
{
	tune_auto struct tune tune;
	struct err err = {0};

	if (tune_begin(tree, &tune) < 0 || tune_revert(&tune, false, &err) < 0)
		return 1;
	vec_foreach (const struct tune_item, item, &tune.items)
		if (item->state != TUNE_REVERTED)
			return 2;
	return 0;
}

/* The kernel: a governor that is written resets turbo. */
static void kernel_play(struct tree *tree)
{
	char now[VALUE_SIZE];

	get(tree, "/sys/governor", now);
	if (!str_equal(now, tree->governor))
		put(tree, "/sys/turbo", "0");
	strcpy(tree->governor, now);
}

struct traced {
	unsigned stops; /* entries and exits of system calls */
	unsigned syncs; /* waits for the disk */
	bool killed;
	int status; /* of one that was not */
};

static void stop_count(pid_t pid, struct traced *traced)
{
	struct ptrace_syscall_info info = {0};

	traced->stops++;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) > 0 &&
		info.op == PTRACE_SYSCALL_INFO_ENTRY &&
		(info.entry.nr == SYS_fdatasync || info.entry.nr == SYS_fsync))
		traced->syncs++;
}

/* Run the job in a process of its own, and kill that after so many stops. */
static struct traced trace(struct tree *tree, int (*job)(const struct tree *tree), unsigned stops)
{
	struct traced traced = {0};
	int status;
	pid_t pid;

	get(tree, "/sys/governor", tree->governor);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(99);
		raise(SIGSTOP);
		_exit(job(tree));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status)) {
		print_message("# skip: processes may not be traced here\n");
		skip();
	}
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
		(void *)(uintptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	while (traced.stops < stops) {
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		kernel_play(tree);
		if (WIFEXITED(status)) {
			traced.status = WEXITSTATUS(status);
			return traced;
		}
		stop_count(pid, &traced);
	}
	traced.killed = true;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	kernel_play(tree);
	return traced;
}

static void expect_all(const struct tree *tree, bool tuned, unsigned moment)
{
	for (unsigned i = 0; i < SETTINGS; i++) {
		const char *value = tuned ? settings[i].tuned : settings[i].before;
		char now[VALUE_SIZE];

		get(tree, settings[i].path, now);
		if (!str_equal(now, value))
			fail_msg("killed at stop %u: %s is %s, not %s", moment, settings[i].path,
				now, value);
	}
}

static void expect_revert(struct tree *tree, unsigned moment)
{
	struct traced reverted = trace(tree, job_revert, STOPS_MAX);

	if (reverted.status)
		fail_msg("killed at stop %u: revert ends with %d", moment, reverted.status);
	expect_all(tree, false, moment);
}

static void killed_at_any_system_call_of_apply_everything_comes_back(void **state)
{
	unsigned moment = 0;
	struct traced traced;

	do {
		traced = trace(*state, job_apply, moment += 2);
		if (!traced.killed)
			expect_all(*state, true, moment);
		expect_revert(*state, moment);
	} while (traced.killed);
	assert_int_equal(traced.status, 0);
	assert_true(moment > 100); /* it was killed half as often */
}

static void killed_at_any_system_call_of_revert_everything_comes_back(void **state)
{
	unsigned moment = 0;
	struct traced traced;

	do {
		assert_int_equal(trace(*state, job_apply, STOPS_MAX).status, 0);
		expect_all(*state, true, moment);
		traced = trace(*state, job_revert, moment += 2);
		expect_revert(*state, moment);
	} while (traced.killed);
	assert_int_equal(traced.status, 0);
	assert_true(moment > 100);
}

static void killed_in_a_second_apply_the_first_values_come_back(void **state)
{
	unsigned moment = 0;
	struct traced traced;

	do {
		assert_int_equal(trace(*state, job_apply, STOPS_MAX).status, 0);
		put(*state, "/sys/pages", "always"); /* so that there is something to do */
		traced = trace(*state, job_apply, moment += 2);
		expect_revert(*state, moment);
	} while (traced.killed);
	assert_int_equal(traced.status, 0);
}

static void an_apply_waits_for_the_disk_once_and_for_the_name_of_a_new_journal(void **state)
{
	(void)trace(*state, job_apply, STOPS_MAX); /* makes the folders */
	(void)trace(*state, job_revert, STOPS_MAX);
	assert_int_equal(trace(*state, job_apply, STOPS_MAX).syncs, 2);
	put(*state, "/proc/swappiness", "60");
	put(*state, "/sys/pages", "always");
	assert_true(trace(*state, job_apply, STOPS_MAX).syncs <= 2);
}

/* Each setting is as it was or as it was tuned: nothing else has been written. */
static void expect_nothing_wrong(const struct tree *tree, const char *what, size_t at)
{
	for (unsigned i = 0; i < SETTINGS; i++) {
		char now[VALUE_SIZE];

		get(tree, settings[i].path, now);
		if (!str_equal(now, settings[i].before) && !str_equal(now, settings[i].tuned))
			fail_msg("%s at byte %zu: %s became %s", what, at, settings[i].path, now);
	}
}

static void revert_with(struct tree *tree, const char *bytes, size_t len)
{
	tune_auto struct tune tune;
	struct err err = {0};
	char path[256];
	io_auto int fd = -1;

	put_all(tree, true);
	snprintf(path, sizeof(path), "%s/var/lib/assay/tune/aa-01.ndjson", tree->root);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	assert_int_equal(tune_begin(tree, &tune), 0);
	assert_int_equal(tune_revert(&tune, false, &err), 0);
}

static void a_journal_cut_or_damaged_at_any_byte_makes_nothing_wrong(void **state)
{
	struct tree *tree = *state;
	str_auto struct str text = {0};
	char path[256];

	assert_int_equal(job_apply(tree), 0);
	snprintf(path, sizeof(path), "%s/var/lib/assay/tune/aa-01.ndjson", tree->root);
	assert_int_equal(io_read_at(AT_FDCWD, path, 1 << 20, &text), 0);
	revert_with(tree, text.at, text.len);
	expect_all(tree, false, 0);
	for (size_t cut = 0; cut < text.len; cut++) {
		revert_with(tree, text.at, cut);
		expect_nothing_wrong(tree, "cut", cut);
	}
	for (size_t at = 0; at < text.len; at++) {
		char right = text.at[at];

		text.at[at] = (char)(right ^ (1 << (at % 7)));
		revert_with(tree, text.at, text.len);
		expect_nothing_wrong(tree, "damaged", at);
		text.at[at] = right;
	}
}

#define tree_test(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(killed_at_any_system_call_of_apply_everything_comes_back),
		tree_test(killed_at_any_system_call_of_revert_everything_comes_back),
		tree_test(killed_in_a_second_apply_the_first_values_come_back),
		tree_test(an_apply_waits_for_the_disk_once_and_for_the_name_of_a_new_journal),
		tree_test(a_journal_cut_or_damaged_at_any_byte_makes_nothing_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
