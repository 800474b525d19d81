/* inject_test.c - the tool that puts something into a process (source/causal/inject.h) is killed,
 * before each of its calls once: the process goes on as if nothing had been, the next tool can do
 * its work, and when that has ended nothing is left.
 *
 * This program traces the tool, which traces the process; so it can be killed to the call. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "inject.h"
#include "threads.h"

enum { BOARD_BYTES = 4096, SEATS_BYTES = 65536, POKES_FOR_ONE = 24, PATIENCE_MS = 20000 };

/* What a process says of itself. */
struct told {
	volatile uint32_t rounds, wrong, end;
};

/* One round; false: something was not as it has to be. */
typedef bool round_work(void);

struct target {
	pid_t pid;
	struct told *told;
};

/* ---- what the processes do ---- */

static volatile uint64_t sink;

static bool computes(void)
{
	static uint64_t first;
	uint64_t x = 1;
	double sum = 0, at[8] = {0};

	for (unsigned i = 0; i < 20000; i++) {
		x = x * 6364136223846793005UL + 1442695040888963407UL;
		at[x >> 61] += (double)(x >> 40) * 0.125;
		sum += at[i & 7];
	}
	x ^= (uint64_t)sum;
	first = first ? first : x;
	sink = x;
	return x == first;
}

static bool sleeps(void)
{
	struct timespec time = {0, 3000000};

	return nanosleep(&time, NULL) == 0;
}

static bool polls(void)
{
	return poll(NULL, 0, 3) == 0;
}

static bool waits(void)
{
	static uint32_t word;
	struct timespec time = {0, 3000000};

	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0) < 0 && errno == ETIMEDOUT;
}

static bool reads(void)
{
	char byte = 0;
	int ends[2];
	pid_t child;
	bool fine;

	if (pipe(ends) < 0)
		return false;
	child = fork();
	if (child == 0) {
		usleep(3000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	fine = read(ends[0], &byte, 1) == 1 && byte == 'x';
	close(ends[0]);
	close(ends[1]);
	return fine && waitpid(child, NULL, 0) == child;
}

static void *thread_computes(void *told)
{
	while (!((struct told *)told)->end)
		if (!computes())
			((struct told *)told)->wrong = 1;
	return NULL;
}

/* ---- one of them ---- */

static _Noreturn void target_run(struct told *told, round_work *work, bool threads)
{
	pthread_t thread;

	alarm(300);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (threads)
		pthread_create(&thread, NULL, thread_computes, told);
	while (!told->end) {
		if (!work())
			told->wrong = 1;
		told->rounds++;
	}
	_exit(told->wrong ? 1 : 0);
}

static struct target target_start(round_work *work, bool threads)
{
	struct target target = {.told = mmap(NULL, sizeof(*target.told), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0)};

	assert_true(target.told != MAP_FAILED);
	target.pid = fork();
	if (target.pid == 0)
		target_run(target.told, work, threads);
	return target;
}

/* It lives, works, and nothing was wrong. */
static void target_check(const struct target *target, unsigned kill_at)
{
	uint32_t from = target->told->rounds;
	int status = 0;

	for (unsigned i = 0; target->told->rounds < from + 2; i++) {
		if (waitpid(target->pid, &status, WNOHANG) == target->pid || i > PATIENCE_MS)
			fail_msg("killed before call %u: the process %s (status %d)", kill_at,
				i > PATIENCE_MS ? "hangs" : "ended", status);
		usleep(1000);
	}
	if (target->told->wrong)
		fail_msg("killed before call %u: a call or a sum was wrong", kill_at);
}

static void target_end(struct target *target)
{
	int status;

	target->told->end = 1;
	assert_int_equal(waitpid(target->pid, &status, 0), target->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	munmap(target->told, sizeof(*target->told));
}

/* Its mappings, and which signals it catches, ignores and blocks, as text. */
static void target_state(const struct target *target, struct str *ret_text)
{
	static const char *const names[] = {"SigCgt", "SigIgn", "SigBlk"};
	char path[32], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)target->pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (!strstr(line, "[heap]"))
			str_add(ret_text, line);
	fclose(maps);
	for (unsigned i = 0; i < 3; i++)
		str_addf(ret_text, "%s %lx\n", names[i],
			(unsigned long)thread_status(target->pid, names[i], 16, 0));
	for (unsigned fd = 3; fd < 20; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)target->pid, fd);
		if (readlink(path, line, sizeof(line)) > 0 && strncmp(line, "pipe", 4) != 0)
			str_addf(ret_text, "fd %u\n", fd);
	}
}

/* ---- the tool ---- */

static int tool_work(pid_t pid, pid_t owner)
{
	struct injection in = {
		.pid = pid, .owner = owner, .board_bytes = BOARD_BYTES, .seats_bytes = SEATS_BYTES};
	int board = memfd_create("board", MFD_CLOEXEC), seats = memfd_create("seats", MFD_CLOEXEC);
	struct err err = {0};
	int r;

	if (ftruncate(board, BOARD_BYTES) < 0 || ftruncate(seats, SEATS_BYTES) < 0)
		return 1;
	r = inject_put(&in, board, seats, &err);
	if (r >= 0)
		r = inject_take_out(&in, &err);
	if (r < 0 && r != -EPERM && r != -ECANCELED)
		fprintf(stderr, "# %s\n", err.text);
	return r == -EPERM ? 2 : r == -ECANCELED ? 3 : r < 0;
}

/* Whether a call counts: those that touch the process, of a row of words only some. */
static bool call_counts(pid_t tool, unsigned *pokes)
{
	struct __ptrace_syscall_info info = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tool, sizeof(info), &info) < 0 ||
		info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	if (info.entry.nr == SYS_ptrace &&
		(info.entry.args[0] == PTRACE_POKEDATA || info.entry.args[0] == PTRACE_PEEKDATA))
		return (*pokes)++ % POKES_FOR_ONE == POKES_FOR_ONE / 2;
	*pokes = 0;
	return info.entry.nr == SYS_ptrace || info.entry.nr == SYS_process_vm_writev ||
	       info.entry.nr == SYS_sendmsg || info.entry.nr == SYS_wait4;
}

/* Run the tool, and kill it before the call that has this number.  Its status; -1: it was killed.
 */
static int tool_run(pid_t target, unsigned kill_at)
{
	unsigned calls = 0, pokes = 0;
	pid_t tool = fork();
	int status;

	if (tool == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(tool_work(target, getpid()));
	}
	assert_int_equal(waitpid(tool, &status, 0), tool);
	ptrace(PTRACE_SETOPTIONS, tool, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	while (WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) && call_counts(tool, &pokes) &&
			++calls == kill_at)
			kill(tool, SIGKILL);
		ptrace(PTRACE_SYSCALL, tool, 0, 0);
		assert_int_equal(waitpid(tool, &status, 0), tool);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Before every `stride`th call, or, on a slow machine, every so many more. */
static void kill_everywhere(round_work *work, bool threads, unsigned stride)
{
	const char *more = getenv("ASSAY_KILL_STRIDE");
	struct target target = target_start(work, threads);
	str_auto struct str before = {0}, after = {0};
	unsigned kill_at = 0, kills = 0;
	int status = tool_run(target.pid, 0);

	if (status == 2) {
		kill(target.pid, SIGKILL);
		waitpid(target.pid, NULL, 0);
		print_message("# skip: processes may not be traced here\n");
		skip();
	}
	assert_int_equal(status, 0);
	target_check(&target, 0);
	target_state(&target, &before);
	for (status = -1; status == -1; kills++) {
		kill_at += stride * (more ? (unsigned)atoi(more) : 1);
		status = tool_run(target.pid, kill_at);
		target_check(&target, kill_at);
	}
	assert_int_equal(status, 0);
	target_state(&target, &after);
	assert_string_equal(str_text(&before), str_text(&after));
	print_message("# killed %u times\n", kills - 1);
	target_end(&target);
}

static void a_computation_goes_on(void **state)
{
	(void)state;
	kill_everywhere(computes, false, 1);
}

static void a_computation_beside_a_wait_goes_on(void **state)
{
	(void)state;
	kill_everywhere(sleeps, true, 4);
}

static void a_sleep_goes_on(void **state)
{
	(void)state;
	kill_everywhere(sleeps, false, 4);
}

static void a_poll_with_a_timeout_goes_on(void **state)
{
	(void)state;
	kill_everywhere(polls, false, 4);
}

static void a_futex_with_a_timeout_goes_on(void **state)
{
	(void)state;
	kill_everywhere(waits, false, 4);
}

static void a_read_goes_on(void **state)
{
	(void)state;
	kill_everywhere(reads, false, 4);
}

/* Its process that attaches may live on and come to it only then. */
static void nothing_is_put_in_for_a_tool_that_has_ended(void **state)
{
	struct target target = target_start(sleeps, false);
	str_auto struct str before = {0}, after = {0};
	pid_t ended = fork();
	int status;

	(void)state;
	if (ended == 0)
		_exit(0);
	assert_int_equal(waitpid(ended, NULL, 0), ended);
	target_check(&target, 0);
	target_state(&target, &before);
	status = tool_work(target.pid, ended);
	if (status == 2) {
		kill(target.pid, SIGKILL);
		waitpid(target.pid, NULL, 0);
		print_message("# skip: processes may not be traced here\n");
		skip();
	}
	assert_int_equal(status, 3);
	target_check(&target, 0);
	target_state(&target, &after);
	assert_string_equal(str_text(&before), str_text(&after));
	target_end(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_computation_goes_on),
		cmocka_unit_test(a_computation_beside_a_wait_goes_on),
		cmocka_unit_test(a_sleep_goes_on),
		cmocka_unit_test(a_poll_with_a_timeout_goes_on),
		cmocka_unit_test(a_futex_with_a_timeout_goes_on),
		cmocka_unit_test(a_read_goes_on),
		cmocka_unit_test(nothing_is_put_in_for_a_tool_that_has_ended),
	};

	return cmocka_run_group_tests_name("inject", tests, NULL, NULL);
}
