/* topdown.c - `assay topdown --report FILE.md`: what was measured on what, the levels, the
 * cause, what to do, how to check. */
#include "render/markdown.h"

#include <math.h>
#include <stdio.h>

#include "analyze/topdown.h"
#include "analyze/verdict.h"
#include "render/paper.h"

static void environment(
	struct str *out, const struct topdown_view *view, const struct topdown_fact *facts)
{
	static const char unknown[] = "not known";
	char text[64];

	str_add(out, "## Environment\n\n| | |\n|---|---|\n");
	markdown_row(out, "program", view->stat.target, unknown);
	markdown_row(out, "counters", view->tier_words, unknown);
	if (*view->facts->tier_reason)
		markdown_row(out, "not trusted", view->facts->tier_reason, unknown);
	for (; facts && facts->name; facts++)
		markdown_row(out, facts->name, facts->value, unknown);
	snprintf(text, sizeof(text), "%u in %u round%s of %u", view->stat.execution_count,
		view->rounds, view->rounds == 1 ? "" : "s", view->facts->passes);
	markdown_row(out, "runs", text, unknown);
	markdown_row(out, "median wall time", paper_time(text, sizeof(text), view->stat.wall_ns),
		unknown);
	str_add(out, "\n");
}

static void node_row(struct str *out, const struct topdown_node *node)
{
	str_add(out, "| ");
	markdown_code(out, node->name, true);
	if (!node->known) {
		markdown_add_cells(out, " | not measured | | | | %s |\n", node->reason);
		return;
	}
	str_addf(out, " | %.1f %% | ", node->share * 100);
	if (!isnan(node->lo))
		str_addf(out, "%.1f .. %.1f %%", node->lo * 100, node->hi * 100);
	str_addf(out, " | %.0f %% | %s | ", node->coverage * 100,
		node->assessment == METRIC_NONE ? "" : metric_assessment_word(node->assessment));
	markdown_add_cells(out, "%s%s%s |\n", *node->flag ? node->flag : "",
		*node->flag ? "; " : "", node->meaning);
}

static void level_table(struct str *out, const struct topdown_tree *tree, unsigned level)
{
	bool any = false;

	for (uint32_t i = 0; i < tree->node_count; i++) {
		if (tree->nodes[i].level != level)
			continue;
		if (!any)
			str_addf(out,
				"### Level %u\n\n| node | share | range | on the PMU | assessment "
				"| "
				"meaning |\n|---|---:|---:|---:|---|---|\n",
				level);
		any = true;
		node_row(out, &tree->nodes[i]);
	}
	str_add(out, any ? "\n" : "");
}

static void tree_section(struct str *out, const struct topdown_tree *tree)
{
	str_add(out, "## Where the cycles went");
	if (*tree->label)
		markdown_add(out, ": %s", tree->label);
	str_add(out, "\n\n");
	if (*tree->title)
		markdown_add(out, "%s, shares of the %s%s.\n\n", tree->title, tree->basis,
			tree->whole ? "" : ", which overlap");
	if (*tree->reason)
		markdown_add(out, "No tree: %s.\n\n", tree->reason);
	for (unsigned level = 1; tree->measured && level <= TOPDOWN_LEVELS; level++)
		level_table(out, tree, level);
	if (*tree->flag)
		markdown_add(out, "Note: %s.\n\n", tree->flag);
	if (*tree->note)
		markdown_add(out, "%s\n\n", tree->note);
}

static void metrics_section(struct str *out, const struct topdown_view *view)
{
	str_add(out, "## Generic counters\n\n| metric | value | unit | assessment |\n"
		     "|---|---:|---|---|\n");
	for (uint32_t i = 0; i < view->stat.metric_count; i++) {
		const struct metric_result *row = &view->stat.metrics[i];

		markdown_add_cells(
			out, "| %s%s%s | ", row->metric->name, *row->core ? " on " : "", row->core);
		if (row->known)
			markdown_add_cells(out, "%.4g | %s | %s |\n", row->value, row->metric->unit,
				row->assessment == METRIC_NONE
					? ""
					: metric_assessment_word(row->assessment));
		else
			markdown_add_cells(out, "not measured | | %s |\n", row->reason);
	}
	str_add(out, "\n");
}

void topdown_markdown(
	struct str *out, const struct topdown_view *view, const struct topdown_fact *facts)
{
	str_add(out, "# Top-down\n\n");
	environment(out, view, facts);
	for (uint32_t i = 0; i < view->tree_count; i++)
		tree_section(out, &view->trees[i]);
	metrics_section(out, view);
	verdict_markdown(out, &view->verdict);
}
