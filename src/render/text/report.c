/* report.c - see report.h.  The quality line stands first: a table of shares reads the same whether
 * every stack was whole or half of them were lost. */
#include "render/report.h"

#include <math.h>
#include <string.h>

#include "base/words.h"
#include "render/shorten.h"

const char *report_by_word(enum profile_by by)
{
	static const char *const words[] = {[PROFILE_FUNCTION] = "function",
		[PROFILE_LINE] = "line",
		[PROFILE_MODULE] = "module",
		[PROFILE_FILE] = "file",
		[PROFILE_THREAD] = "thread"};

	return words[by];
}

enum { NAME_LEAST = 24, MODULE_COLUMNS = 20, BAR_COLUMNS = 10, AGENT_ROWS = 24, AGENT_NAME = 120 };

static void share_cell(struct table *table, enum ink ink, double share)
{
	if (share > 0 && share < 0.0005)
		table_cell(table, INK_DIM, "<0.1 %%");
	else
		table_cell(table, ink, "%.1f %%", share * 100);
}

/* In eighths of a column, so that ten columns tell eighty steps apart. */
static void bar_cell(struct table *table, double share)
{
	static const char *const eighths[] = {
		"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
	str_auto struct str bar = {0};
	unsigned steps = (unsigned)lround((share > 1 ? 1 : share) * BAR_COLUMNS * 8);

	for (unsigned i = 0; i < steps / 8; i++)
		str_add(&bar, "\u2588");
	str_add(&bar, eighths[steps % 8]);
	table_cell(table, INK_DIM, "%s", str_text(&bar));
}

static void place_text(const struct profile_row *row, struct str *out)
{
	if (*row->file && row->line)
		str_addf(out, "%s:%u", label_base(row->file), row->line);
	else if (*row->file)
		str_add(out, label_base(row->file));
}

/* What the row is called: a line by its place first, a thread with its number. */
static void row_name(
	const struct profile_row *row, enum profile_by by, unsigned columns, struct str *out)
{
	str_auto struct str place = {0};

	if (by == PROFILE_LINE && row->line)
		place_text(row, &place);
	if (place.len && place.len + 10 < columns) {
		str_addf(out, "%s  ", place.at);
		columns -= (unsigned)place.len + 2;
	}
	if (by == PROFILE_FILE && row->flags & LABEL_UNNAMED && *row->module)
		str_addf(out, "%s in %s", row->name, label_base(row->module));
	else if (by == PROFILE_MODULE || by == PROFILE_FILE)
		path_shorten(row->name, columns, out);
	else if (by == PROFILE_THREAD && row->tid)
		str_addf(out, "%s (tid %u%s)", row->name, row->tid,
			row->tid == row->pid ? ", main thread" : "");
	else
		name_shorten(row->name, columns, out);
}

/* Columns left for the names beside everything else in the widest row. */
static unsigned name_columns(const struct paper *paper, const struct profile_view *view, bool bars)
{
	unsigned width = paper_width(paper), module = 0;
	unsigned used = 2 + 8 + 11 + (bars ? BAR_COLUMNS + 2 : 0) + 8 + 11;

	if (view->by == PROFILE_FUNCTION || view->by == PROFILE_LINE)
		vec_foreach (const struct profile_row, row, &view->rows) {
			size_t len = strlen(label_base(row->module));

			module = len > module ? (unsigned)len : module;
		}
	used += module > MODULE_COLUMNS ? MODULE_COLUMNS + 2 : module + 2;
	return width > used + NAME_LEAST ? width - used : NAME_LEAST;
}

static void row_cells(struct table *table, const struct profile_row *row,
	const struct profile_view *view, unsigned columns, bool bars)
{
	str_auto struct str name = {0}, module = {0};
	char weight[32], count[32];

	row_name(row, view->by, columns, &name);
	if (view->by == PROFILE_FUNCTION || view->by == PROFILE_LINE)
		path_shorten(label_base(row->module), MODULE_COLUMNS, &module);
	share_cell(table, INK_BOLD, row->self_share);
	table_cell(table, INK_PLAIN, "%s",
		view->quality.weighted && !view->quality.merged
			? weight_text(weight, sizeof(weight), (double)row->self.weight,
				  view->quality.unit)
			: "");
	if (bars)
		bar_cell(table, view->by_total ? row->total_share : row->self_share);
	else
		table_cell(table, INK_PLAIN, "%s", "");
	if (view->by == PROFILE_THREAD)
		table_cell(table, INK_PLAIN, "%s", "");
	else
		share_cell(table, INK_PLAIN, row->total_share);
	table_cell(
		table, INK_DIM, "%s", paper_count(count, sizeof(count), (double)row->self.samples));
	table_cell(table, INK_DIM, "%s", str_text(&module));
	table_cell(table, row->flags & LABEL_UNNAMED ? INK_DIM : INK_PLAIN, "%s", name.at);
}

static void rows_table(struct paper *paper, const struct profile_view *view, uint32_t limit)
{
	table_auto struct table table = {0};
	bool bars = paper->width && !paper->ascii;
	unsigned columns = name_columns(paper, view, bars);

	table_column(&table, "self", true);
	table_column(
		&table, str_equal(view->quality.unit, "ns") ? "time" : view->quality.unit, true);
	table_column(&table, "", false); /* the bar; a column without text is left out */
	table_columns(&table, ">total", ">samples", "module", report_by_word(view->by));
	for (uint32_t i = 0; i < view->rows.count && (!limit || i < limit); i++)
		row_cells(&table, &view->rows.at[i], view, columns, bars);
	table_print(&table, paper, 2);
}

static void tree_lines(struct paper *paper, const struct report_page *page)
{
	const struct call_tree *tree = page->tree;
	mem_auto uint32_t *nodes = mem_new(tree->nodes.count, sizeof(*nodes));
	uint32_t count = call_tree_pick(tree, page->limit, page->min_share, nodes);
	unsigned width = paper_width(paper);

	paper_ink(paper, INK_DIM, "   total    self  %s of %s\n",
		page->callers ? "callers" : "callees", page->function);
	for (uint32_t i = 0; i < count; i++) {
		const struct call_tree_node *node = &tree->nodes.at[nodes[i]];
		const struct label *label = call_tree_label(tree, node);
		double all = (double)tree->samples.total.weight;
		unsigned indent = 2 * ((node->depth - 1) % 30); /* deeper ones start again */
		unsigned space_left =
			width > indent + 20 + NAME_LEAST ? width - indent - 20 : NAME_LEAST;
		str_auto struct str name = {0};

		name_shorten(label->name, space_left, &name);
		paper_add(paper, "%6.1f %%", (double)node->total.weight / all * 100);
		if (page->callers || !node->self.samples)
			paper_add(paper, "          ");
		else
			paper_ink(paper, INK_DIM, "%6.1f %%  ",
				(double)node->self.weight / all * 100);
		paper_add(paper, "%*s%s", (int)indent, "", name.at);
		if (label->flags & LABEL_UNNAMED && *label->module)
			paper_ink(paper, INK_DIM, "  %s", label_base(label->module));
		paper_add(paper, "\n");
	}
	if (count < tree->nodes.count - 1)
		paper_ink(paper, INK_DIM, "  %u smaller rows are not shown (--min, --limit)\n",
			tree->nodes.count - 1 - count);
}

static void events_line(struct paper *paper, const struct profile_quality *quality)
{
	str_auto struct str line = {0};

	for (uint32_t i = 0; i < quality->other_events.count; i++)
		str_addf(&line, "%s%s", i ? ", " : "also sampled: ", quality->other_events.at[i]);
	if (line.len) {
		str_add(&line, " (choose with --event)");
		paper_wrap(paper, 0, INK_DIM, line.at);
	}
	if (*quality->event_note)
		paper_wrap(paper, 0, INK_DIM, quality->event_note);
}

void report_text(struct paper *paper, const struct report_page *page)
{
	const struct profile_view *view = page->profile;
	uint32_t shown = view ? view->rows.count : 0;

	if (page->limit && shown > page->limit)
		shown = page->limit;
	quality_line(paper, page->quality);
	events_line(paper, page->quality);
	if (*page->quality->target) {
		paper_target(paper, page->quality->target);
		paper_add(paper, "\n");
	}
	paper_add(paper, "\n");
	if (!view) {
		tree_lines(paper, page);
		paper_add(paper, "\n");
		return;
	}
	rows_table(paper, view, page->limit);
	if (!view->row_count_all)
		paper_add(paper, "  these filters leave no sample\n");
	else if (shown < view->row_count_all)
		paper_ink(paper, INK_DIM, "  %u more rows (--limit 0 --min 0 shows all)\n",
			view->row_count_all - shown);
	paper_add(paper, "\n");
}

/* ---- agents ---- */

static void agent_rows(struct paper *paper, const struct profile_view *view)
{
	uint32_t shown = 0;

	vec_foreach (const struct profile_row, row, &view->rows) {
		str_auto struct str name = {0}, place = {0};

		if (shown++ == AGENT_ROWS)
			break;
		row_name(row, view->by == PROFILE_LINE ? PROFILE_FUNCTION : view->by, AGENT_NAME,
			&name);
		place_text(row, &place);
		paper_add(paper, "%.1f%% self %.1f%% total %s", row->self_share * 100,
			row->total_share * 100, name.at);
		if (*row->module && (view->by == PROFILE_FUNCTION || view->by == PROFILE_LINE))
			paper_add(paper, " in %s", label_base(row->module));
		if (place.len && view->by != PROFILE_FILE)
			paper_add(paper, " (%s)", place.at);
		paper_add(paper, "\n");
	}
	if (view->row_count_all > AGENT_ROWS || view->rows.count < view->row_count_all)
		paper_add(paper, "%u rows in total: use --json --limit 0\n", view->row_count_all);
}

static void agent_tree(struct paper *paper, const struct report_page *page)
{
	const struct call_tree *tree = page->tree;
	mem_auto uint32_t *nodes = mem_new(tree->nodes.count, sizeof(*nodes));
	uint32_t count = call_tree_pick(tree, AGENT_ROWS, page->min_share, nodes);

	paper_add(paper, "%s of %.200s:\n", page->callers ? "callers" : "callees", page->function);
	for (uint32_t i = 0; i < count; i++) {
		const struct call_tree_node *node = &tree->nodes.at[nodes[i]];
		str_auto struct str name = {0};

		name_shorten(call_tree_label(tree, node)->name, AGENT_NAME, &name);
		paper_add(paper, "%.1f%% depth %u %s\n",
			(double)node->total.weight / (double)tree->samples.total.weight * 100,
			node->depth - 1, name.at);
	}
}

/* The function to look into next: the first with a name. */
static const char *next_function(const struct report_page *page)
{
	if (page->tree)
		return page->function;
	if (page->profile->by == PROFILE_FUNCTION || page->profile->by == PROFILE_LINE)
		vec_foreach (const struct profile_row, row, &page->profile->rows)
			if (!(row->flags & LABEL_UNNAMED))
				return row->name;
	return NULL;
}

void report_agent(struct paper *paper, const struct report_page *page)
{
	const char *function = next_function(page);
	str_auto struct str words = {0};

	quality_line(paper, page->quality);
	if (*page->quality->target)
		paper_add(paper, "target: %.200s\n", page->quality->target);
	if (page->quality->other_events.count)
		paper_add(paper, "%u more events: use --event, the first is %s\n",
			page->quality->other_events.count, page->quality->other_events.at[0]);
	if (page->tree)
		agent_tree(paper, page);
	else
		agent_rows(paper, page->profile);
	word_quote(page->path, &words);
	str_add_char(&words, ' ');
	if (function)
		word_quote(function, &words);
	paper_add(paper, "next: assay %s %s\n", function ? "annotate" : "report", words.at);
}
