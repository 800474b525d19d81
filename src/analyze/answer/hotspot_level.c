/* hotspot_level.c - at which level of a stack would somebody change something?
 *
 * The innermost function has the time; whether it is the one to change depends on who decides how
 * often the work is done: the one that holds the loop.  So from the innermost own frame outwards:
 *
 *   - A function whose samples (or the calls that lead to them) are in a loop of its own is the
 *     place.  So is one that calls itself.
 *   - A small one without a loop (a comparison, a step of a hash table, a byte to a buffer) is
 *     called often or would not be hot: its caller is asked.  So is one that has a loop and spends
 *     much of its time outside, or few rounds where they were counted: its calls are many.  And so
 *     is a small one that makes, copies or destroys a value, loop or not, and one that only such
 *     call (a copy of a tree calls itself through the constructors of its parts).
 *   - On the way up, a function with other costs beside this one is the place, loop or not: what
 *     they have in common is there.  So is one that several callers share, none of which has most
 *     of its time: what they have in common is the function (a probe of a hash table that three
 *     operations use has 92 % of the time, each of them 31 %).
 *   - A large one without a loop that has the time itself is the place: there is enough in it to
 *     change.
 *   - The loop that is found must be about this work: a loop that does ten things (an interpreter,
 *     a server) is not why one of them is slow.  Nor is the program's main(), which only says how
 *     often everything is done.  Then the innermost function stays the place, that does more than
 *     make values.
 *
 * Whoever is chosen, the chain is shown: the level is the tool's opinion, the samples are not. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "hotspot_parts.h"
#include "hotspot_stacks.h"

/* Bytes of machine code.  Compiled with -O2, comparisons, probes and accessors have 30 to 300, what
 * people call a function 500 and more.  One that is only inlined has none of its own: it is small.
 */
enum { SMALL_BYTES = 512, TINY_BYTES = 256 };
/* Where calls and rounds were counted, the size has less to say. */
enum { COUNTED_BYTES = 2 * SMALL_BYTES, MANY_CALLS = 1000 };

#define MOST 0.5      /* of a function's time: the rule for it */
#define LONG_LOOP 0.8 /* of a tiny function's time in its loop: below, its rounds are few */
#define FEW_TRIPS 8   /* of its loops in one call, where they were counted */
#define OWN_LEAST 0.4 /* of its time is its own, then */
#define PARTS 0.7     /* of a function's time below one callee: less, and it has several parts */
#define CALLER 0.7    /* of a function's time from one caller: less, and several share it */
#define OTHERS 0.1    /* of its time from others than those who make values: it is their work */
#define ABOUT_ALL 0.5 /* of the time below a loop that is work without a loop of its own */
#define ABOUT_ONE 0.3 /* of it that is one function's */

struct own_cost *own_costs_make(const struct own_stacks *stacks)
{
	size_t count = (size_t)stacks->functions.labels.count + 1;
	struct own_cost *costs = mem_new(count, sizeof(*costs));
	mem_auto uint32_t *seen = mem_new(count, sizeof(*seen)); /* the stack, plus one */
	mem_auto uint32_t *looped = mem_new(count, sizeof(*looped));
	mem_auto uint32_t *recurred = mem_new(count, sizeof(*recurred));

	for (uint32_t k = 0; k < stacks->stacks.count; k++) {
		const struct own_stack *stack = &stacks->stacks.at[k];
		const struct own_frame *frames = own_frames(stacks, stack);
		uint64_t weight = stack->at.cost.weight;

		for (uint32_t i = 0; i < stack->count; i++) {
			uint32_t f = frames[i].function;
			bool again = seen[f] == k + 1;

			if (!again) {
				costs[f].total += weight;
				costs[f].self += i ? 0 : weight;
				costs[f].unknown += frames[i].loop == OWN_LOOP_UNKNOWN ? weight : 0;
			}
			if (again && recurred[f] != k + 1) {
				costs[f].recursion += weight;
				recurred[f] = k + 1;
			}
			if ((again || frames[i].loop == OWN_LOOP_YES) && looped[f] != k + 1) {
				costs[f].loop += weight;
				looped[f] = k + 1;
			}
			seen[f] = k + 1;
		}
	}
	return costs;
}

/* To make, copy or destroy a value is what its user decides: constructors, destructors and
 * operators of C++, but the call of an object, which is any function; clone() of Rust. */
static bool is_of_value(const char *name)
{
	arena_auto struct arena arena = {0};
	const char *last = hotspot_call(&arena, name), *before = last, *at;

	while (!str_starts(last, "operator") && (at = strstr(last, "::"))) {
		before = last;
		last = at + 2;
	}
	if (str_starts(last, "operator"))
		return !str_starts(last, "operator()");
	if (*last == '~' || str_equal(last, "clone()"))
		return true;
	return last > before && strncmp(last, before, (size_t)(last - before) - 2) == 0 &&
	       str_equal(last + (last - before) - 2, "()");
}

/* Many calls of few rounds each: whoever calls it has the loop.  `caller` NULL: nobody. */
static bool has_few_rounds(const struct own_stacks *stacks, const struct own_cost *cost, uint32_t f,
	const struct own_cost *caller)
{
	uint32_t size = stacks->size_of[f];
	double self = (double)cost->self, total = (double)cost->total;

	if (!(stacks->trips_of[f] < FEW_TRIPS)) /* nor where it was not counted */
		return false;
	if (size <= SMALL_BYTES && self >= MOST * total)
		return true;
	return caller && size <= COUNTED_BYTES && stacks->calls_of[f] >= MANY_CALLS &&
	       self >= OWN_LEAST * total && total >= PARTS * (double)caller->total;
}

static bool holds_loop(const struct own_stacks *stacks, const struct own_cost *cost, uint32_t f)
{
	uint32_t size = stacks->size_of[f];
	bool has_self = (double)cost->self >= MOST * (double)cost->total;
	bool is_tiny = size <= TINY_BYTES && has_self;

	return (double)cost->loop >= (is_tiny ? LONG_LOOP : MOST) * (double)cost->total;
}

/* Enough code to change by itself. */
static bool is_work(const struct own_stacks *stacks, const struct own_cost *cost, uint32_t f)
{
	return stacks->size_of[f] > SMALL_BYTES && (double)cost->self >= MOST * (double)cost->total;
}

/* ---- who calls whom ---- */

/* The time of a function that comes from one caller. */
struct own_edge {
	uint32_t callee, caller; /* labels */
	uint64_t weight;
	uint32_t seen; /* the last stack, plus one: recursion counts once */
};

struct own_edges {
	struct map index; /* by the labels of callee and caller */
	vec_of(struct own_edge) edges;
};

static struct own_edges edges_make(const struct own_stacks *stacks)
{
	struct own_edges all = {0};

	for (uint32_t k = 0; k < stacks->stacks.count; k++) {
		const struct own_stack *stack = &stacks->stacks.at[k];
		const struct own_frame *frames = own_frames(stacks, stack);

		for (uint32_t i = 0; i + 1 < stack->count; i++) {
			uint32_t pair[2] = {frames[i].function, frames[i + 1].function}, at;
			struct own_edge *edge;

			if (map_add(&all.index, pair, sizeof(pair), all.edges.count, &at))
				vec_push(&all.edges, (struct own_edge){pair[0], pair[1], 0, 0});
			edge = &all.edges.at[at];
			edge->weight += edge->seen == k + 1 ? 0 : stack->at.cost.weight;
			edge->seen = k + 1;
		}
	}
	return all;
}

static void edges_done(struct own_edges *edges)
{
	map_done(&edges->index);
	vec_done(&edges->edges);
}

/* ---- values ---- */

/* What is done to make, copy or destroy values: by name and small, or a tree of them, or called by
 * such to call them again. */
enum value_work { VALUE_NONE, VALUE_LARGE, VALUE_SMALL };

static uint64_t edge_weight(const struct own_edges *edges, uint32_t callee, uint32_t caller)
{
	uint32_t pair[2] = {callee, caller}, at;

	return map_get(&edges->index, pair, sizeof(pair), &at) ? edges->edges.at[at].weight : 0;
}

static uint8_t *values_find(const struct own_stacks *stacks, const struct own_cost *costs,
	const struct own_edges *edges)
{
	uint32_t count = stacks->functions.labels.count;
	uint8_t *values = mem_new((size_t)count + 1, sizeof(*values));
	mem_auto double *others = mem_new((size_t)count + 1, sizeof(*others));

	for (uint32_t f = 1; f <= count; f++)
		if (costs[f].total && is_of_value(own_label(stacks, f)->name))
			values[f] = stacks->size_of[f] <= SMALL_BYTES ||
						    (double)costs[f].recursion >=
							    MOST * (double)costs[f].total
					    ? VALUE_SMALL
					    : VALUE_LARGE;
	vec_foreach (const struct own_edge, edge, &edges->edges)
		others[edge->callee] += values[edge->caller] ? 0 : (double)edge->weight;
	for (uint32_t f = 1; f <= count; f++)
		if (!values[f] && costs[f].total && others[f] <= OTHERS * (double)costs[f].total &&
			(double)costs[f].recursion >= MOST * (double)costs[f].total)
			values[f] = VALUE_SMALL;
	return values;
}

/* ---- the frame ---- */

struct choosing {
	const struct own_stacks *stacks;
	const struct own_cost *costs;
	const struct own_edges *edges;
	const uint8_t *values; /* value_work by label */
	bool parts;	       /* the first below which the time goes several ways is a place too */
};

/* Whether the function of a frame has most of its time from the one that called it here, or makes
 * values, which is always its user's work. */
static bool is_the_callers(const struct choosing *c, const struct own_frame *frame)
{
	uint64_t weight = edge_weight(c->edges, frame[0].function, frame[1].function);

	return frame[0].function == frame[1].function ||
	       (double)weight >= CALLER * (double)c->costs[frame->function].total ||
	       c->values[frame->function];
}

/* The program's main(): the last, or Rust's, which a main() of C calls. */
static bool is_root(const struct own_stacks *stacks, const struct own_stack *stack, uint32_t i)
{
	const struct own_frame *frames = own_frames(stacks, stack);

	return i + 1 >= stack->count ||
	       (i + 2 == stack->count &&
		       str_ends(own_label(stacks, frames[i].function)->name, "::main") &&
		       str_equal(own_label(stacks, frames[i + 1].function)->name, "main"));
}

/* The frame that holds the loop, or that several share.  0 when none does or it is not known. */
static uint32_t frame_choose(const struct choosing *c, const struct own_stack *stack)
{
	const struct own_frame *frames = own_frames(c->stacks, stack);

	for (uint32_t i = 0; i < stack->count; i++) {
		uint32_t f = frames[i].function;
		const struct own_cost *cost = &c->costs[f];
		bool is_last = i + 1 == stack->count, root = is_root(c->stacks, stack, i);
		bool unknown = (double)cost->unknown >= MOST * (double)cost->total;
		bool is_value = c->values[f] == VALUE_SMALL;
		bool is_short =
			is_value || has_few_rounds(c->stacks, cost, f,
					    is_last ? NULL : &c->costs[frames[i + 1].function]);

		if (!is_short && holds_loop(c->stacks, cost, f))
			return !root || !i ? i : 0; /* not main() for another */
		if (!is_value && (unknown || (!i && !is_short && is_work(c->stacks, cost, f))))
			return 0;
		if (c->parts && i && !is_short &&
			(double)c->costs[frames[i - 1].function].total <
				PARTS * (double)cost->total)
			return root ? 0 : i;
		if (!is_last && !is_the_callers(c, &frames[i]))
			return i;
	}
	return 0;
}

/* The first that does more than make values, and is not main(). */
static uint32_t frame_first(const struct choosing *c, const struct own_stack *stack)
{
	const struct own_frame *frames = own_frames(c->stacks, stack);
	uint32_t i = 0;

	while (i < stack->count && c->values[frames[i].function] == VALUE_SMALL)
		i++;
	return is_root(c->stacks, stack, i) ? 0 : i;
}

/* What a place is made of: `all` that is brought up to it, and the most of one function. */
struct place_share {
	uint64_t all, most;
};

static void shares_add(
	const struct own_stacks *stacks, const uint32_t *chosen, struct place_share *shares)
{
	uint64_t *pairs = mem_new((size_t)stacks->stacks.count + 1, sizeof(*pairs));
	struct map index = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < stacks->stacks.count; i++) {
		const struct own_stack *stack = &stacks->stacks.at[i];
		const struct own_frame *frames = own_frames(stacks, stack);
		uint32_t key[2] = {frames[0].function, frames[chosen[i]].function}, at;
		struct place_share *share = &shares[key[1]];

		count += map_add(&index, key, sizeof(key), count, &at);
		pairs[at] += stack->at.cost.weight;
		share->all += stack->at.cost.weight;
		if (pairs[at] > share->most)
			share->most = pairs[at];
	}
	map_done(&index);
	free(pairs);
}

/* A frame for each stack, 0 where what was found is not about its work; free() them. */
static uint32_t *frames_choose(const struct choosing *c)
{
	const struct own_stacks *stacks = c->stacks;
	uint32_t *chosen = mem_new((size_t)stacks->stacks.count + 1, sizeof(*chosen));
	mem_auto struct place_share *shares =
		mem_new((size_t)stacks->functions.labels.count + 1, sizeof(*shares));

	for (uint32_t i = 0; i < stacks->stacks.count; i++)
		chosen[i] = frame_choose(c, &stacks->stacks.at[i]);
	shares_add(stacks, chosen, shares);
	for (uint32_t i = 0; i < stacks->stacks.count; i++) {
		uint32_t f = own_frames(stacks, &stacks->stacks.at[i])[chosen[i]].function;
		double total = (double)c->costs[f].total;

		if ((double)shares[f].all < ABOUT_ALL * total ||
			(double)shares[f].most < ABOUT_ONE * total)
			chosen[i] = 0;
	}
	return chosen;
}

void own_levels_choose(struct own_stacks *stacks, const struct own_cost *costs)
{
	struct own_edges edges = edges_make(stacks);
	mem_auto uint8_t *values = values_find(stacks, costs, &edges);
	struct choosing choosing = {stacks, costs, &edges, values, .parts = true};
	mem_auto uint32_t *near = frames_choose(&choosing), *far = NULL;

	choosing.parts = false;
	far = frames_choose(&choosing);
	for (uint32_t i = 0; i < stacks->stacks.count; i++) {
		struct own_stack *stack = &stacks->stacks.at[i];

		stack->place = near[i] ? near[i] : far[i] ? far[i] : frame_first(&choosing, stack);
	}
	edges_done(&edges);
}
