/* pmu_work.c - work whose events are known.
 *
 * The loop is assembly, so that no compiler changes its length.  The chase flushes its lines from
 * every cache first, so each load misses whatever the size of the last level; walking a buffer
 * larger than it would need 64 MB and up, and 100 ms to build.  Random bits come from a generator
 * that no branch predictor learns (xorshift64). */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "pmu_flush.h"
#include "source/pmu.h"

enum { LINE_STRIDE = 256 }; /* more than the pairs of lines that adjacent-line prefetchers fetch */

static void work_loop(void)
{
	uint64_t left = PMU_LOOP_STEPS;

#if defined(__x86_64__)
	__asm__ volatile("1: nop; nop; dec %0; jnz 1b" : "+r"(left)::"cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: nop; nop; subs %0, %0, #1; b.ne 1b" : "+r"(left)::"cc");
#else
#error "write the loop of PMU_LOOP_INSTRUCTIONS for this architecture"
#endif
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void work_branch(void)
{
	uint64_t state = 0x9e3779b97f4a7c15u;

	for (unsigned i = 0; i < PMU_BRANCH_STEPS; i++)
		/* The empty asm keeps this a branch: it cannot become a conditional move. */
		if (random_next(&state) & 1)
			__asm__ volatile("" ::: "memory");
		else
			__asm__ volatile("" : "+r"(state));
}

/* One cycle through all lines in random order (Sattolo), then flushed. */
static void chase_build(char *lines)
{
	uint64_t state = 88172645463325252u;

	for (unsigned i = 0; i < PMU_CHASE_STEPS; i++)
		*(void **)(void *)(lines + (size_t)i * LINE_STRIDE) =
			lines + (size_t)i * LINE_STRIDE;
	for (unsigned i = PMU_CHASE_STEPS - 1; i; i--) {
		void **a = (void *)(lines + (size_t)i * LINE_STRIDE);
		void **b = (void *)(lines + (size_t)(random_next(&state) % i) * LINE_STRIDE);
		void *swap = *a;

		*a = *b;
		*b = swap;
	}
	for (unsigned i = 0; i < PMU_CHASE_STEPS; i++)
		line_flush(lines + (size_t)i * LINE_STRIDE);
	flush_wait();
}

static void work_chase(void *lines)
{
	/* A ring: no link is ever NULL, whatever an analyzer thinks. */
	for (unsigned i = 0; i < PMU_CHASE_STEPS; i++) {
		lines = *(void **)lines; /* NOLINT(clang-analyzer-core.NullDereference) */
		__asm__ volatile("" : "+r"(lines)); /* the loads stay, one after the other */
	}
}

int pmu_do_work(enum pmu_work work, void (*before)(void *), void (*after)(void *), void *context)
{
	size_t bytes = (size_t)PMU_CHASE_STEPS * LINE_STRIDE;
	char *lines = NULL;

	if (work == PMU_WORK_CHASE) {
		lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (lines == MAP_FAILED)
			return -errno;
		chase_build(lines);
	}
	before(context);
	if (work == PMU_WORK_LOOP)
		work_loop();
	else if (work == PMU_WORK_BRANCH)
		work_branch();
	else if (lines)
		work_chase(lines);
	after(context);
	if (lines)
		munmap(lines, bytes);
	return 0;
}
