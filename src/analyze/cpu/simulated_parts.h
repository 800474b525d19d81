/* simulated_parts.h - private to simulated*.c. */
#pragma once

#include "analyze/simulated.h"

/* The verdict of the whole from its functions. */
void simulated_view_judge(
	const struct simulated_rules *rules, struct arena *arena, struct simulated_view *view);

/* Add `more` to `into`, count by count; what gets too large stays at the largest. */
void simulated_counts_add(uint64_t *into, const uint64_t *more);
