/* profile_parts.h - the walk over the stacks of a run that profile and call tree share.
 *
 * Stacks are a tree (each row names its caller's row, which is older).  A chain that is new adds
 * its rows one behind the other, so most rows have one callee, the next row, and what lies below
 * both is the same: such rows are one knot.  A knot ends where samples were taken or where the
 * chain branches, so there are hardly more knots than sampled stacks, however deep they are.  What
 * lies below a knot is summed in one pass from the last to the first, and a depth-first walk meets
 * every row once, however often it was sampled: linear also for a file made to be slow. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile_filter.h"
#include "model/run.h"

/* Stacks `first` to `last`, each called by the one before. */
struct stack_knot {
	row_id first, last;
	uint32_t first_child, child_count; /* they stand one behind the other */
	struct profile_cost self;	   /* samples taken at `last` */
	struct profile_cost total;	   /* with everything it called: of each of its stacks */
};

struct stack_forest {
	const struct run *run;
	struct stack_knot *knots; /* [0] has no stacks: its children are the outermost ones */
	uint32_t count;		  /* without [0] */
};

/* Only stacks with samples below them are in it. */
void stack_forest_init(
	struct stack_forest *forest, const struct run *run, const struct profile_samples *samples);
void stack_forest_done(struct stack_forest *forest);
#define stack_forest_auto __attribute__((cleanup(stack_forest_done)))

/* Called on the way down (`entering`) and on the way up. */
typedef void stack_visit(void *context, const struct stack_knot *knot, bool entering);

void stack_forest_walk(const struct stack_forest *forest, stack_visit *visit, void *context);

static inline void profile_cost_add(struct profile_cost *sum, const struct profile_cost *cost)
{
	sum->samples += cost->samples;
	sum->weight += cost->weight;
}
