/* callgrind_loops.h - loops of a program, from how often each instruction ran and jumped.
 *
 * Does: collect instructions and jumps of a callgrind text (--dump-instr=yes --collect-jumps=yes);
 * tell for each loop how often it was entered and how many trips it made.  Does not: read, emit.
 * Names are compared by their address: they must be interned, and live as long as this.
 * Owns: what it collected, until callgrind_loops_done(). */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "callgrind_text.h"

struct callgrind_step { /* an instruction */
	const char *function, *object, *file;
	uint64_t addr;
	uint32_t line;
	uint64_t times; /* that it ran */
};

struct callgrind_way { /* a jump inside of a function */
	const char *function, *object;
	uint64_t from, to, times, reached;
};

/* A zeroed struct is ready. */
struct callgrind_loops {
	vec_of(struct callgrind_step) steps;
	vec_of(struct callgrind_way) ways;
};

/* Its head is the instruction that all trips begin with. */
struct callgrind_loop {
	const char *function, *file; /* NULL: not known */
	uint32_t line;
	uint64_t entries, trips;
};

void callgrind_loops_add_cost(
	struct callgrind_loops *loops, const struct callgrind_cost *cost, uint64_t times);
void callgrind_loops_add_jump(struct callgrind_loops *loops, const struct callgrind_jump *jump);

/* Each loop that went round at least once, in the order of the code.  Stops with what `take`
 * returned when that is negative. */
int callgrind_loops_find(struct callgrind_loops *loops,
	int (*take)(void *context, const struct callgrind_loop *loop), void *context);

void callgrind_loops_done(struct callgrind_loops *loops);
