/* causal_parts.h - what the causal*.c files share; not seen outside this folder. */
#pragma once

#include "analyze/causal_view.h"

/* causal_pace.c: the parts of the windows in which a clock, or another program, set the pace. */
struct causal_pace_shares {
	double clock, peer;
	double limit;  /* above it, it is so for the run */
	bool is_known; /* false: only timers were counted */
};

struct causal_pace_shares causal_pace_shares(
	const struct run *run, const struct causal_trial *trials, uint32_t count);

/* How long a visit takes, and how much of that is work. */
void causal_pace_cost(const struct run *run, struct causal_view *view);

/* Nothing can be told by it. */
void causal_curve_forget(struct causal_curve *curve);
