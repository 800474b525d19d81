/* points.c - a program annotated as coz.h and the Rust crate do it, and one that has children.
 *
 *     points coz SECONDS        all four functions of coz's interface, found by dlsym
 *     points assay SECONDS      assay.h: throughput and the latency of a scope
 *     points children SECONDS   forks a child that makes progress too, and executes /bin/true
 *     points threads SECONDS    a thousand threads
 *     points masked SECONDS     two threads, all signals blocked, one in work()
 *     points plain SECONDS      nothing that counts; work() is called
 *     points usdt SECONDS       the probes test:done, and test:gated where a tracer asks for it
 *     points paced SECONDS      a round every 5 ms by the clock
 *     points crash SECONDS      as assay, and ends by SIGSEGV
 *     points mixed SECONDS      as assay: counts work and times it */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assay.h"

enum { ITERATIONS = 400000, THREADS = 1000, CHILD_VISITS = 100000 };

struct coz_counter {
	size_t count, backoff;
};

__attribute__((noinline)) static void work(unsigned long left)
{
	unsigned long x = left;

	while (left--)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	__asm__ volatile("" : : "r"(x));
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct coz_counter *coz_counter(int type, const char *name)
{
	struct coz_counter *(*find)(int, const char *) = NULL;

	*(void **)&find = dlsym(RTLD_DEFAULT, "_coz_get_counter");
	return find ? find(type, name) : NULL;
}

static void coz_visit(struct coz_counter *counter)
{
	if (counter)
		__atomic_fetch_add(&counter->count, 1, __ATOMIC_RELAXED);
}

static void coz_round(void)
{
	static void (*add_delays)(void), (*pre_block)(void), (*post_block)(int);
	static struct coz_counter *counters[3];
	static int asked;

	if (!asked) {
		*(void **)&add_delays = dlsym(RTLD_DEFAULT, "_coz_add_delays");
		*(void **)&pre_block = dlsym(RTLD_DEFAULT, "_coz_pre_block");
		*(void **)&post_block = dlsym(RTLD_DEFAULT, "_coz_post_block");
		for (int type = 1; type <= 3; type++)
			counters[type - 1] = coz_counter(type, type == 1 ? "tick" : "request");
		asked = 1;
	}
	coz_visit(counters[1]);
	if (pre_block)
		pre_block();
	if (post_block)
		post_block(1);
	work(ITERATIONS);
	coz_visit(counters[2]);
	coz_visit(counters[0]);
	if (add_delays)
		add_delays();
}

static void assay_round(void)
{
	ASSAY_SCOPE("request");
	work(ITERATIONS);
	ASSAY_PROGRESS_NAMED("tick");
}

/* What <sys/sdt.h> would write, without needing it: an instruction, and a note of where it is. */
#define PROBE(name, semaphore)                                                                     \
	__asm__ volatile("0: nop\n"                                                                \
			 ".pushsection .note.stapsdt,\"\",@note\n.balign 4\n"                      \
			 ".4byte 8, 2f - 1f, 3\n.asciz \"stapsdt\"\n"                              \
			 "1: .8byte 0b, 0, " semaphore "\n.asciz \"test\"\n.asciz \"" name         \
			 "\"\n.asciz \"\"\n"                                                       \
			 "2: .balign 4\n.popsection\n")

__attribute__((used, visibility("hidden"))) volatile unsigned short test_gated_semaphore
	__attribute__((section(".probes"))) = 0;

static void usdt_round(void)
{
	work(ITERATIONS);
	PROBE("done", "0");
	if (test_gated_semaphore)
		PROBE("gated", "test_gated_semaphore");
}

static void paced_round(void)
{
	static struct timespec next;

	if (!next.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec += 5000000;
	if (next.tv_nsec >= 1000000000) {
		next.tv_nsec -= 1000000000;
		next.tv_sec++;
	}
	work(ITERATIONS / 2);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	ASSAY_PROGRESS_NAMED("tick");
}

static void visit_often(void)
{
	for (int i = 0; i < CHILD_VISITS; i++)
		ASSAY_PROGRESS_NAMED("tick");
}

/* A child by fork visits the same point; one by exec has all of our environment. */
static void children_round(void)
{
	char *words[] = {(char[]){"/bin/sh"}, (char[]){"-c"},
		(char[]){"test \"$LD_PRELOAD\" && exec /bin/true"}, NULL};
	pid_t forked = fork(), spawned;
	int status = 0;

	if (forked == 0) {
		visit_often();
		_exit(0);
	}
	if (posix_spawn(&spawned, words[0], NULL, NULL, words, environ) != 0)
		_exit(3);
	waitpid(forked, &status, 0);
	if (status)
		_exit(4);
	waitpid(spawned, &status, 0);
	if (getenv("LD_PRELOAD") && status)
		_exit(5);
	assay_round();
}

static void *thread_live(void *argument)
{
	for (;;) {
		work(ITERATIONS / 20);
		ASSAY_PROGRESS_NAMED("tick");
		nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	}
	return argument;
}

static void threads_start(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, &small, thread_live, NULL) != 0)
			_exit(6);
}

static void *work_always(void *argument)
{
	for (;;)
		work(ITERATIONS);
	return argument;
}

/* Two threads that no signal reaches: one is in work(), the other owes. */
static void masked_start(void)
{
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (pthread_create(&thread, NULL, work_always, NULL) != 0)
		_exit(6);
}

__attribute__((noinline)) static void masked_round(void)
{
	for (volatile int i = 0; i < ITERATIONS / 10; i++)
		;
	ASSAY_PROGRESS_NAMED("tick");
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	double until = seconds_now() + (argc > 2 ? atof(argv[2]) : 0);
	unsigned long rounds = 0;

	if (strcmp(what, "threads") == 0)
		threads_start();
	if (strcmp(what, "masked") == 0)
		masked_start();
	for (; seconds_now() < until; rounds++) {
		if (strcmp(what, "coz") == 0)
			coz_round();
		else if (strcmp(what, "children") == 0)
			children_round();
		else if (strcmp(what, "masked") == 0)
			masked_round();
		else if (strcmp(what, "plain") == 0)
			work(ITERATIONS);
		else if (strcmp(what, "usdt") == 0)
			usdt_round();
		else if (strcmp(what, "paced") == 0)
			paced_round();
		else
			assay_round();
	}
	if (strcmp(what, "crash") == 0)
		raise(SIGSEGV);
	printf("%lu rounds\n", rounds);
	fflush(stdout);
	_exit(0);
}
