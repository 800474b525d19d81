/* hotspot_operation.c - where no function has most of the time, the operation that they are steps
 * of.
 *
 * A number is converted to text and back, a file is read and hashed: each step is a function with a
 * loop of its own and a third of the time, and so a place (hotspot_level.c), but nobody would
 * change one of them.  What they have in common is a function that does one step after the other,
 * or in a loop, and is called a thousand times: that it is done so often is what can be changed.
 *
 * A function that does ten things (an interpreter, a compiler) is no operation: many functions
 * share its time.  Nor is it one when a step has most of its time, or when it was not counted how
 * often it is called: an image goes through four passes once. */
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "hotspot_parts.h"
#include "hotspot_stacks.h"

#define STEP_MOST 0.6 /* of the operation's time in one place: then that is it */
#define LEAST 0.25    /* of all samples */
#define AHEAD 1.6     /* times the time of the largest place */
#define SAME 0.9      /* of the largest operation: the innermost one of that size */
#define MOSTLY 0.8    /* of its time is in so many functions at most: */
enum { STEPS_MOST = 8, CALLS_LEAST = 1000 };
#define CALL_MOST 1e6 /* instructions of one call, a third of a millisecond */
#define ROOT_MOST 0.1 /* of its stacks end there: it is the root */

/* What was sampled of a function as a caller of places. */
struct operation {
	uint64_t most;	/* of one place below it, or it */
	uint64_t root;	/* of its time: stacks that it is the root of */
	uint64_t calls; /* 0: not counted, as of a function that is only inlined */
	uint64_t below; /* of what it calls, the most */
	uint32_t steps; /* functions with most of its time */
	bool fits;
};

/* Weights by pairs of labels. */
struct pair_weight {
	uint32_t outer, inner;
	uint64_t weight;
};

struct pairs {
	struct map index;
	vec_of(struct pair_weight) at;
};

static void pairs_add(struct pairs *pairs, uint32_t outer, uint32_t inner, uint64_t weight)
{
	uint32_t key[2] = {outer, inner}, at;

	if (map_add(&pairs->index, key, sizeof(key), pairs->at.count, &at))
		vec_push(&pairs->at, (struct pair_weight){outer, inner, 0});
	pairs->at.at[at].weight += weight;
}

static void pairs_done(struct pairs *pairs)
{
	map_done(&pairs->index);
	vec_done(&pairs->at);
}

static int by_operation(const void *a, const void *b)
{
	const struct pair_weight *x = a, *y = b;

	if (x->outer != y->outer)
		return (x->outer > y->outer) - (x->outer < y->outer);
	return (x->weight < y->weight) - (x->weight > y->weight);
}

/* Each function of a stack once, with the place of the stack and with its innermost function. */
static void stack_take(const struct own_stacks *stacks, const struct own_stack *stack,
	struct operation *operations, struct pairs *places, struct pairs *leaves)
{
	const struct own_frame *frames = own_frames(stacks, stack);
	uint64_t weight = stack->at.cost.weight;

	for (uint32_t i = 0; i < stack->count; i++) {
		uint32_t f = frames[i].function, k = 0;

		operations[f].calls = stacks->least_of[f];
		if (i && stacks->least_of[frames[i - 1].function] > operations[f].below)
			operations[f].below = stacks->least_of[frames[i - 1].function];
		while (frames[k].function != f)
			k++;
		if (k < i)
			continue;
		operations[f].root += i + 1 == stack->count ? weight : 0;
		pairs_add(leaves, f, frames[0].function, weight);
		if (i >= stack->place)
			pairs_add(places, f, frames[stack->place].function, weight);
	}
}

static void steps_count(
	const struct own_cost *costs, struct pairs *leaves, struct operation *operations)
{
	uint64_t sum = 0;

	vec_sort(&leaves->at, by_operation);
	for (uint32_t i = 0; i < leaves->at.count; i++) {
		const struct pair_weight *leaf = &leaves->at.at[i];

		sum = i && leaf[-1].outer == leaf->outer ? sum : 0;
		if ((double)sum < MOSTLY * (double)costs[leaf->outer].total)
			operations[leaf->outer].steps++;
		sum += leaf->weight;
	}
}

static struct operation *operations_make(
	const struct own_stacks *stacks, const struct own_cost *costs)
{
	struct operation *operations =
		mem_new((size_t)stacks->functions.labels.count + 1, sizeof(*operations));
	struct pairs places = {0}, leaves = {0};

	for (uint32_t i = 0; i < stacks->stacks.count; i++)
		stack_take(stacks, &stacks->stacks.at[i], operations, &places, &leaves);
	vec_foreach (const struct pair_weight, pair, &places.at)
		if (pair->weight > operations[pair->outer].most)
			operations[pair->outer].most = pair->weight;
	steps_count(costs, &leaves, operations);
	pairs_done(&places);
	pairs_done(&leaves);
	return operations;
}

/* `instructions` of all that was simulated; 0: not known. */
static bool is_operation(
	const struct operation *of, const struct own_cost *cost, double share, double instructions)
{
	double total = (double)cost->total, calls = (double)(of->calls ? of->calls : of->below);

	return (double)of->root < ROOT_MOST * total && (double)of->most < STEP_MOST * total &&
	       calls >= CALLS_LEAST && share * instructions <= CALL_MOST * calls && of->steps > 1 &&
	       of->steps <= STEPS_MOST;
}

static uint64_t largest_place(const struct own_stacks *stacks)
{
	mem_auto uint64_t *weights =
		mem_new((size_t)stacks->functions.labels.count + 1, sizeof(*weights));
	uint64_t largest = 0;

	vec_foreach (const struct own_stack, stack, &stacks->stacks) {
		uint32_t f = own_frames(stacks, stack)[stack->place].function;

		weights[f] += stack->at.cost.weight;
		largest = weights[f] > largest ? weights[f] : largest;
	}
	return largest;
}

/* The first frame from the place outwards that is an operation; UINT32_MAX: none is. */
static uint32_t frame_find(const struct own_stacks *stacks, const struct own_stack *stack,
	const struct operation *operations)
{
	for (uint32_t i = stack->place; i < stack->count; i++)
		if (operations[own_frames(stacks, stack)[i].function].fits)
			return i;
	return UINT32_MAX;
}

/* The one that most of the samples come to first. */
static uint32_t operation_choose(
	const struct own_stacks *stacks, const struct operation *operations)
{
	size_t count = (size_t)stacks->functions.labels.count + 1;
	mem_auto uint64_t *weights = mem_new(count, sizeof(*weights));
	uint32_t best = 0;

	vec_foreach (const struct own_stack, stack, &stacks->stacks) {
		uint32_t at = frame_find(stacks, stack, operations);
		uint32_t f = at < stack->count ? own_frames(stacks, stack)[at].function : 0;

		weights[f] += f ? stack->at.cost.weight : 0;
		best = weights[f] > weights[best] ? f : best;
	}
	return best;
}

struct own_operation own_levels_operate(
	struct own_stacks *stacks, const struct own_cost *costs, double instructions)
{
	mem_auto struct operation *operations = operations_make(stacks, costs);
	double all = (double)stacks->samples.total.weight, most = 0;
	double least = fmax(LEAST * all, AHEAD * (double)largest_place(stacks));
	uint32_t chosen;

	for (uint32_t f = 1; f <= stacks->functions.labels.count; f++) {
		double total = (double)costs[f].total;

		operations[f].fits = total >= least && is_operation(&operations[f], &costs[f],
							       total / all, instructions);
		if (operations[f].fits)
			most = fmax(most, total);
	}
	for (uint32_t f = 1; f <= stacks->functions.labels.count; f++)
		operations[f].fits &= (double)costs[f].total >= SAME * most;
	chosen = operation_choose(stacks, operations);
	vec_foreach (struct own_stack, stack, &stacks->stacks)
		for (uint32_t i = stack->place; chosen && i < stack->count; i++)
			if (own_frames(stacks, stack)[i].function == chosen) {
				stack->place = i;
				break;
			}
	return (struct own_operation){chosen, operations[chosen].calls, operations[chosen].below};
}
