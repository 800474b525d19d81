/* hotspot_stacks.h - the program's own code on the sampled stacks: inside analyze only.
 *
 * hotspot_stacks.c reads the stacks once and keeps of each the frames of the program's own code;
 * hotspot_level.c chooses the frame at which somebody would change something.
 * Owns: its tables, until own_stacks_done(); texts are the run's. */
#pragma once

#include "analyze/answer.h"
#include "analyze/label.h"
#include "analyze/profile_filter.h"
#include "base/vec.h"

struct function_book;
struct hot_code;
struct hotspot_look;

enum own_loop { OWN_LOOP_UNKNOWN, OWN_LOOP_NO, OWN_LOOP_YES };

struct own_frame {
	uint32_t function, line; /* labels; line 0: unknown */
	uint8_t loop;		 /* own_loop: whether the work here is done in a loop of it */
};

struct own_stack {
	struct profile_stack at;
	uint32_t first, count; /* frames, the innermost first */
	uint32_t place;	       /* of its frames: where to change something */
	enum hotspot_category category;
	bool is_runtime; /* nobody's own: a collector or a scheduler of the language at work */
	bool is_release; /* memory is given back */
};

struct own_stacks {
	const struct run *run;
	const struct hot_code *code; /* NULL: nobody looked */
	struct profile_samples samples;
	struct label_book functions, lines;
	struct function_book *classes;
	uint8_t *class_of;	/* by label of a function, plus one; 0: not asked yet */
	uint8_t *gives_back_of; /* likewise */
	uint32_t *size_of;	/* by label: bytes of its code, 0: unknown or only inlined */
	uint32_t *label_of;	/* by function row */
	double *trips_of;	/* by label: rounds of its loops per call; NAN: not counted */
	double *calls_of;	/* by label: how often it was called; NAN: not counted */
	uint64_t *least_of;	/* by label: how often at least; 0: not counted */
	vec_of(struct own_frame) frames;
	vec_of(struct own_stack) stacks;
};

/* False: the run has no samples. */
bool own_stacks_take(
	const struct run *run, const struct hotspot_look *look, struct own_stacks *ret_stacks);
void own_stacks_done(struct own_stacks *stacks);

static inline const struct own_frame *own_frames(
	const struct own_stacks *stacks, const struct own_stack *stack)
{
	return stacks->frames.at + stack->first;
}

static inline const struct label *own_label(const struct own_stacks *stacks, uint32_t function)
{
	return &stacks->functions.labels.at[function - 1];
}

/* What was sampled of a function of the program: each stack once, however often it recurs. */
struct own_cost {
	uint64_t total, self;	/* below it and in it; in it, or in what is not the program's */
	uint64_t loop, unknown; /* of total: in a loop of it, or not known */
	uint64_t recursion;	/* of total: it called itself, whoever was in between */
};

/* Costs by label of a function; free() them. */
struct own_cost *own_costs_make(const struct own_stacks *stacks);

/* Set `place` of each stack. */
void own_levels_choose(struct own_stacks *stacks, const struct own_cost *costs);

/* An operation that is done again and again, of which no step has most of the time. */
struct own_operation {
	uint32_t function; /* label; 0: there is none */
	uint64_t calls;	   /* at least; 0: not counted */
	uint64_t below;	   /* of what it calls, the most */
};

/* Where there is one, it is the place of its steps.  `instructions` of all that was simulated; 0:
 * not known. */
struct own_operation own_levels_operate(
	struct own_stacks *stacks, const struct own_cost *costs, double instructions);
