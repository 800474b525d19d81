/* pmu_cost.c - see pmu_cost.h.
 *
 * A cycle is one of many exclusive-ors that wait for each other: the self-test's loop takes one or
 * two per step, depending on where it was linked (0.27 and 0.54 ns were seen), and additions of
 * constants are folded by newer cores.  A mispredict is what the self-test's random branches take
 * beyond their arithmetic: the generator is a chain of six operations of one cycle, and half of the
 * branches miss.  For memory the lines stand one in each page of 64 MiB, so that a load pays for
 * its address too, as it does in a program with much data; they are flushed first, so that the size
 * of the caches does not matter.  For L3 the ring has four times the size of L2. */
#include "source/pmu_cost.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/stats.h"
#include "pmu_flush.h"
#include "source/cache_sizes.h"
#include "source/pmu.h"

enum {
	ROUNDS = 3, /* a neighbour may fill the memory for some time: 15 times slower was seen */
	TRIES = 5,
	PIECES = 8, /* timed one by one: a piece that nobody interrupted is the true one */
	PAGE = 4096,
	PAGES = 16384, /* 64 MiB */
	LINE = 64,
	STREAM_LINES = 1 << 19, /* 32 MiB */
	NEAR_LINES = 4096,	/* 256 KiB: more than any L1, less than any L2 of a server */
	RING_STEPS = 1 << 15,	/* some rounds of a ring that fits L2, one of one that does not */
	FAR_LEAST = 2,		/* times the size of L2: with less, half of the loads hit it */
	FAR_MOST = 4,
	CHAIN_CYCLES = 6,
	CHAIN_ROUNDS = 10000,
};

enum { LAPS = ROUNDS * TRIES * PIECES };

/* Time of this thread: what other programs take of the CPU in between costs nothing here. */
struct stopwatch {
	uint64_t start_ns, best_ns;
	double laps[LAPS]; /* the first ones */
	unsigned count;
};

/* Laps of all rounds. */
struct laps {
	struct stopwatch cycle, branch, memory, line, plain, cache, far;
};

static void watch_start(void *context)
{
	struct stopwatch *watch = context;

	watch->start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void watch_stop(void *context)
{
	struct stopwatch *watch = context;
	uint64_t ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - watch->start_ns;

	if (!watch->best_ns || ns < watch->best_ns)
		watch->best_ns = ns;
	if (watch->count < LAPS)
		watch->laps[watch->count++] = (double)ns;
}

/* Memory, caches and often the core are shared with whoever else runs here, and the program that
 * this is compared with had no better than the usual either: the middle of all laps, not the best
 * of some rounds.  Only a cycle is a cycle: of it the best. */
static double usual_ns(struct stopwatch *watch)
{
	stats_sort(watch->laps, watch->count);
	return stats_median_sorted(watch->laps, watch->count);
}

static void cycle_time(struct stopwatch *watch)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t value = 1, left = CHAIN_ROUNDS, other = 3;

		watch_start(watch);
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
		watch_stop(watch);
	}
}

static void branch_time(struct stopwatch *watch)
{
	for (unsigned i = 0; i < TRIES; i++)
		if (pmu_do_work(PMU_WORK_BRANCH, watch_start, watch_stop, watch) < 0)
			return;
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

static void memory_time(char *memory, struct stopwatch *watch)
{
	void *at = memory;

	ring_build(memory, PAGES, PAGE);
	for (unsigned i = 0; i < TRIES; i++) {
		for (size_t page = 0; page < PAGES; page++)
			line_flush(memory + page * PAGE + (page % (PAGE / LINE)) * LINE);
		flush_wait();
		for (unsigned piece = 0; piece < PIECES; piece++) {
			watch_start(watch);
			at = ring_walk(at, PAGES / PIECES);
			watch_stop(watch);
		}
	}
}

static void lines_read(const char *from, size_t count)
{
	for (size_t line = 0; line < count; line++) {
		uint64_t value = *(const volatile uint64_t *)(const void *)(from + line * LINE);

		__asm__ volatile("" ::"r"(value));
	}
}

/* Every word of the lines, as a compiler writes the plainest loop: three or four instructions for
 * each. */
static void words_read(const char *from, size_t count)
{
	const char *end = from + count * LINE;
	uint64_t sum = 0;

#if defined(__x86_64__)
	__asm__ volatile(".p2align 5; 1: add (%0), %1; add $8, %0; cmp %2, %0; jne 1b"
			 : "+r"(from), "+r"(sum)
			 : "r"(end)
			 : "cc", "memory");
#elif defined(__aarch64__)
	uint64_t word;

	__asm__ volatile(".p2align 5; 1: ldr %2, [%0], #8; add %1, %1, %2; cmp %0, %3; b.ne 1b"
			 : "+r"(from), "+r"(sum), "=&r"(word)
			 : "r"(end)
			 : "cc", "memory");
#endif
}

static void stream_time(
	char *memory, void (*read)(const char *from, size_t count), struct stopwatch *watch)
{
	for (unsigned i = 0; i < 2; i++) {
		for (size_t line = 0; line < STREAM_LINES; line++)
			line_flush(memory + line * LINE);
		flush_wait();
		for (size_t piece = 0; piece < PIECES; piece++) {
			const char *from = memory + piece * (STREAM_LINES / PIECES) * LINE;

			watch_start(watch);
			read(from, STREAM_LINES / PIECES);
			watch_stop(watch);
		}
	}
}

/* Loads from a ring of so many lines that stays in a cache. */
static void cache_time(char *memory, size_t lines, struct stopwatch *watch)
{
	void *at = memory;

	ring_build(memory, lines, LINE);
	at = ring_walk(at, lines + RING_STEPS); /* brings it into the caches */
	for (unsigned i = 0; i < TRIES; i++) {
		watch_start(watch);
		at = ring_walk(at, RING_STEPS);
		watch_stop(watch);
	}
}

/* Lines that fit L3 with room for others, and not L2; 0: there are none. */
static size_t far_lines(const struct cache_sizes *sizes)
{
	uint64_t most = sizes->l3.size_bytes / 2, wanted = FAR_MOST * sizes->l2.size_bytes;
	size_t bytes = cache_power_below(wanted < most ? wanted : most);

	return sizes->l2.size_bytes && bytes >= FAR_LEAST * sizes->l2.size_bytes &&
			       bytes <= (size_t)PAGES * PAGE
		       ? bytes / LINE
		       : 0;
}

static struct pmu_cost cost_of(struct laps *laps)
{
	double cycle_ns = (double)laps->cycle.best_ns / (100.0 * CHAIN_ROUNDS);
	double step_ns = usual_ns(&laps->branch) / PMU_BRANCH_STEPS;
	double mispredict_ns = 2 * (step_ns - CHAIN_CYCLES * cycle_ns);

	if (!(mispredict_ns >= 5 * cycle_ns)) /* shorter than any pipeline: learnt by heart */
		mispredict_ns = 5 * cycle_ns;
	return (struct pmu_cost){
		.cycle_ns = cycle_ns,
		.memory_ns = usual_ns(&laps->memory) * PIECES / PAGES,
		.line_ns = usual_ns(&laps->line) * PIECES / STREAM_LINES,
		.plain_ns = usual_ns(&laps->plain) * PIECES / STREAM_LINES,
		.cache_ns = usual_ns(&laps->cache) / RING_STEPS,
		.far_ns = laps->far.count ? usual_ns(&laps->far) / RING_STEPS : 0,
		.mispredict_ns = mispredict_ns,
	};
}

int pmu_cost_measure(const struct cache_sizes *sizes, struct pmu_cost *ret_cost)
{
	size_t bytes = (size_t)PAGES * PAGE, far = far_lines(sizes);
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct laps laps = {0};

	if (memory == MAP_FAILED)
		return -errno;
	for (unsigned round = 0; round < ROUNDS; round++) {
		cycle_time(&laps.cycle);
		branch_time(&laps.branch);
		memory_time(memory, &laps.memory);
		stream_time(memory, lines_read, &laps.line);
		stream_time(memory, words_read, &laps.plain);
		cache_time(memory, NEAR_LINES, &laps.cache);
		if (far)
			cache_time(memory, far, &laps.far);
	}
	munmap(memory, bytes);
	*ret_cost = cost_of(&laps);
	return 0;
}
