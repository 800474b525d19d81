/* topdown.c - the tree for people and for agents. */
#include "render/topdown.h"

#include <math.h>

#include "render/stat.h"
#include "render/verdict.h"

/* What stands behind the number: what is wrong with it first, then what to think of it. */
static void node_words(struct str *out, const struct topdown_node *node)
{
	bool alarming = node->assessment == METRIC_WATCH || node->assessment == METRIC_INVESTIGATE;

	if (!node->known) {
		str_add(out, node->reason);
		return;
	}
	if (*node->flag)
		str_add(out, node->flag);
	if (node->coverage < 0.995)
		str_addf(out, "%son the PMU %.0f %% of the time", out->len ? "; " : "",
			node->coverage * 100);
	if (alarming)
		str_addf(out, "%s%s (above %.0f %%): %s", out->len ? "; " : "",
			metric_assessment_word(node->assessment), node->threshold * 100,
			node->meaning);
}

static void node_row(struct table *table, const struct topdown_node *node)
{
	str_auto struct str words = {0};
	enum ink ink = *node->flag ? INK_WARN : metric_ink(node->assessment);

	node_words(&words, node);
	table_cell(table, node->level == 1 ? INK_BOLD : INK_PLAIN, "%*s%s",
		(int)(node->level - 1) * 2, "", node->name);
	if (node->known)
		table_cell(table, ink, "%.1f %%", node->share * 100);
	else
		table_cell(table, INK_DIM, "-");
	if (node->known && !isnan(node->lo))
		table_cell(table, INK_DIM, "%.1f .. %.1f", node->lo * 100, node->hi * 100);
	else
		table_cell(table, INK_DIM, "%s", "");
	table_cell(table, node->known ? ink : INK_DIM, "%s", str_text(&words));
}

static void tree_text(struct paper *paper, const struct topdown_tree *tree)
{
	table_auto struct table table = {0};

	if (*tree->label) {
		paper_ink(paper, INK_BOLD, "  %s", tree->label);
		if (!isnan(tree->part))
			paper_ink(paper, INK_DIM, "   %.0f %% of the cycles", tree->part * 100);
		paper_add(paper, "\n");
	}
	if (*tree->reason)
		paper_wrap(paper, 2, INK_WARN, tree->reason);
	if (!tree->measured) {
		paper_add(paper, "\n");
		return;
	}
	paper_ink(paper, INK_DIM, "  shares of the %s%s\n", tree->basis,
		tree->whole ? "" : ", which overlap and do not add up to 100 %");
	table_columns(&table, "", ">", ">", "");
	for (uint32_t i = 0; i < tree->node_count; i++)
		node_row(&table, &tree->nodes[i]);
	table_print(&table, paper, 2);
	if (*tree->flag)
		paper_wrap(paper, 2, INK_WARN, tree->flag);
	if (*tree->note)
		paper_wrap(paper, 2, INK_DIM, tree->note);
	paper_add(paper, "\n");
}

static void steps_text(struct paper *paper, const struct topdown_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "", "");
	for (uint32_t i = 0; i < view->step_count; i++) {
		const struct topdown_step *step = &view->steps[i];

		table_cell(&table, INK_PLAIN, "%s", step->question);
		table_cell(&table,
			!step->known	 ? INK_DIM
			: step->alarming ? INK_BAD
					 : INK_GOOD,
			"%s", step->answer);
	}
	table_print(&table, paper, 2);
	paper_add(paper, view->step_count ? "\n" : "");
}

/* What the runs did that the shares do not tell: the first that failed, or was stopped. */
static void failed_words(struct str *out, const struct stat_view *stat)
{
	for (uint32_t i = 0; i < stat->execution_count; i++) {
		const struct stat_execution *e = &stat->executions[i];

		if (e->signal)
			str_addf(out, "run %u was killed by signal %d", e->number, e->signal);
		else if (e->exit_status)
			str_addf(out, "run %u exited with status %d", e->number, e->exit_status);
		else if (e->interrupted)
			str_addf(out, "run %u was interrupted", e->number);
		if (out->len)
			return;
	}
}

static void runs_text(struct paper *paper, const struct topdown_view *view)
{
	const struct topdown_facts *facts = view->facts;
	str_auto struct str failed = {0};
	char time[32];

	paper_add(paper, "  ");
	paper_target(paper, view->stat.target);
	paper_ink(paper, INK_DIM, "%s%s", *view->stat.target ? "   " : "",
		paper_time(time, sizeof(time), view->stat.wall_ns));
	if (facts->once)
		paper_ink(paper, INK_DIM, ", one run with all events at once");
	else
		paper_ink(paper, INK_DIM, ", %u runs: %u of each of %u set%s of events",
			view->stat.execution_count, view->rounds, facts->passes,
			facts->passes == 1 ? "" : "s");
	paper_add(paper, "\n");
	failed_words(&failed, &view->stat);
	if (failed.len)
		paper_ink(paper, INK_WARN, "  %s\n", failed.at);
	if (*view->bounds && view->tree_count && view->trees[0].measured)
		paper_ink(paper, INK_DIM, "  the range behind a share is %s\n", view->bounds);
	paper_add(paper, "\n");
}

void topdown_text(struct paper *paper, const struct topdown_view *view)
{
	paper_wrap(paper, 0, view->facts->tier == TOPDOWN_FULL ? INK_BOLD : INK_WARN,
		view->tier_words);
	if (*view->facts->tier_reason)
		paper_wrap(paper, 2, INK_WARN, view->facts->tier_reason);
	runs_text(paper, view);
	for (uint32_t i = 0; i < view->tree_count; i++)
		tree_text(paper, &view->trees[i]);
	steps_text(paper, view);
	verdict_text(paper, &view->verdict);
	paper_add(paper, "\n");
}

enum { AGENT_NODES = 12 };

static void agent_node(
	struct paper *paper, const struct topdown_tree *tree, const struct topdown_node *node)
{
	paper_add(paper, "%s%s%s%s%s", tree->label, *tree->label ? "/" : "", node->parent,
		*node->parent ? "/" : "", node->name);
	if (!node->known) {
		paper_add(paper, " = none (%.120s)\n", node->reason);
		return;
	}
	paper_add(paper, " = %.1f%%", node->share * 100);
	if (!isnan(node->lo))
		paper_add(paper, " [%.1f..%.1f]", node->lo * 100, node->hi * 100);
	if (node->assessment == METRIC_INVESTIGATE || node->assessment == METRIC_WATCH)
		paper_add(paper, " %s", metric_assessment_word(node->assessment));
	if (*node->flag)
		paper_add(paper, " (clamped from %.1f%%)", node->raw * 100);
	if (node->coverage < 0.995)
		paper_add(paper, " (on PMU %.0f%%)", node->coverage * 100);
	paper_add(paper, "\n");
}

static void agent_level(struct paper *paper, const struct topdown_view *view, unsigned level,
	unsigned *shown, unsigned *left)
{
	for (uint32_t t = 0; t < view->tree_count; t++) {
		const struct topdown_tree *tree = &view->trees[t];

		for (uint32_t i = 0; tree->measured && i < tree->node_count; i++) {
			if (tree->nodes[i].level != level)
				continue;
			if (*shown < AGENT_NODES) {
				agent_node(paper, tree, &tree->nodes[i]);
				(*shown)++;
			} else
				(*left)++;
		}
	}
}

void topdown_agent(struct paper *paper, const struct topdown_view *view)
{
	str_auto struct str failed = {0};
	unsigned shown = 0, left = 0;

	paper_add(paper, "pmu: %.200s\n", view->tier_words);
	if (*view->facts->tier_reason)
		paper_add(paper, "limited: %.200s\n", view->facts->tier_reason);
	paper_add(paper, "target: %.200s\n", view->stat.target);
	paper_add(paper, "runs: %u, wall_ns = %.0f\n", view->stat.execution_count,
		view->stat.wall_ns);
	failed_words(&failed, &view->stat);
	if (failed.len)
		paper_add(paper, "failed: %s\n", failed.at);
	for (uint32_t t = 0; t < view->tree_count; t++)
		if (*view->trees[t].reason)
			paper_add(paper, "%s%stree: none (%s)\n", view->trees[t].label,
				*view->trees[t].label ? " " : "", view->trees[t].reason);
	for (unsigned level = 1; level <= TOPDOWN_LEVELS; level++)
		agent_level(paper, view, level, &shown, &left);
	if (left)
		paper_add(paper, "and %u more nodes: use --json\n", left);
	for (uint32_t i = 0; i < view->step_count && !shown; i++)
		paper_add(paper, "%s %s\n", view->steps[i].question, view->steps[i].answer);
	verdict_agent(paper, &view->verdict);
}
