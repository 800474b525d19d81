/* topdown.c - see topdown.h. */
#include "analyze/topdown.h"

#include <math.h>

#include "base/str.h"
#include "model/run.h"
#include "topdown_parts.h"

/* Whether the kernel's side was left out: the events say so in their names. */
static bool is_user_only(const struct stat_view *stat)
{
	for (uint32_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].known && str_ends(stat->events[i].name, ":u"))
			return true;
	return false;
}

static void tier_name_core(struct str *line, const struct topdown_facts *facts, unsigned i)
{
	const struct topdown_core *core = &facts->cores[i];

	str_add(line, i ? "; " : "");
	if (facts->core_count > 1)
		str_addf(line, "%s is ", core->pmu);
	if (core->table)
		str_add(line, core->table->title);
	else
		str_addf(line, "%s, unknown to assay", *facts->cpu ? facts->cpu : "this CPU");
	if (core->counters)
		str_addf(line, ", %u general counter%s", core->counters,
			core->counters == 1 ? "" : "s");
}

static const char *tier_words(const struct topdown_view *view, struct arena *arena)
{
	const struct topdown_facts *facts = view->facts;
	str_auto struct str line = {0};

	if (facts->tier == TOPDOWN_FULL)
		str_add(&line, "full PMU: ");
	else
		str_addf(&line, "limited %sPMU: ", facts->is_virtual ? "virtual " : "");
	for (unsigned i = 0; i < facts->core_count; i++)
		tier_name_core(&line, facts, i);
	if (facts->watchdog)
		str_add(&line, " (the NMI watchdog uses one more)");
	if (view->user_only)
		str_add(&line, "; user mode only, kernel mode is not permitted");
	return arena_str(arena, &line);
}

/* A core without a table has no tree, and says so. */
static void tree_missing(unsigned core, struct topdown_view *view)
{
	const struct topdown_facts *facts = view->facts;

	view->trees[view->tree_count++] = (struct topdown_tree){
		.core = &facts->cores[core],
		.label = facts->core_count > 1 ? facts->cores[core].pmu : "",
		.title = "",
		.basis = "",
		.reason = "assay has no table for this CPU: only the events that every CPU has are "
			  "shown",
		.flag = "",
		.note = "",
		.part = (double)NAN,
	};
}

static void trees_make(struct arena *arena, struct topdown_view *view)
{
	const struct topdown_facts *facts = view->facts;
	double cycles[TOPDOWN_CORES] = {0}, all = 0;

	view->trees = arena_take(arena, sizeof(*view->trees) * (2 * TOPDOWN_CORES));
	for (unsigned i = 0; i < facts->core_count && i < TOPDOWN_CORES; i++) {
		if (!facts->level)
			break;
		if (!facts->cores[i].table)
			tree_missing(i, view);
		else
			topdown_trees_make(i, arena, view, &cycles[i]);
		all += cycles[i];
	}
	for (uint32_t t = 0; t < view->tree_count; t++) {
		struct topdown_tree *tree = &view->trees[t];
		double own = cycles[tree->core - facts->cores];

		if (tree->core->table && all > 0)
			tree->part = own / all;
		if (facts->core_count > 1 && tree->core->table && own == 0 && all > 0) {
			tree->reason = "the program never ran on a core of this type";
			tree->node_count = 0;
			tree->measured = false;
		}
	}
}

/* The tree of the core that did most of the work decides. */
static void judge(struct arena *arena, struct topdown_view *view)
{
	const struct topdown_tree *main_tree = NULL;

	for (uint32_t t = 0; t < view->tree_count; t++)
		if (view->trees[t].node_count &&
			(!main_tree || view->trees[t].part > main_tree->part))
			main_tree = &view->trees[t];
	if (main_tree && topdown_tree_judge(main_tree, arena, view))
		return;
	topdown_quick_judge(arena, view);
	if (main_tree && view->verdict.category != VERDICT_UNCLEAR)
		view->verdict.doubt =
			"the tree of this CPU could not be measured here, so this is a hint from "
			"generic events";
}

static void view_rounds(struct topdown_view *view)
{
	uint32_t passes = view->facts->passes ? view->facts->passes : 1;

	view->rounds = (view->stat.execution_count + passes - 1) / passes;
	view->bounds = view->rounds < 2	  ? ""
		       : view->rounds < 6 ? "the lowest and the highest of the runs"
					  : "95 % interval of the median";
}

void topdown_view_make(const struct run *run, const struct topdown_facts *facts,
	const struct topdown_books *books, const struct verdict_subject *subject,
	struct arena *arena, struct topdown_view *ret_view)
{
	struct topdown_view *view = ret_view;

	*view = (struct topdown_view){.facts = facts, .verdict = verdict_none()};
	stat_view_make(run, books->metrics, arena, &view->stat);
	view_rounds(view);
	view->user_only = is_user_only(&view->stat);
	view->tier = facts->tier == TOPDOWN_FULL ? "full" : "cut_down";
	view->tier_words = tier_words(view, arena);
	trees_make(arena, view);
	topdown_steps_make(arena, view);
	judge(arena, view);
	verdict_advise(books->advice, subject, arena, &view->verdict);
}
