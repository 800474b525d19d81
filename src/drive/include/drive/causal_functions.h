/* causal_functions.h - the functions of a program that may count its work, and who calls whom.
 *
 * Does: list the functions of the symbol table that are in scope (all of them where no lines are
 * known), without what the compiler put there; find direct calls among a few of them.
 * Does not: count anything.  Owns: nothing; texts live in the caller's arena. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "code/scope.h"
#include "source/causal.h"

struct causal_function {
	struct causal_point point; /* its first instruction */
	uint64_t addr, bytes;
	/* Of those found on stacks (causal_chain.h). */
	const char *function; /* that the loop is in */
	bool is_loop;	      /* a place in it: the head of a loop */
	double share;	      /* of the stacks that have it; 0: not asked */
	double depth;	      /* how far from the root of the stack */
};

typedef vec_of(struct causal_function) causal_function_vec;

enum { CAUSAL_FUNCTIONS_MAX = 1024 };

/* At most CAUSAL_FUNCTIONS_MAX, the largest. */
int causal_functions_list(const char *path, const struct scope *scope, struct arena *arena,
	causal_function_vec *ret_functions, struct err *err);

/* A function's name as a progress point has it, without its parameters. */
const char *causal_point_name(struct arena *arena, const char *function);

/* Bit i of ret_callers[k]: functions[i] calls functions[k].  At most 64; direct calls only. */
void causal_functions_callers(const char *path, const struct causal_function *const *functions,
	uint32_t count, uint64_t *ret_callers);
