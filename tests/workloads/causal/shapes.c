/* shapes.c - programs whose gain from a faster A or B is known, by the way their threads wait.
 *
 *     shapes SHAPE SECONDS [A% B%]      e.g. `shapes ping 5 50 100`: A really does half its work
 *
 * Work is counted in iterations, never in time: a loop that spins for a time would absorb the
 * injected delay.  One unit is about 0.1 ms.  Prints the rounds made and the seconds they took.
 *
 *     split    one thread, A 7 then B 3 units
 *     barrier  two threads, A 30 and B 20 units, then a barrier
 *     pipe     producer A 10, consumer B 20, queue of 8, mutex and condition variable
 *     fpipe    the same over semaphores of raw futexes
 *     iopipe   the same over one-byte tokens in two pipes
 *     convoy   two threads, A 15 units in a lock that is taken in turn, B 5 outside
 *     ping     A 10 then B 20, in two threads, never in parallel, mutex and condition variable
 *     fping    the same over raw futexes
 *     shared   two threads, each A 10 units, a barrier, B 10 in one of them, a barrier
 *     behind   split, beside a thread of the lowest priority that always wants a CPU
 *     device   one thread, A 7 units, then wait_b() sleeps 1 ms, as if for a disk
 *
 * The file that SHAPES_MARK names is there as soon as it has begun. */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* bench/causal/beside_coz.py runs the same program under coz. */
#ifdef WITH_COZ
#include <coz.h>
#define ROUND COZ_PROGRESS_NAMED("round")
#else
#include "assay.h"
#define ROUND ASSAY_PROGRESS_NAMED("round")
#endif

enum { UNIT = 60000, QUEUE = 8 };

static unsigned percent_a = 100, percent_b = 100;
static _Atomic unsigned long rounds;

#define WORK(name)                                                                                 \
	__attribute__((noinline)) static void work_##name(unsigned units)                          \
	{                                                                                          \
		unsigned long left = (unsigned long)units * UNIT / 100 * percent_##name;           \
		unsigned long x = left;                                                            \
                                                                                                   \
		while (left--)                                                                     \
			x = x * 6364136223846793005UL + 1442695040888963407UL;                     \
		__asm__ volatile("" : : "r"(x));                                                   \
	}
WORK(a)
WORK(b)

static void progress(void)
{
	ROUND;
	atomic_fetch_add_explicit(&rounds, 1, memory_order_relaxed);
}

/* ---- ways to wait ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int pipes[2][2];

static void futex_wait(_Atomic unsigned *word, unsigned value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic unsigned *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Counting semaphores in three ways: 0 is room in the queue, 1 what is in it. */
enum way { WAY_CONDITION, WAY_FUTEX, WAY_PIPE };
static _Atomic unsigned counts[2];

static void down(enum way way, int which)
{
	char token;

	if (way == WAY_PIPE) {
		if (read(pipes[which][0], &token, 1) != 1)
			_exit(1);
	} else if (way == WAY_FUTEX) {
		for (;;) {
			unsigned value = atomic_load(&counts[which]);

			if (!value)
				futex_wait(&counts[which], 0);
			else if (atomic_compare_exchange_weak(&counts[which], &value, value - 1))
				return;
		}
	} else {
		pthread_mutex_lock(&mutex);
		while (!counts[which])
			pthread_cond_wait(&changed, &mutex);
		counts[which]--;
		pthread_mutex_unlock(&mutex);
	}
}

static void up(enum way way, int which)
{
	if (way == WAY_PIPE) {
		if (write(pipes[which][1], "x", 1) != 1)
			_exit(1);
	} else if (way == WAY_FUTEX) {
		atomic_fetch_add(&counts[which], 1);
		futex_wake(&counts[which]);
	} else {
		pthread_mutex_lock(&mutex);
		counts[which]++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
}

/* ---- shapes ---- */

struct shape {
	const char *name;
	void *(*first)(void *), *(*second)(void *);
	enum way way;
	unsigned capacity; /* in the queue at first */
};

static void *idle_class(void *unused)
{
	const struct sched_param none = {0};

	(void)unused;
	sched_setscheduler(0, SCHED_IDLE, &none);
	for (;;)
		__asm__ volatile("");
	return NULL;
}

static void *split(void *shape)
{
	for (;;) {
		work_a(7);
		work_b(3);
		progress();
	}
	return shape;
}

static void *barrier_a(void *shape)
{
	for (;;) {
		work_a(30);
		pthread_barrier_wait(&barrier);
		progress();
	}
	return shape;
}

static void *barrier_b(void *shape)
{
	for (;;) {
		work_b(20);
		pthread_barrier_wait(&barrier);
	}
	return shape;
}

static void *produce(void *shape)
{
	const struct shape *s = shape;

	for (;;) {
		work_a(10);
		down(s->way, 0);
		up(s->way, 1);
	}
	return NULL;
}

static void *consume(void *shape)
{
	const struct shape *s = shape;

	for (;;) {
		down(s->way, 1);
		work_b(20);
		up(s->way, 0);
		progress();
	}
	return NULL;
}

static void *ping_a(void *shape)
{
	const struct shape *s = shape;

	for (;;) {
		down(s->way, 0);
		work_a(10);
		up(s->way, 1);
	}
	return NULL;
}

static void *convoy(void *shape)
{
	static _Atomic unsigned next, serving;

	for (;;) {
		unsigned mine;

		pthread_mutex_lock(&mutex);
		mine = next++;
		while (serving != mine)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
		work_a(15);
		pthread_mutex_lock(&mutex);
		serving++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
		work_b(5);
		progress();
	}
	return shape;
}

static void *shared_both(void *shape)
{
	for (;;) {
		work_a(10);
		pthread_barrier_wait(&barrier);
		work_b(10);
		pthread_barrier_wait(&barrier);
		progress();
	}
	return shape;
}

static void *shared_one(void *shape)
{
	for (;;) {
		work_a(10);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	return shape;
}

/* A wait that nobody of the program ends, like one for a disk. */
__attribute__((noinline)) static void wait_b(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	__asm__ volatile(""); /* a call and not a jump: its return address is in the target */
}

static void *device(void *shape)
{
	for (;;) {
		work_a(7);
		wait_b();
		progress();
	}
	return shape;
}

static const struct shape shapes[] = {
	{"split", split, NULL, 0, 0},
	{"behind", split, idle_class, 0, 0},
	{"barrier", barrier_a, barrier_b, 0, 0},
	{"pipe", produce, consume, WAY_CONDITION, QUEUE},
	{"fpipe", produce, consume, WAY_FUTEX, QUEUE},
	{"iopipe", produce, consume, WAY_PIPE, QUEUE},
	{"convoy", convoy, convoy, 0, 0},
	{"ping", ping_a, consume, WAY_CONDITION, 1},
	{"fping", ping_a, consume, WAY_FUTEX, 1},
	{"shared", shared_both, shared_one, 0, 0},
	{"device", device, NULL, 0, 0},
};

static const struct shape *shape_find(const char *name)
{
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (strcmp(shapes[i].name, name) == 0)
			return &shapes[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct shape *shape = argc > 2 ? shape_find(argv[1]) : NULL;
	double seconds = argc > 2 ? atof(argv[2]) : 0;
	struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	const char *mark = getenv("SHAPES_MARK");
	pthread_t thread;

	if (mark)
		close(open(mark, O_CREAT | O_WRONLY, 0644));
	if (!shape) {
		fprintf(stderr, "usage: shapes SHAPE SECONDS [A%% B%%]\n");
		return 2;
	}
	if (argc > 4) {
		percent_a = (unsigned)atoi(argv[3]);
		percent_b = (unsigned)atoi(argv[4]);
	}
	pthread_barrier_init(&barrier, NULL, 2);
	counts[0] = shape->capacity;
	if (pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0)
		return 1;
	for (unsigned i = 0; shape->way == WAY_PIPE && i < shape->capacity; i++)
		up(WAY_PIPE, 0);
	pthread_create(&thread, NULL, shape->first, (void *)(size_t)shape);
	if (shape->second)
		pthread_create(&thread, NULL, shape->second, (void *)(size_t)shape);
	while (nanosleep(&left, &left) < 0)
		;
	printf("%lu rounds %.3f s\n", atomic_load(&rounds), seconds);
	fflush(stdout);
	_exit(0);
}
