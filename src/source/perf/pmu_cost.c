/* pmu_cost.c - see pmu_cost.h.
 *
 * A cycle is one of many exclusive-ors that wait for each other: the self-test's loop takes one or
 * two per step, depending on where it was linked (0.27 and 0.54 ns were seen), and additions of
 * constants are folded by newer cores.  A mispredict is what the self-test's random branches take
 * beyond their arithmetic: the generator is a chain of six operations of one cycle, and half of the
 * branches miss.  For memory the lines stand one in each page of 64 MiB, so that a load pays for
 * its address too, as it does in a program with much data; they are flushed first, so that the size
 * of the caches does not matter. */
#include "source/pmu_cost.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/stats.h"
#include "pmu_flush.h"
#include "source/pmu.h"

enum {
	ROUNDS = 3, /* a neighbour may fill the memory for some time: 15 times slower was seen */
	TRIES = 5,
	PIECES = 8, /* timed one by one: a piece that nobody interrupted is the true one */
	PAGE = 4096,
	PAGES = 16384, /* 64 MiB */
	LINE = 64,
	STREAM_LINES = 1 << 19,	     /* 32 MiB */
	NEAR_LINES = 4096,	     /* 256 KiB: more than any L1, less than any L2 of a server */
	NEAR_STEPS = 8 * NEAR_LINES, /* some rounds */
	CHAIN_CYCLES = 6,
	CHAIN_ROUNDS = 10000,
};

enum { LAPS = 64 };

struct stopwatch {
	uint64_t start_ns, best_ns;
	double laps[LAPS]; /* the first ones */
	unsigned count;
};

static void watch_start(void *context)
{
	struct stopwatch *watch = context;

	watch->start_ns = clock_monotonic_ns();
}

static void watch_stop(void *context)
{
	struct stopwatch *watch = context;
	uint64_t ns = clock_monotonic_ns() - watch->start_ns;

	if (!watch->best_ns || ns < watch->best_ns)
		watch->best_ns = ns;
	if (watch->count < LAPS)
		watch->laps[watch->count++] = (double)ns;
}

/* Memory is shared with whoever else runs here, so neither its best nor a disturbed lap counts: a
 * quarter of the laps was faster than this. */
static double usual_ns(struct stopwatch *watch)
{
	stats_sort(watch->laps, watch->count);
	return watch->laps[watch->count / 4];
}

static double cycle_ns(void)
{
	struct stopwatch watch = {0};

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t value = 1, left = CHAIN_ROUNDS, other = 3;

		watch_start(&watch);
#if defined(__x86_64__)
		__asm__ volatile("1: .rept 100; xor %2, %0; .endr; dec %1; jnz 1b"
				 : "+r"(value), "+r"(left)
				 : "r"(other)
				 : "cc");
#elif defined(__aarch64__)
		__asm__ volatile("1: .rept 100; eor %0, %0, %2; .endr; subs %1, %1, #1; b.ne 1b"
				 : "+r"(value), "+r"(left)
				 : "r"(other)
				 : "cc");
#else
#error "write a chain of 100 dependent operations for this architecture"
#endif
		watch_stop(&watch);
	}
	return (double)watch.best_ns / (100.0 * CHAIN_ROUNDS);
}

static double work_ns(enum pmu_work work, double steps)
{
	struct stopwatch watch = {0};

	for (unsigned i = 0; i < TRIES; i++)
		if (pmu_do_work(work, watch_start, watch_stop, &watch) < 0)
			return 0;
	return (double)watch.best_ns / steps;
}

/* One ring through all slots, a power of two of them, in an order that no prefetcher follows: the
 * multiplier is 1 modulo 4 and the addend odd, so no slot comes twice. */
static void ring_build(char *memory, size_t slots, size_t stride)
{
	for (size_t i = 0; i < slots; i++) {
		size_t next = (i * 1103515245 + 12345) & (slots - 1);
		/* Not all lines at the same place of their page: these share one set of a cache. */
		size_t at = i * stride + (stride >= PAGE ? (i % (PAGE / LINE)) * LINE : 0);
		size_t to = next * stride + (stride >= PAGE ? (next % (PAGE / LINE)) * LINE : 0);

		*(void **)(void *)(memory + at) = memory + to;
	}
}

static void *ring_walk(void *at, size_t steps)
{
	for (size_t i = 0; i < steps; i++) {
		at = *(void **)at;		 /* NOLINT(clang-analyzer-core.NullDereference) */
		__asm__ volatile("" : "+r"(at)); /* the loads stay, one after the other */
	}
	return at;
}

static double memory_ns(char *memory)
{
	struct stopwatch watch = {0};
	void *at = memory;

	ring_build(memory, PAGES, PAGE);
	for (unsigned i = 0; i < TRIES; i++) {
		for (size_t page = 0; page < PAGES; page++)
			line_flush(memory + page * PAGE + (page % (PAGE / LINE)) * LINE);
		flush_wait();
		for (unsigned piece = 0; piece < PIECES; piece++) {
			watch_start(&watch);
			at = ring_walk(at, PAGES / PIECES);
			watch_stop(&watch);
		}
	}
	return usual_ns(&watch) * PIECES / PAGES;
}

static void lines_read(const char *from, size_t count)
{
	for (size_t line = 0; line < count; line++) {
		uint64_t value = *(const volatile uint64_t *)(const void *)(from + line * LINE);

		__asm__ volatile("" ::"r"(value));
	}
}

static double line_ns(char *memory)
{
	struct stopwatch watch = {0};

	for (unsigned i = 0; i < 2; i++) {
		for (size_t line = 0; line < STREAM_LINES; line++)
			line_flush(memory + line * LINE);
		flush_wait();
		for (size_t piece = 0; piece < PIECES; piece++) {
			const char *from = memory + piece * (STREAM_LINES / PIECES) * LINE;

			watch_start(&watch);
			lines_read(from, STREAM_LINES / PIECES);
			watch_stop(&watch);
		}
	}
	return usual_ns(&watch) * PIECES / STREAM_LINES;
}

static double cache_ns(char *memory)
{
	struct stopwatch watch = {0};

	ring_build(memory, NEAR_LINES, LINE);
	(void)ring_walk(memory, NEAR_STEPS); /* brings it into the caches */
	for (unsigned i = 0; i < TRIES; i++) {
		watch_start(&watch);
		(void)ring_walk(memory, NEAR_STEPS);
		watch_stop(&watch);
	}
	return (double)watch.best_ns / NEAR_STEPS;
}

static struct pmu_cost cost_once(char *memory)
{
	struct pmu_cost cost = {.cycle_ns = cycle_ns()};
	double step = work_ns(PMU_WORK_BRANCH, PMU_BRANCH_STEPS);

	cost.mispredict_ns = 2 * (step - CHAIN_CYCLES * cost.cycle_ns);
	if (cost.mispredict_ns < 5 * cost.cycle_ns) /* shorter than any pipeline: learnt by heart */
		cost.mispredict_ns = 5 * cost.cycle_ns;
	cost.memory_ns = memory_ns(memory);
	cost.line_ns = line_ns(memory);
	cost.cache_ns = cache_ns(memory);
	return cost;
}

static void keep_less(double *best, double value)
{
	if (value < *best)
		*best = value;
}

int pmu_cost_measure(struct pmu_cost *ret_cost)
{
	size_t bytes = (size_t)PAGES * PAGE;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct pmu_cost best;

	if (memory == MAP_FAILED)
		return -errno;
	best = cost_once(memory);
	for (unsigned round = 1; round < ROUNDS; round++) {
		struct pmu_cost again = cost_once(memory);

		keep_less(&best.cycle_ns, again.cycle_ns);
		keep_less(&best.memory_ns, again.memory_ns);
		keep_less(&best.line_ns, again.line_ns);
		keep_less(&best.cache_ns, again.cache_ns);
		keep_less(&best.mispredict_ns, again.mispredict_ns);
	}
	munmap(memory, bytes);
	*ret_cost = best;
	return 0;
}
