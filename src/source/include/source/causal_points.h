/* causal_points.h - the probed progress points of the process that causal.h experiments on: others
 * from now on, fewer, and what they cost.
 *
 * Does: place and count probes.  Does not: choose points; drive does.  Not during an experiment. */
#pragma once

#include "source/causal.h"

/* Count other points of the bound process from now on; how many of them could be placed.  Not
 * during an experiment.  drop: stop counting one of them; count: its visits since the change. */
uint32_t causal_points_change(
	struct causal *causal, const struct causal_point *points, uint32_t count);
void causal_points_drop(struct causal *causal, uint32_t index);
uint64_t causal_points_count(const struct causal *causal, uint32_t index);

/* Take the probes of the points away for a while, and put them back; visits of uprobes so far,
 * cheap ones and others. */
void causal_points_lift(struct causal *causal);
int causal_points_return(struct causal *causal, struct err *err);
uint64_t causal_points_trapped(const struct causal *causal, bool is_cheap);

/* What one visit of a probe costs here and now, measured on this process itself the first time; 0:
 * it cannot be. */
uint64_t causal_points_cost_ns(struct causal *causal, bool is_cheap);
