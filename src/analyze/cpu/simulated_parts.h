/* simulated_parts.h - private to simulated*.c. */
#pragma once

#include "analyze/simulated.h"
#include "base/vec.h"

/* The sampled time of a function while another called it, by the names of their sites. */
struct simulated_edge {
	const char *function, *caller;
	double ns;
};

struct simulated_edges {
	vec_of(struct simulated_edge) rows;
};

/* What is called by a function that mispredicts and pays for it; after each site was judged. */
void simulated_targets_judge(const struct simulated_rules *rules,
	const struct simulated_edges *edges, const struct simulated_view *view, struct arena *arena,
	struct simulated_site *sites);

/* The verdict of the whole from its functions. */
void simulated_view_judge(
	const struct simulated_rules *rules, struct arena *arena, struct simulated_view *view);

/* Take the cause from each place with too few samples: after the verdict, in which many such places
 * count together. */
void simulated_sites_hide(const struct simulated_rules *rules, struct arena *arena,
	struct simulated_site *sites, uint32_t count);

/* Add `more` to `into`, count by count; what gets too large stays at the largest. */
void simulated_counts_add(uint64_t *into, const uint64_t *more);
