/* pmu_cost.c - see pmu_cost.h.
 *
 * A cycle is a step of the self-test's loop (pmu_work.c), a mispredict what its random branches take
 * beyond their arithmetic: the generator is a chain of six operations of one cycle, and half of the
 * branches miss.  For memory the lines stand one in each page of 64 MiB, so that a load pays for its
 * address too, as it does in a program with much data; they are flushed first, so that the size of
 * the caches does not matter. */
#include "source/pmu_cost.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "source/pmu.h"

enum {
	TRIES = 5,
	PAGE = 4096,
	PAGES = 16384, /* 64 MiB */
	LINE = 64,
	STREAM_LINES = 1 << 19,	     /* 32 MiB */
	NEAR_LINES = 4096,	     /* 256 KiB: more than any L1, less than any L2 of a server */
	NEAR_STEPS = 8 * NEAR_LINES, /* some rounds */
	CHAIN_CYCLES = 6,
};

struct stopwatch {
	uint64_t start_ns, best_ns;
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
}

static double work_ns(enum pmu_work work, double steps)
{
	struct stopwatch watch = {0};

	for (unsigned i = 0; i < TRIES; i++)
		if (pmu_do_work(work, watch_start, watch_stop, &watch) < 0)
			return 0;
	return (double)watch.best_ns / steps;
}

static void line_flush(const void *line)
{
#if defined(__x86_64__)
	__asm__ volatile("clflush (%0)" ::"r"(line) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
#endif
}

static void flush_wait(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dsb ish" ::: "memory");
#endif
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

static void ring_walk(void *at, size_t steps)
{
	for (size_t i = 0; i < steps; i++) {
		at = *(void **)at; /* NOLINT(clang-analyzer-core.NullDereference) */
		__asm__ volatile("" : "+r"(at)); /* the loads stay, one after the other */
	}
}

static double memory_ns(char *memory)
{
	struct stopwatch watch = {0};

	ring_build(memory, PAGES, PAGE);
	for (unsigned i = 0; i < TRIES; i++) {
		for (size_t page = 0; page < PAGES; page++)
			line_flush(memory + page * PAGE + (page % (PAGE / LINE)) * LINE);
		flush_wait();
		watch_start(&watch);
		ring_walk(memory, PAGES);
		watch_stop(&watch);
	}
	return (double)watch.best_ns / PAGES;
}

static double line_ns(char *memory)
{
	struct stopwatch watch = {0};

	for (unsigned i = 0; i < 2; i++) {
		for (size_t line = 0; line < STREAM_LINES; line++)
			line_flush(memory + line * LINE);
		flush_wait();
		watch_start(&watch);
		for (size_t line = 0; line < STREAM_LINES; line++) {
			uint64_t value = *(volatile uint64_t *)(void *)(memory + line * LINE);

			__asm__ volatile("" ::"r"(value));
		}
		watch_stop(&watch);
	}
	return (double)watch.best_ns / STREAM_LINES;
}

static double cache_ns(char *memory)
{
	struct stopwatch watch = {0};

	ring_build(memory, NEAR_LINES, LINE);
	ring_walk(memory, NEAR_STEPS); /* brings it into the caches */
	for (unsigned i = 0; i < TRIES; i++) {
		watch_start(&watch);
		ring_walk(memory, NEAR_STEPS);
		watch_stop(&watch);
	}
	return (double)watch.best_ns / NEAR_STEPS;
}

int pmu_cost_measure(struct pmu_cost *ret_cost)
{
	size_t bytes = (size_t)PAGES * PAGE;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct pmu_cost cost;
	double step;

	if (memory == MAP_FAILED)
		return -errno;
	cost.cycle_ns = work_ns(PMU_WORK_LOOP, PMU_LOOP_STEPS);
	step = work_ns(PMU_WORK_BRANCH, PMU_BRANCH_STEPS);
	cost.mispredict_ns = 2 * (step - CHAIN_CYCLES * cost.cycle_ns);
	if (cost.mispredict_ns < 5 * cost.cycle_ns) /* shorter than any pipeline: learnt by heart */
		cost.mispredict_ns = 5 * cost.cycle_ns;
	cost.memory_ns = memory_ns(memory);
	cost.line_ns = line_ns(memory);
	cost.cache_ns = cache_ns(memory);
	munmap(memory, bytes);
	*ret_cost = cost;
	return 0;
}
