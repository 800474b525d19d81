/* diff.c - see diff.h.  What is noise is counted, not listed: a long table of small differences is
 * what makes people see changes where there are none. */
#include "render/diff.h"

#include <math.h>

#include "analyze/label.h"
#include "base/words.h"
#include "diff_parts.h"
#include "render/report.h"
#include "render/shorten.h"

enum { AGENT_ROWS = 20, AGENT_REFUSALS = 30, NAME_LEAST = 24 };

static void side_line(
	struct paper *paper, const char *letter, const char *path, const struct diff_side *side)
{
	paper_ink(paper, INK_BOLD, "%s %s", letter, path);
	paper_add(paper, ": ");
	quality_line(paper, &side->quality);
}

static void refusals_text(struct paper *paper, const struct diff_page *page)
{
	paper_ink(paper, INK_BAD, "not comparable");
	paper_add(paper, ": %s and %s\n", page->a, page->b);
	for (uint32_t i = 0; i < page->view->refusals.count; i++)
		paper_wrap(paper, 2, INK_PLAIN, page->view->refusals.at[i]);
}

static void total_line(struct paper *paper, const struct diff_view *view)
{
	char a[32], b[32];

	if (view->cost_reason) {
		paper_ink(paper, INK_DIM, "cost unknown: %s\n", view->cost_reason);
		return;
	}
	paper_add(paper, "%s%s per run: %s -> %s (%+.1f %%)\n",
		str_equal(view->unit, "ns") ? "CPU time" : view->unit,
		view->a.executions > 1 || view->b.executions > 1 ? ", mean" : "",
		weight_text(a, sizeof(a), view->a.cost, view->unit),
		weight_text(b, sizeof(b), view->b.cost, view->unit),
		(view->b.cost / view->a.cost - 1) * 100);
}

/* Why a share can change while nothing happened to the row itself. */
static bool moved_by_others(const struct diff_row *row)
{
	return row->verdict == DIFF_CHANGED && !isnan(row->cost_change) && !row->cost_changed;
}

/* A change and its interval in one unit, so that they can be read against each other. */
static void cost_cells(struct table *table, const struct diff_row *row, const char *unit)
{
	static const struct {
		double ns;
		const char *name;
	} times[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
	double size = fmax(fabs(row->cost_low), fabs(row->cost_high)), scale = 1;
	const char *name = "";
	char cost[32];

	for (unsigned i = 0; i < 4 && str_equal(unit, "ns") && !*name; i++)
		if (size >= times[i].ns || i == 3) {
			scale = times[i].ns;
			name = times[i].name;
		}
	table_cell(table, INK_PLAIN, "%s", weight_text(cost, sizeof(cost), row->a_cost, unit));
	table_cell(table, row->cost_changed ? INK_BOLD : INK_DIM, "%+.3g%s",
		row->cost_change / scale, name);
	table_cell(table, INK_DIM, "%+.3g..%+.3g%s", row->cost_low / scale, row->cost_high / scale,
		name);
}

static void row_cells(struct table *table, const struct diff_row *row, const struct diff_view *view,
	unsigned columns)
{
	str_auto struct str name = {0};
	enum ink ink = row->verdict != DIFF_CHANGED || moved_by_others(row) ? INK_DIM
		       : row->change > 0				    ? INK_BAD
									    : INK_GOOD;

	if (view->by == PROFILE_LINE && row->line)
		str_addf(&name, "%s:%u  ", label_base(row->file), row->line);
	if (view->by == PROFILE_MODULE || view->by == PROFILE_FILE)
		path_shorten(row->name, columns, &name);
	else
		name_shorten(row->name, columns, &name);
	table_cell(table, INK_PLAIN, "%.1f %%", row->a_share * 100);
	table_cell(table, INK_PLAIN, "%.1f %%", row->b_share * 100);
	table_cell(table, ink, "%+.2f", row->change * 100);
	table_cell(table, INK_DIM, "%+.2f..%+.2f", row->change_low * 100, row->change_high * 100);
	if (isnan(row->cost_change)) {
		for (unsigned i = 0; i < 3; i++)
			table_cell(table, INK_PLAIN, "%s", "");
	} else {
		cost_cells(table, row, view->unit);
	}
	table_cell(table, INK_DIM, "%s", moved_by_others(row) ? "same cost" : "");
	table_cell(table, INK_PLAIN, "%s", str_text(&name));
}

static void rows_table(struct paper *paper, const struct diff_page *page)
{
	const struct diff_view *view = page->view;
	unsigned width = paper_width(paper);
	table_auto struct table table = {0};
	uint32_t shown = 0;

	table_columns(&table, ">A", ">B", ">change", ">95 %", ">cost A", ">change", ">95 %", "",
		report_by_word(view->by));
	vec_foreach (const struct diff_row, row, &view->rows) {
		if (row->verdict != DIFF_CHANGED && !page->all)
			break;
		if (page->limit && shown++ == page->limit)
			break;
		row_cells(&table, row, view, width > 80 + NAME_LEAST ? width - 80 : NAME_LEAST);
	}
	table_print(&table, paper, 2);
}

static void verdict_lines(struct paper *paper, const struct diff_page *page)
{
	const struct diff_view *view = page->view;
	uint32_t same = view->counts[DIFF_SAME] + view->counts[DIFF_POSSIBLE];
	double chance = ceil(0.05 * (double)(view->rows.count - view->counts[DIFF_CHANGED]));
	bool one = view->counts[DIFF_POSSIBLE] == 1;

	paper_ink(paper, INK_BOLD, "%u changed", view->counts[DIFF_CHANGED]);
	paper_add(paper, ", %u not distinguishable from noise", same);
	if (view->counts[DIFF_POSSIBLE])
		paper_add(paper,
			"; %u of these %s outside %s own 95 %% interval, about %.0f %s expected "
			"by chance",
			view->counts[DIFF_POSSIBLE], one ? "is" : "are", one ? "its" : "their",
			chance, chance > 1 ? "are" : "is");
	paper_add(paper, "%s\n", same && !page->all ? " (--all lists them)" : "");
}

void diff_text(struct paper *paper, const struct diff_page *page)
{
	const struct diff_view *view = page->view;

	if (view->refusals.count) {
		refusals_text(paper, page);
		return;
	}
	if (page->counts)
		diff_counts_text(paper, page->counts);
	if (!view->has_samples)
		return;
	if (page->counts)
		paper_add(paper, "\n");
	side_line(paper, "A", page->a, &view->a);
	side_line(paper, "B", page->b, &view->b);
	total_line(paper, view);
	paper_ink(paper, INK_DIM, "%s shares in %%, change B - A in percentage points\n\n",
		view->by_total ? "total" : "self");
	rows_table(paper, page);
	if (view->counts[DIFF_CHANGED] || page->all)
		paper_add(paper, "\n");
	verdict_lines(paper, page);
}

/* Machines that differ can be overruled, other reasons cannot. */
static void agent_next_refused(struct paper *paper, const struct diff_page *page)
{
	const struct diff_view *view = page->view;
	str_auto struct str words = {0};

	if (view->refusals.count == view->machines.counts[FINGERPRINT_BLOCK]) {
		word_quote(page->a, &words);
		str_add_char(&words, ' ');
		word_quote(page->b, &words);
		paper_add(paper, "next: assay diff --force %s\n", words.at);
	} else {
		word_quote(page->b, &words);
		paper_add(paper, "next: assay report %s\n", words.at);
	}
}

void diff_agent(struct paper *paper, const struct diff_page *page)
{
	const struct diff_view *view = page->view;
	str_auto struct str words = {0};
	uint32_t shown = 0;

	if (view->refusals.count) {
		paper_add(paper, "not comparable:\n");
		for (uint32_t i = 0; i < view->refusals.count && i < AGENT_REFUSALS; i++)
			paper_add(paper, "- %s\n", view->refusals.at[i]);
		agent_next_refused(paper, page);
		return;
	}
	if (page->counts)
		diff_counts_agent(paper, page->counts);
	if (!view->has_samples) {
		paper_add(paper, "next: assay ab A -- B\n");
		return;
	}
	side_line(paper, "A", page->a, &view->a);
	side_line(paper, "B", page->b, &view->b);
	total_line(paper, view);
	vec_foreach (const struct diff_row, row, &view->rows) {
		str_auto struct str name = {0};

		if (row->verdict != DIFF_CHANGED || shown++ == AGENT_ROWS)
			break;
		name_shorten(row->name, 120, &name);
		paper_add(paper, "%+.1f points (95%%: %+.1f to %+.1f) %s", row->change * 100,
			row->change_low * 100, row->change_high * 100, str_text(&name));
		if (row->line && view->by == PROFILE_LINE)
			paper_add(paper, " at %s:%u", label_base(row->file), row->line);
		paper_add(paper, ", %.1f%% to %.1f%%%s\n", row->a_share * 100, row->b_share * 100,
			moved_by_others(row) ? ", same cost" : "");
	}
	verdict_lines(paper, page);
	word_quote(page->b, &words);
	if (view->counts[DIFF_CHANGED] && view->by == PROFILE_FUNCTION &&
		!(view->rows.at[0].flags & LABEL_UNNAMED) && view->rows.at[0].b_samples) {
		str_add_char(&words, ' ');
		word_quote(view->rows.at[0].name, &words);
		paper_add(paper, "next: assay annotate %s\n", words.at);
	} else {
		paper_add(paper, "next: assay report %s\n", words.at);
	}
}
