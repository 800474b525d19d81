/* simulated_parts.h - private to simulated*.c. */
#pragma once

#include "analyze/simulated.h"

/* The verdict of the whole from its functions. */
void simulated_view_judge(
	const struct simulated_rules *rules, struct arena *arena, struct simulated_view *view);
