/* stack_forest.c - see profile_parts.h.
 *
 * The walk goes from knot to knot in the order of the tree, which is no order of memory: of a
 * million chains each is a miss of the cache, and so is the knot, were it where its stacks are.
 * Hence siblings stand together, and the stacks of a knot are asked for some knots ahead. */
#include <stdlib.h>

#include "base/mem.h"
#include "profile_parts.h"
#include "row_set.h"

enum { KNOTS_AHEAD = 8 };

/* The rows below which samples were taken, and where their knots end: at a sampled stack, or where
 * another row than the next is called. */
static void ends_find(struct row_set *ends, struct row_set *reached, const struct run *run,
	const struct profile_samples *samples)
{
	vec_foreach (const struct profile_stack, sampled, &samples->stacks) {
		row_set_add(reached, sampled->stack);
		row_set_add(ends, sampled->stack);
	}
	for (row_id stack = run->stacks.count; stack; stack--) {
		row_id parent = run->stacks.at[stack - 1].parent;

		if (!row_set_has(reached, stack) || !parent)
			continue;
		row_set_add(reached, parent);
		if (parent + 1 != stack)
			row_set_add(ends, parent);
	}
}

/* A reached row that is no end is followed by its only callee, so a knot goes on to the next end.
 */
static void knots_find(struct stack_knot *knot, uint32_t rows, const struct row_set *ends,
	const struct row_set *reached)
{
	bool inside = false;

	for (row_id stack = 1; stack <= rows; stack++) {
		if (!row_set_has(reached, stack))
			continue;
		if (!inside)
			(++knot)->first = stack;
		knot->last = stack;
		inside = !row_set_has(ends, stack);
	}
}

/* From knots in the order of their stacks, each with its parent in `above`, to siblings together.
 */
static void knots_order(
	struct stack_forest *forest, const struct stack_knot *found, const uint32_t *above)
{
	mem_auto uint32_t *place = mem_new((size_t)forest->count + 1, sizeof(*place));
	uint32_t next = 1;

	forest->knots = mem_new((size_t)forest->count + 1, sizeof(*forest->knots));
	for (uint32_t i = 0; i <= forest->count; i++) {
		place[i] = next;
		next += found[i].child_count;
	}
	forest->knots[0] = found[0];
	forest->knots[0].first_child = 1;
	for (uint32_t i = 1; i <= forest->count; i++) {
		struct stack_knot *knot = &forest->knots[place[above[i]]++];

		*knot = found[i];
		knot->first_child = place[i]; /* its children come later: they are younger */
	}
}

void stack_forest_init(
	struct stack_forest *forest, const struct run *run, const struct profile_samples *samples)
{
	row_set_auto struct row_set reached = {0}, ends = {0};
	mem_auto struct stack_knot *knots = NULL;
	mem_auto uint32_t *above = NULL;

	*forest = (struct stack_forest){.run = run};
	row_set_init(&reached, run->stacks.count);
	row_set_init(&ends, run->stacks.count);
	ends_find(&ends, &reached, run, samples);
	forest->count = row_set_count(&ends);
	knots = mem_new((size_t)forest->count + 1, sizeof(*knots));
	above = mem_new((size_t)forest->count + 1, sizeof(*above));
	knots_find(knots, run->stacks.count, &ends, &reached);
	vec_foreach (const struct profile_stack, sampled, &samples->stacks)
		knots[row_set_rank(&ends, sampled->stack) + 1].self = sampled->cost;
	for (uint32_t i = forest->count; i; i--) {
		row_id parent = run->stacks.at[knots[i].first - 1].parent;

		above[i] = parent ? row_set_rank(&ends, parent) + 1 : 0;
		profile_cost_add(&knots[i].total, &knots[i].self);
		profile_cost_add(&knots[above[i]].total, &knots[i].total);
		knots[above[i]].child_count++;
	}
	knots_order(forest, knots, above);
}

void stack_forest_done(struct stack_forest *forest)
{
	free(forest->knots);
	*forest = (struct stack_forest){0};
}

static void stacks_ask(const struct stack_forest *forest, uint32_t knot)
{
	const struct stack_row *stacks = forest->run->stacks.at;

	if (knot > forest->count)
		return;
	__builtin_prefetch(&stacks[forest->knots[knot].last - 1]);
	__builtin_prefetch(&stacks[forest->knots[knot].first - 1]);
}

void stack_forest_walk(const struct stack_forest *forest, stack_visit *visit, void *context)
{
	const struct stack_knot *knots = forest->knots;
	vec_of(uint32_t) path = {0};
	uint32_t at = knots[0].first_child, above = 0;

	for (;;) {
		if (at < knots[above].first_child + knots[above].child_count) {
			stacks_ask(forest, at + KNOTS_AHEAD);
			visit(context, &knots[at], true);
			vec_push(&path, above);
			above = at;
			at = knots[at].first_child;
			continue;
		}
		if (!above)
			break;
		visit(context, &knots[above], false);
		at = above + 1;
		above = path.at[--path.count];
	}
	vec_done(&path);
}
