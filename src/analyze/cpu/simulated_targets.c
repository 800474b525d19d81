/* simulated_targets.c - the price of a mispredicted branch is paid where it jumps to.
 *
 * With `if (random bit) hit(); else miss();` all mispredictions are counted in the caller, and much
 * of the time that they cost is sampled in hit() and miss(), which look as if they waited for their
 * own results.  So a function that mispredicts and the short functions that it calls are judged
 * together.  Less than half of their time is enough then: what a misprediction costs is measured on
 * a branch that stays in its loop, and one that goes elsewhere costs more (3.7 ns measured and 5.2
 * paid on the pair above, where 58 % of the time is saved with a branch that can be predicted). */
#include <math.h>

#include "base/str.h"
#include "simulated_parts.h"

#define CALLED_FROM_ONE 0.7 /* of the function's time: it is that caller's */
#define WORTH_LEAST 0.1	    /* of all time, by the cost of the mispredictions */

/* Short, slow for no reason of its own, and called by `from`. */
static bool is_target(const struct simulated_rules *rules, const struct simulated_edges *edges,
	const struct simulated_site *from, const struct simulated_site *site)
{
	double mispredicts = (double)simulated_mispredicts(&from->row), called_ns = 0;

	if (site == from || site->category != VERDICT_CORE ||
		(double)site->row.counts[SIMULATED_INSTRUCTIONS] >
			rules->target_instructions * mispredicts)
		return false;
	vec_foreach (const struct simulated_edge, edge, &edges->rows)
		if (str_equal(edge->function, site->row.function) &&
			str_equal(edge->caller, from->row.function))
			called_ns += edge->ns;
	return called_ns >= CALLED_FROM_ONE * site->time_ns;
}

static void blame(struct simulated_site *site, const char *why)
{
	site->category = VERDICT_BAD_SPECULATION;
	site->confidence = VERDICT_LOW;
	site->why = why;
}

static void pair_judge(const struct simulated_rules *rules, const struct simulated_edges *edges,
	const struct simulated_view *view, struct arena *arena, struct simulated_site *sites,
	struct simulated_site *from)
{
	double cost_ns = (double)simulated_mispredicts(&from->row) * view->costs.mispredict_ns;
	double ns = from->time_ns;
	const char *why;

	for (uint32_t i = 0; i < view->function_count; i++)
		if (is_target(rules, edges, from, &sites[i]))
			ns += sites[i].time_ns;
	if (!(ns > from->time_ns) || cost_ns < rules->target_share * ns)
		return;
	why = arena_format(arena,
		"the mispredicted branches of %s are paid for where they jump to: they explain "
		"%.0f %% of the time of it and what it calls",
		from->row.function, fmin(cost_ns / ns, 1) * 100);
	for (uint32_t i = 0; i < view->function_count; i++)
		if (is_target(rules, edges, from, &sites[i]))
			blame(&sites[i], why);
	if (from->category != VERDICT_BAD_SPECULATION)
		blame(from, why);
}

void simulated_targets_judge(const struct simulated_rules *rules,
	const struct simulated_edges *edges, const struct simulated_view *view, struct arena *arena,
	struct simulated_site *sites)
{
	for (uint32_t i = 0; i < view->function_count; i++)
		if (!verdict_category_is_memory(sites[i].category) &&
			(double)simulated_mispredicts(&sites[i].row) * view->costs.mispredict_ns >=
				WORTH_LEAST * view->time_ns)
			pair_judge(rules, edges, view, arena, sites, &sites[i]);
}
