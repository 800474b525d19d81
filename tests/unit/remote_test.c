/* remote_test.c - a thread that is stopped and made to do system calls (source/causal/remote.h)
 * goes on as if nothing had been, whatever it was doing. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "remote.h"
#include "slack.h"

/* What a child does with its end of a pair of sockets, and says with its status. */
typedef int child_work(int fd);

enum { INTERRUPTED = 1, DONE = 2, HANDLED = 4, WRONG = 8 };

struct child {
	pid_t pid;
	int fd;
	struct slack places[16];
	uint32_t place_count;
};

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
	(void)signal;
	handled = 1;
}

static void handler_set(int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(SIGUSR1, &action, NULL);
}

static int outcome(long result)
{
	return (result < 0 && errno == EINTR ? INTERRUPTED : DONE) | (handled ? HANDLED : 0);
}

static struct child child_start(child_work *work)
{
	slack_vec places = {0};
	struct child child;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	child.pid = fork();
	if (child.pid == 0) {
		alarm(30); /* ends what was to be interrupted and was not */
		close(ends[0]);
		_exit(work(ends[1]));
	}
	close(ends[1]);
	child.fd = ends[0];
	child.place_count = 0;
	assert_int_equal(slacks_find(child.pid, &places), 0);
	for (; child.place_count < places.count && child.place_count < 16; child.place_count++)
		child.places[child.place_count] = places.at[child.place_count];
	vec_done(&places);
	return child;
}

/* Until it waits in the call. */
static void child_await(const struct child *child, long number)
{
	long call = -1;
	uint64_t address;

	for (unsigned tries = 0; call != number && tries < 5000; tries++) {
		usleep(1000);
		(void)thread_look(child->pid, &call, &address);
	}
	assert_int_equal(call, number);
}

static int child_end(const struct child *child)
{
	int status;

	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	close(child->fd);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void stop(struct remote *remote, const struct child *child)
{
	int r = remote_stop(remote, child->pid);

	for (unsigned tries = 0; r == -EAGAIN && tries < 100; tries++) {
		usleep(1000);
		r = remote_stop(remote, child->pid);
	}
	if (r == -EPERM) {
		kill(child->pid, SIGKILL);
		print_message("# skip: processes may not be traced here\n");
		skip();
	}
	assert_int_equal(r, 0);
	r = -ENOSPC;
	for (uint32_t i = 0; r == -ENOSPC && i < child->place_count; i++)
		r = remote_prepare(remote, child->places[i].at, child->places[i].bytes);
	assert_int_equal(r, 0);
}

/* Stop it, have it do a call, `meanwhile` send it a signal, let it go on. */
static void disturb(const struct child *child, int meanwhile)
{
	struct remote remote;

	stop(&remote, child);
	assert_int_equal(remote_call(&remote, SYS_getpid, (const uint64_t[6]){0}), child->pid);
	if (meanwhile)
		kill(child->pid, meanwhile);
	assert_int_equal(remote_call(&remote, SYS_close, (const uint64_t[6]){12345}), -EBADF);
	assert_int_equal(remote_release(&remote), 0);
}

/* ---- calls ---- */

static int work_read(int fd)
{
	char byte;

	handler_set(0);
	return outcome(read(fd, &byte, 1));
}

static int work_read_restarted(int fd)
{
	char byte;

	handler_set(SA_RESTART);
	return outcome(read(fd, &byte, 1));
}

/* With a timeout on the socket an interruption is answered with EINTR. */
static int work_receive(int fd)
{
	struct timeval patience = {100, 0};
	char byte;

	handler_set(0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return outcome(recv(fd, &byte, 1, 0));
}

static int work_suspend(int fd)
{
	sigset_t none;

	(void)fd;
	handler_set(0);
	sigemptyset(&none);
	return outcome(sigsuspend(&none));
}

static int work_sleep(int fd)
{
	struct timespec time = {100, 0};

	(void)fd;
	handler_set(0);
	return outcome(nanosleep(&time, NULL));
}

static int work_poll(int fd)
{
	struct pollfd wanted = {fd, POLLIN, 0};
	struct timespec time = {100, 0};

	handler_set(0);
	return outcome(ppoll(&wanted, 1, &time, NULL));
}

static const struct {
	child_work *work;
	long call;
	bool can_be_ended; /* by a byte */
} calls[] = {
	{work_read, SYS_read, true},
	{work_receive, SYS_recvfrom, true},
	{work_poll, SYS_ppoll, true},
	{work_suspend, SYS_rt_sigsuspend, false},
	{work_sleep, SYS_clock_nanosleep, false},
};

static void a_call_that_is_under_way_goes_on(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct child child;

		if (!calls[i].can_be_ended)
			continue;
		child = child_start(calls[i].work);
		child_await(&child, calls[i].call);
		disturb(&child, 0);
		child_await(&child, calls[i].call);
		disturb(&child, 0);
		assert_int_equal(write(child.fd, "x", 1), 1);
		assert_int_equal(child_end(&child), DONE);
	}
}

static void a_signal_that_comes_meanwhile_interrupts_the_call(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct child child = child_start(calls[i].work);

		child_await(&child, calls[i].call);
		disturb(&child, SIGUSR1);
		assert_int_equal(child_end(&child), INTERRUPTED | HANDLED);
	}
}

static void a_signal_whose_handler_restarts_calls_does_not_interrupt_one(void **state)
{
	struct child child = child_start(work_read_restarted);

	(void)state;
	child_await(&child, SYS_read);
	disturb(&child, SIGUSR1);
	child_await(&child, SYS_read);
	assert_int_equal(write(child.fd, "x", 1), 1);
	assert_int_equal(child_end(&child), DONE | HANDLED);
}

/* ---- the program's own code ---- */

enum { ROUNDS = 600, STEPS = 100000 };

/* Whole numbers, floating point numbers and memory. */
static int work_compute(int fd)
{
	uint64_t first = 0;
	double first_sum = 0;

	handler_set(0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t x = 1;
		double sum = 0, at[8] = {0};

		for (unsigned i = 0; i < STEPS; i++) {
			x = x * 6364136223846793005UL + 1442695040888963407UL;
			at[x >> 61] += (double)(x >> 40) * 0.125;
			sum += at[i & 7];
		}
		if (round == 0) {
			first = x;
			first_sum = sum;
			if (write(fd, "x", 1) != 1)
				return WRONG;
		}
		if (x != first || sum < first_sum || sum > first_sum)
			return WRONG;
	}
	return DONE | (handled ? HANDLED : 0);
}

static void a_computation_goes_on_and_its_signals_come(void **state)
{
	struct child child = child_start(work_compute);
	char byte;

	(void)state;
	assert_int_equal(read(child.fd, &byte, 1), 1);
	for (unsigned i = 0; i < 20; i++)
		disturb(&child, i == 10 ? SIGUSR1 : 0);
	assert_int_equal(child_end(&child), DONE | HANDLED);
}

#ifdef __aarch64__

enum { HAS_SVE = 1 << 22, SPIN = 20000000, VECTOR_MOST = 256 };

/* All of a vector stays, not only the 128 bits that a system call leaves alone. */
static int work_vectors(int fd)
{
	for (unsigned round = 0; round < 20; round++) {
		uint64_t at[VECTOR_MOST / 8] = {0}, pattern = 0x0123456789abcdefUL + round, len;

		__asm__ volatile(".arch_extension sve\n"
				 "	rdvl	%0, #1\n"
				 "	ptrue	p0.d\n"
				 "	dup	z7.d, %1\n"
				 "	mov	x9, %2\n"
				 "1:	subs	x9, x9, #1\n"
				 "	b.ne	1b\n"
				 "	st1d	z7.d, p0, [%3]\n"
				 : "=&r"(len)
				 : "r"(pattern), "r"((uint64_t)SPIN), "r"(at)
				 : "x9", "v7", "cc", "memory");
		for (unsigned i = 0; i < len / 8; i++)
			if (at[i] != pattern)
				return WRONG;
		if (round == 0 && write(fd, "x", 1) != 1)
			return WRONG;
	}
	return DONE;
}

static void vectors_of_any_length_are_as_before(void **state)
{
	struct child child;
	char byte;

	(void)state;
	if (!(getauxval(AT_HWCAP) & HAS_SVE)) {
		print_message("# skip: the processor has no SVE\n");
		skip();
	}
	child = child_start(work_vectors);
	assert_int_equal(read(child.fd, &byte, 1), 1);
	for (unsigned i = 0; i < 50; i++)
		disturb(&child, 0);
	assert_int_equal(child_end(&child), DONE);
}

#endif

static void a_process_that_has_ended_is_told(void **state)
{
	struct child child = child_start(work_suspend);
	struct remote remote;

	(void)state;
	child_await(&child, SYS_rt_sigsuspend);
	stop(&remote, &child);
	kill(child.pid, SIGKILL);
	assert_int_equal(remote_call(&remote, SYS_getpid, (const uint64_t[6]){0}), -ESRCH);
	assert_int_equal(remote_release(&remote), -ESRCH);
	waitpid(child.pid, NULL, 0);
	close(child.fd);
	assert_int_equal(remote_stop(&remote, child.pid), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_is_under_way_goes_on),
		cmocka_unit_test(a_signal_that_comes_meanwhile_interrupts_the_call),
		cmocka_unit_test(a_signal_whose_handler_restarts_calls_does_not_interrupt_one),
		cmocka_unit_test(a_computation_goes_on_and_its_signals_come),
#ifdef __aarch64__
		cmocka_unit_test(vectors_of_any_length_are_as_before),
#endif
		cmocka_unit_test(a_process_that_has_ended_is_told),
	};

	return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
