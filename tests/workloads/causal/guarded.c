/* guarded.c - programs that a signal or a system call of somebody else's would end.
 *
 *     guarded HOW ROUNDS [STATUS]      works for so many rounds and exits with that status (7);
 *                                      another thread works beside it in work_c()
 *
 *     plain     nothing of it
 *     start     sandboxes itself first: whatever it does not list kills it, signal returns included
 *     late      the same after a third of its rounds
 *     all       the same for all of its threads (TSYNC)
 *     raw       as late, without the C library
 *     refuse    as late, but unlisted calls fail with EPERM
 *     strict    strict mode after a third of its rounds
 *     exec      sandboxes itself (rt_sigreturn and getppid kill), then starts anew as plain
 *     small     an alternate signal stack of 2048 bytes in each thread
 *     deep      works with 3 KB left before the guard page of its stack
 *     narrow    threads with the smallest stack there is, 3 KB of it left
 *     default   sets all signals to their default after a third
 *     undone    the same without the C library
 *     own       sets a handler for all signals after a third; one that comes is status 8
 *     swaps     sets such handlers and puts the old ones back, all the time
 *     under     PROGRAM ...: starts it under a filter that allows everything, as a container does
 *     lies      writes nonsense all over the memory that it shares with assay
 *     asks      its alternate stack is what it has set, and it runs on it; else status 9 */
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay.h"

enum { ITERATIONS = 150000, SMALL = 2048, LEFT = 3072 };

static const char *how;
static unsigned long rounds;
static int status = 7;
static unsigned came, over;

static int is(const char *name)
{
	return strcmp(how, name) == 0;
}

__attribute__((noinline)) static void work_a(unsigned long left)
{
	unsigned long x = left;

	while (left--)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	__asm__ volatile("" : : "r"(x));
}

__attribute__((noinline)) static void work_b(unsigned long left)
{
	unsigned long x = left;

	while (left--)
		x = x * 2862933555777941757UL + 3037000493UL;
	__asm__ volatile("" : : "r"(x));
}

__attribute__((noinline)) static void work_c(unsigned long left)
{
	unsigned long x = left;

	while (left--)
		x = x * 3202034522624059733UL + 1UL;
	__asm__ volatile("" : : "r"(x));
}

/* One place, asked for before anything is forbidden or small. */
__attribute__((noinline)) static void progress(void)
{
	ASSAY_PROGRESS_NAMED("round");
}

/* Not by the C library, which others may stand before. */
static long call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long which __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;

	__asm__ volatile("svc #0"
			 : "+r"(first)
			 : "r"(which), "r"(second), "r"(third), "r"(fourth)
			 : "memory");
	return first;
#endif
}

/* ---- sandboxes ---- */

static void filter_set(uint32_t otherwise, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, otherwise),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};
	long r;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (is("raw"))
		r = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, (long)&filter, 0);
	else if (flags)
		r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
	else
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	if (r != 0)
		_exit(3);
}

/* Everything is allowed but what a signal or a library in its start may want. */
static void filter_narrow_set(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		_exit(3);
}

static void filter_open_set(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog filter = {1, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		_exit(3);
}

/* ---- signals ---- */

static void on_signal(int signal)
{
	(void)signal;
	__atomic_fetch_add(&came, 1, __ATOMIC_RELAXED);
}

static void signals_set(void)
{
	static const struct {
		void *handler;
		unsigned long flags, restorer, mask;
	} none;
	struct sigaction action = {.sa_handler = is("own") ? on_signal : SIG_DFL};

	for (int signal = 1; signal <= 64; signal++) {
		if (signal == SIGKILL || signal == SIGTERM || signal == SIGSTOP || signal == 32 ||
			signal == 33)
			continue;
		if (is("undone"))
			call(SYS_rt_sigaction, signal, (long)&none, 0, 8);
		else
			sigaction(signal, &action, NULL);
	}
}

static void signals_swap(void)
{
	struct sigaction own = {.sa_handler = on_signal}, old[NSIG];

	for (unsigned k = 0; k < 50; k++) {
		for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
			sigaction(signal, &own, &old[signal]);
		for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
			sigaction(signal, &old[signal], NULL);
	}
}

static void stack_set(void *at, size_t bytes)
{
	stack_t small = {.ss_sp = at, .ss_size = bytes};

	if (sigaltstack(&small, NULL) != 0)
		_exit(4);
}

static char big[1 << 16];
static int on_big;

static void on_big_stack(int signal)
{
	char here;
	stack_t now;

	(void)signal;
	on_big = &here >= big && &here < big + sizeof(big) && sigaltstack(NULL, &now) == 0 &&
		 now.ss_flags & SS_ONSTACK;
}

/* What it set is what it gets, small or large. */
static void stack_ask(void)
{
	static char small[SMALL + 1024];
	struct sigaction action = {.sa_handler = on_big_stack, .sa_flags = SA_ONSTACK};
	stack_t now = {0}, none = {.ss_flags = SS_DISABLE};

	if (sigaltstack(NULL, &now) != 0 || now.ss_flags != SS_DISABLE)
		_exit(9);
	stack_set(small, sizeof(small));
	if (sigaltstack(NULL, &now) != 0 || now.ss_sp != small || now.ss_size != sizeof(small) ||
		now.ss_flags)
		_exit(9);
	if (sigaltstack(&none, &now) != 0 || now.ss_sp != small)
		_exit(9);
	stack_set(big, sizeof(big));
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	if (!on_big)
		_exit(9);
}

/* ---- lies ---- */

static uint64_t random_next(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Words of all sizes that a reader could stumble over; not for the whole time, so that there are
 * experiments too. */
static void lies_write(void)
{
	char line[512], rights[8], name[256];
	unsigned long from, to;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255[^\n]", &from, &to, rights, name) <
				3 ||
			strncmp(rights, "rw-s", 4) != 0 ||
			(!strstr(name, "assay") && !strstr(name, "bpf-map")))
			continue;
		for (unsigned i = 0; i < 200000; i++) {
			uint64_t value = random_next(), at = random_next() % ((to - from) / 8);

			if (value & 3) /* the head has what is looked at most */
				at %= 512;
			if (at == 3 || at == 7) /* no handler, sealed: nothing would follow */
				continue;
			((volatile uint64_t *)from)[at] = value >> (value & 63);
		}
	}
	if (maps)
		fclose(maps);
}

static void *lies_tell(void *nothing)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		lies_write();
		usleep(20000);
	}
	return nothing;
}

/* ---- the work ---- */

static void third(void)
{
	if (is("late") || is("raw"))
		filter_set(SECCOMP_RET_KILL_PROCESS, 0);
	if (is("all"))
		filter_set(SECCOMP_RET_KILL_PROCESS, SECCOMP_FILTER_FLAG_TSYNC);
	if (is("refuse"))
		filter_set(SECCOMP_RET_ERRNO | EPERM, 0);
	if (is("strict"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (is("default") || is("undone") || is("own"))
		signals_set();
}

__attribute__((noinline)) static void rounds_do(void)
{
	for (unsigned long i = 0; i < rounds; i++) {
		work_a(ITERATIONS);
		work_b(ITERATIONS);
		progress();
		if (is("swaps"))
			signals_swap();
		if (i == rounds / 3)
			third();
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	call(is("strict") ? SYS_exit : SYS_exit_group, came ? 8 : status, 0, 0, 0);
}

static uintptr_t stack_end(void)
{
	pthread_attr_t attr;
	size_t bytes;
	void *low;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &bytes);
	return (uintptr_t)low;
}

/* As far down as it goes. */
static void down_to(uintptr_t end)
{
	char here[512];

	__asm__ volatile("" : : "r"(here) : "memory");
	if ((uintptr_t)here > end + LEFT)
		down_to(end);
	else
		rounds_do();
	__asm__ volatile("" : : "r"(here) : "memory");
}

static void *work_beside(void *nothing)
{
	static __thread char small[SMALL];

	if (is("small"))
		stack_set(small, sizeof(small));
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		work_c(ITERATIONS);
	call(SYS_exit, status, 0, 0, 0); /* the last one's status is the program's */
	return nothing;
}

static void *work_below(void *nothing)
{
	down_to(stack_end());
	return nothing;
}

static void threads_start(void)
{
	static char small[SMALL];
	pthread_attr_t attr;
	pthread_t thread;

	pthread_create(&thread, NULL, work_beside, NULL);
	if (is("lies"))
		pthread_create(&thread, NULL, lies_tell, NULL);
	pthread_attr_init(&attr);
	if (is("deep") || is("narrow")) {
		pthread_attr_setstacksize(
			&attr, is("deep") ? 1 << 18 : (size_t)sysconf(_SC_THREAD_STACK_MIN));
		pthread_create(&thread, &attr, work_below, NULL);
		pthread_join(thread, NULL);
	}
	if (is("small"))
		stack_set(small, sizeof(small));
}

int main(int argc, char **argv)
{
	how = argc > 2 ? argv[1] : "";
	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	if (is("under")) {
		filter_open_set();
		execvp(argv[2], argv + 2);
		return 3;
	}
	status = argc > 3 ? atoi(argv[3]) : status;
	if (!rounds) {
		fprintf(stderr, "usage: guarded HOW ROUNDS [STATUS]\n");
		return 2;
	}
	if (is("exec")) {
		filter_narrow_set();
		execv("/proc/self/exe", (char *[]){argv[0], (char[]){"plain"}, argv[2], NULL});
		return 3;
	}
	if (is("asks"))
		stack_ask();
	progress();
	threads_start();
	if (is("start"))
		filter_set(SECCOMP_RET_KILL_PROCESS, 0);
	rounds_do();
	return 1;
}
