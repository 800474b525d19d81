/* causal.h - what the program would gain if a line were faster: curves, their bounds, their kind.
 *
 * Pure: trials in, curves out; and which trial would teach most.  A trial is a pair of windows of
 * the running program, one with the target sped up virtually and one without, in random order.
 * Gains are fractions of the time per visit of the progress point: 0.1 means 10 % less time.
 * Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"

enum { CAUSAL_LEVELS = 4 }; /* 25, 50, 75 and 100 % faster */

extern const double causal_levels[CAUSAL_LEVELS];

/* One side of a trial. */
struct causal_window {
	double virtual_ns; /* real time less the delay that was put in */
	double visits;	   /* of the progress point; of a latency: those that left */
	double inside;	   /* of a latency: how many were inside on average; 0: throughput */
};

struct causal_trial {
	uint32_t target; /* index of the caller's */
	uint32_t pair;	 /* its number, 0: made without pairs */
	double speedup;
	struct causal_window base, sped;
	double hits;	    /* samples in the target while it was sped up */
	double delay_share; /* of the time of the sped window: delay that was put in */
};

/* Gain at one level. */
struct causal_gain {
	double speedup;
	double gain, lo, hi; /* 95 % */
	uint32_t trials;
	double visits, hits;
	bool is_known; /* false: too few trials or visits for a number */
};

enum causal_class {
	CAUSAL_NOISY = 0,  /* the bounds leave everything open */
	CAUSAL_STEEP,	   /* at least 0.4 % of gain for each % of speed-up */
	CAUSAL_MODERATE,   /* less, but surely some */
	CAUSAL_STEP,	   /* only when most of it is gone */
	CAUSAL_FLAT,	   /* not worth touching */
	CAUSAL_CONTENTION, /* faster here makes the program slower */
	CAUSAL_PACED,	   /* the program does not set its own pace: nothing can be told */
	CAUSAL_CLASSES,
};

const char *causal_class_name(enum causal_class class);

/* Steep, moderate or step: worth touching. */
bool causal_class_pays(enum causal_class class);

struct causal_curve {
	struct causal_gain gains[CAUSAL_LEVELS];
	double slope, slope_lo, slope_hi; /* at the origin: gain per speed-up */
	bool slope_is_known;
	enum causal_class class;
	uint32_t trials;
};

/* The curve of one target from all trials (those of other targets are passed over).  Speed-ups
 * that are not among causal_levels count for the nearest one, in proportion; those below half of
 * the first say too little and are passed over. */
void causal_curve_make(const struct causal_trial *trials, uint32_t trial_count, uint32_t target,
	struct causal_curve *ret_curve);

/* The level with the largest lower bound, or NULL.  Borrowed from the curve. */
const struct causal_gain *causal_curve_best(const struct causal_curve *curve);

/* The gain at any speed-up: on the straight lines between the origin and the levels with bounds,
 * and that of the highest one above it.  False: no level has bounds. */
bool causal_curve_at(
	const struct causal_curve *curve, double speedup, struct causal_gain *ret_gain);

/* What to try next.  Targets without bounds come first, by their share of the samples; then the
 * leader and who may still be ahead of it; then the cell whose bounds are widest, weighted with
 * what the target may still be worth.  .done: all bounds are within `half_width` (a fraction), or
 * what is left open cannot matter. */
struct causal_candidate {
	double sample_share; /* of the progress' CPU time: bounds what it can be worth */
	bool given_up;	     /* cannot be tried: no samples any more */
	uint8_t left_out;    /* bits of the levels that are not to be tried */
};

struct causal_cell {
	uint32_t target, level;
	bool done;
};

struct causal_cell causal_next_cell(const struct causal_trial *trials, uint32_t trial_count,
	const struct causal_candidate *candidates, uint32_t candidate_count, double half_width,
	struct random *random);
