/* topdown_parts.h - the steps of topdown_view_make(), one file each. */
#pragma once

#include "analyze/topdown.h"

/* topdown_tree.c: the trees of one kind of core, appended to the view. */
void topdown_trees_make(
	unsigned core, struct arena *arena, struct topdown_view *view, double *ret_cycles);

/* topdown_quick.c: the questions and, when no tree has a value, the verdict from them. */
void topdown_steps_make(struct arena *arena, struct topdown_view *view);
void topdown_quick_judge(struct arena *arena, struct topdown_view *view);
/* The generic metric of the core that did most, NULL when it was not asked for. */
const struct metric_result *topdown_metric(const struct topdown_view *view, const char *name);

/* topdown_verdict.c: the verdict from a tree; false when its level 1 is not known. */
bool topdown_tree_judge(
	const struct topdown_tree *tree, struct arena *arena, struct topdown_view *view);

/* "12.3 %" */
const char *topdown_percent(struct arena *arena, double share);
