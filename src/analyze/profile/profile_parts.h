/* profile_parts.h - the walk over the stacks of a run that profile and call tree share.
 *
 * Stacks are a tree (each row names its caller's row, which is older), so what lies below a stack
 * is summed in one pass from the last row to the first, and a depth-first walk meets every stack
 * once, however deep or often it was sampled: linear also for a file made to be slow. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile_filter.h"
#include "model/run.h"

struct stack_forest {
	const struct run *run;
	row_id *first_child; /* by the stack's id; [0]: the outermost ones */
	row_id *next_sibling;
	struct profile_cost *total; /* the stack with everything it called */
};

/* Only stacks with samples below them are in it. */
void stack_forest_init(
	struct stack_forest *forest, const struct run *run, const struct profile_samples *samples);
void stack_forest_done(struct stack_forest *forest);
#define stack_forest_auto __attribute__((cleanup(stack_forest_done)))

/* Called on the way down (`entering`) and on the way up. */
typedef void stack_visit(void *context, row_id stack, bool entering);

void stack_forest_walk(const struct stack_forest *forest, stack_visit *visit, void *context);

static inline void profile_cost_add(struct profile_cost *sum, const struct profile_cost *cost)
{
	sum->samples += cost->samples;
	sum->weight += cost->weight;
}
