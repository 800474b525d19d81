/* simulated_parts.h - private to simulated*.c. */
#pragma once

#include "analyze/simulated.h"

/* Ratios, shares and, for a function, category, confidence and why; row and time are set. */
void simulated_site_ratios(const struct simulated_costs *costs, struct simulated_site *site);
void simulated_site_judge(const struct simulated_rules *rules, const struct simulated_costs *costs,
	struct arena *arena, struct simulated_site *site);

/* The verdict of the whole from its functions. */
void simulated_view_judge(
	const struct simulated_rules *rules, struct arena *arena, struct simulated_view *view);

/* The name under which a function of the samples and one of the simulator meet: without
 * parameters, clones (.isra.0) and the instruction set of a C library's variant
 * (__memmove_evex_unaligned_erms: the simulated CPU has no AVX-512 and gets another one).  Length of
 * the part of `name` that counts. */
size_t simulated_name_length(const char *name);
