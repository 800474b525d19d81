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
};

typedef vec_of(struct causal_function) causal_function_vec;

enum { CAUSAL_FUNCTIONS_MAX = 1024 };

/* At most CAUSAL_FUNCTIONS_MAX, the largest. */
int causal_functions_list(const char *path, const struct scope *scope, struct arena *arena,
	causal_function_vec *ret_functions, struct err *err);

/* Bit i of ret_callers[k]: functions[i] calls functions[k].  At most 64; direct calls only. */
void causal_functions_callers(const char *path, const struct causal_function *const *functions,
	uint32_t count, uint64_t *ret_callers);
