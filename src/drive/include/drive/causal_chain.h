/* causal_chain.h - from whole stacks of a program to points that may count its work.
 *
 * Does: list, from the root of the stacks down, the functions of the user's own that stand on them
 * and the loops that they are in there: what is further in is visited more often.
 * Does not: count anything.  Owns: nothing; texts live in the arena, paths in `sites`. */
#pragma once

#include "base/arena.h"
#include "drive/causal_functions.h"
#include "drive/causal_sites.h"

enum { CAUSAL_CHAIN_MAX = 64 };

/* Behind what `ret_points` holds, the outermost first, at most CAUSAL_CHAIN_MAX: those that at
 * least one stack in twenty has. */
void causal_chain_list(struct causal_sites *sites, const struct causal_stack *stacks,
	uint32_t count, struct arena *arena, causal_function_vec *ret_points);
