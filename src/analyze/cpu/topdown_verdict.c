/* topdown_verdict.c - which node of a tree is the cause.
 *
 * The largest loss of level 1 that passes its threshold leads.  When a second one is nearly as
 * large, neither leads: mixed.  The back end is no cause yet: its parts say whether data or units
 * are waited for, and where they cannot, the verdict stays unclear instead of guessing. */
#include <math.h>

#include "base/str.h"
#include "topdown_parts.h"

static const double near = 0.8;	 /* a second cause of this part of the first one is as important */
static const double clear = 1.5; /* one part of the back end leads when it is this much larger */

const char *topdown_percent(struct arena *arena, double share)
{
	return arena_format(arena, "%.1f %%", share * 100);
}

static bool node_is(const struct topdown_node *node, const char *advice)
{
	return str_equal(node->advice, advice);
}

static const struct topdown_node *node_find(
	const struct topdown_tree *tree, const char *advice, unsigned level)
{
	for (uint32_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].known && tree->nodes[i].level == level &&
			node_is(&tree->nodes[i], advice))
			return &tree->nodes[i];
	return NULL;
}

static bool node_alarms(const struct topdown_node *node)
{
	return node->assessment == METRIC_INVESTIGATE || node->assessment == METRIC_WATCH;
}

/* The largest and the second largest loss of level 1 that pass their thresholds. */
static void leaders_find(const struct topdown_tree *tree, const struct topdown_node **ret_first,
	const struct topdown_node **ret_second)
{
	*ret_first = *ret_second = NULL;
	for (uint32_t i = 0; i < tree->node_count; i++) {
		const struct topdown_node *node = &tree->nodes[i];

		if (!node->known || node->level != 1 || node_is(node, "retiring") ||
			!node_alarms(node))
			continue;
		if (!*ret_first || node->share > (*ret_first)->share) {
			*ret_second = *ret_first;
			*ret_first = node;
		} else if (!*ret_second || node->share > (*ret_second)->share)
			*ret_second = node;
	}
}

static void conclude(
	struct topdown_view *view, enum verdict_category category, double share, const char *why)
{
	view->verdict.category = category;
	view->verdict.share = share;
	view->verdict.why = why;
}

/* Some CPUs split the back end only in cycles, in a tree of its own: which part of the stalled
 * cycles waited for memory, NAN when there is none. */
static double memory_part(const struct topdown_view *view, const struct topdown_tree *tree)
{
	for (uint32_t t = 0; t < view->tree_count; t++) {
		const struct topdown_tree *other = &view->trees[t];
		const struct topdown_node *memory = node_find(other, "memory", 2);
		const struct topdown_node *all = node_find(other, "backend", 1);

		if (other != tree && other->core == tree->core && memory && all && all->share > 0)
			return fmin(memory->share / all->share, 1);
	}
	return (double)NAN;
}

/* The back end leads, and its parts are known in cycles only. */
static void conclude_backend_cycles(const struct topdown_tree *tree,
	const struct topdown_node *backend, double part, struct arena *arena,
	struct topdown_view *view)
{
	enum verdict_category category = part >= clear / (1 + clear) ? VERDICT_MEMORY
					 : part <= 1 / (1 + clear)   ? VERDICT_CORE
								     : VERDICT_MIXED;

	conclude(view, category, backend->share,
		arena_format(arena,
			"%s of the %s are lost in the back end; %s of the stalled cycles wait for "
			"data",
			topdown_percent(arena, backend->share), tree->basis,
			topdown_percent(arena, part)));
}

/* The back end leads and its parts are not known: far loads are a hint. */
static void conclude_backend_hint(const struct topdown_tree *tree,
	const struct topdown_node *backend, struct arena *arena, struct topdown_view *view)
{
	const struct metric_result *loads = topdown_metric(view, "cache_mpki");
	const char *lost = arena_format(arena, "%s of the %s are lost in the back end",
		topdown_percent(arena, backend->share), tree->basis);

	view->verdict.doubt = "memory and execution units were told apart by cache misses only";
	if (loads && loads->known && loads->assessment == METRIC_INVESTIGATE)
		conclude(view, VERDICT_MEMORY, backend->share,
			arena_format(arena,
				"%s, and %.3g loads per 1,000 instructions miss the cache", lost,
				loads->value));
	else if (loads && loads->known && loads->assessment == METRIC_HEALTHY)
		conclude(view, VERDICT_CORE, backend->share,
			arena_format(arena, "%s, and few loads miss the cache", lost));
	else
		conclude(view, VERDICT_UNCLEAR, backend->share,
			arena_format(arena,
				"%s; whether to memory or to execution units is not known", lost));
}

static void conclude_backend(const struct topdown_tree *tree, const struct topdown_node *backend,
	struct arena *arena, struct topdown_view *view)
{
	const struct topdown_node *memory = node_find(tree, "memory", 2);
	const struct topdown_node *core = node_find(tree, "core", 2);
	const struct topdown_node *larger = memory;

	if (!memory && !core) {
		double part = memory_part(view, tree);

		if (isnan(part))
			conclude_backend_hint(tree, backend, arena, view);
		else
			conclude_backend_cycles(tree, backend, part, arena, view);
		return;
	}
	if (!memory || (core && core->share > memory->share))
		larger = core;
	if (memory && core && larger->share < clear * fmin(memory->share, core->share)) {
		conclude(view, VERDICT_MIXED, backend->share,
			arena_format(arena,
				"%s of the %s are lost in the back end, both to memory (%s) and to "
				"execution units (%s)",
				topdown_percent(arena, backend->share), tree->basis,
				topdown_percent(arena, memory->share),
				topdown_percent(arena, core->share)));
		return;
	}
	conclude(view, larger == memory ? VERDICT_MEMORY : VERDICT_CORE, larger->share,
		arena_format(arena, "%s of the %s wait %s (%s)",
			topdown_percent(arena, larger->share), tree->basis,
			larger == memory ? "for data" : "for units or for each other",
			larger->name));
}

static void conclude_first(const struct topdown_tree *tree, const struct topdown_node *first,
	struct arena *arena, struct topdown_view *view)
{
	const char *part = topdown_percent(arena, first->share);

	if (node_is(first, "backend") || node_is(first, "memory") || node_is(first, "core"))
		conclude_backend(tree, first, arena, view);
	else if (node_is(first, "frontend"))
		conclude(view, VERDICT_FRONTEND, first->share,
			arena_format(arena, "in %s of the %s no instruction was supplied (%s)",
				part, tree->basis, first->name));
	else if (node_is(first, "bad_speculation"))
		conclude(view, VERDICT_BAD_SPECULATION, first->share,
			arena_format(arena,
				"%s of the %s were spent on work that was thrown away (%s)", part,
				tree->basis, first->name));
	else
		conclude(view, VERDICT_MIXED, first->share,
			arena_format(
				arena, "%s of the %s went to %s", part, tree->basis, first->name));
}

/* Nothing passes its threshold: it works, or the losses are spread. */
static void conclude_none(
	const struct topdown_tree *tree, struct arena *arena, struct topdown_view *view)
{
	const struct topdown_node *useful = node_find(tree, "retiring", 1);

	if (useful && (useful->assessment == METRIC_HEALTHY || useful->share >= 0.5))
		conclude(view, VERDICT_RETIRING, useful->share,
			arena_format(arena, "%s of the %s did useful work, and no loss is large",
				topdown_percent(arena, useful->share), tree->basis));
	else if (useful)
		conclude(view, VERDICT_MIXED, 1 - useful->share,
			arena_format(arena, "%s of the %s are lost, and no single cause is large",
				topdown_percent(arena, 1 - useful->share), tree->basis));
	else {
		conclude(view, VERDICT_UNCLEAR, (double)NAN,
			"no measured loss is large, and useful work was not measured");
		view->verdict.share_reason = "this CPU cannot count useful work";
	}
}

/* Why the verdict is not sure, in order of weight; "" when it is. */
static const char *doubt_of(const struct topdown_tree *tree, const struct topdown_node *first,
	const struct topdown_node *second, const struct topdown_view *view)
{
	if (*tree->flag)
		return "level 1 does not add up";
	if (!tree->whole)
		return "this CPU's counters show parts that overlap, not a tree of 100 %";
	for (uint32_t i = 0; i < tree->node_count; i++)
		if (*tree->nodes[i].flag && tree->nodes[i].raw < -0.02)
			return "a node came out negative";
	for (uint32_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].known && tree->nodes[i].coverage < 0.95)
			return "the events were not always on the PMU";
	if (view->rounds < 3)
		return "fewer than three runs: no error bars";
	if (first && second && !isnan(first->lo) && second->hi >= first->lo)
		return "the error bars of the first two causes overlap";
	if (first && first->assessment == METRIC_WATCH)
		return "its error bar extends below the threshold";
	return "";
}

static bool level_is_known(const struct topdown_tree *tree)
{
	bool any = false;

	for (uint32_t i = 0; i < tree->node_count; i++) {
		if (tree->nodes[i].level == 1 && !tree->nodes[i].known)
			return false;
		any |= tree->nodes[i].known;
	}
	return any;
}

bool topdown_tree_judge(
	const struct topdown_tree *tree, struct arena *arena, struct topdown_view *view)
{
	const struct topdown_node *first, *second;
	bool hint;

	if (!level_is_known(tree))
		return false;
	leaders_find(tree, &first, &second);
	if (!first)
		conclude_none(tree, arena, view);
	else if (second && second->share >= near * first->share)
		conclude(view, VERDICT_MIXED, first->share + second->share,
			arena_format(arena, "%s (%s) and %s (%s) are nearly as large", first->name,
				topdown_percent(arena, first->share), second->name,
				topdown_percent(arena, second->share)));
	else
		conclude_first(tree, first, arena, view);
	if (!isnan(view->verdict.share))
		view->verdict.share_of = arena_format(arena, "the %s", tree->basis);
	hint = *view->verdict.doubt;
	if (!hint)
		view->verdict.doubt = doubt_of(tree, first, second, view);
	if (*tree->flag || !tree->whole || hint)
		view->verdict.confidence = VERDICT_LOW;
	else
		view->verdict.confidence = *view->verdict.doubt ? VERDICT_MEDIUM : VERDICT_HIGH;
	return true;
}
