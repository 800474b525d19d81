/* diff_counts.c - the counts of two runs side by side: the time first, then what explains it. */
#include "diff_parts.h"

#include <math.h>

#include "render/report.h"

enum { AGENT_ROWS = 10 };

static const char *value_text(char *buf, size_t capacity, double value, const char *unit)
{
	return isnan(value) ? "-" : weight_text(buf, capacity, value, unit);
}

/* "+296,086" of what is exact; of medians the interval tells more. */
static void difference_add(struct str *out, const struct diff_count_row *row)
{
	char value[32];

	if (row->exact)
		str_addf(out, "%c%s", row->difference < 0 ? '-' : '+',
			weight_text(value, sizeof(value), fabs(row->difference), row->unit));
}

static void interval_add(struct str *out, const struct diff_count_row *row)
{
	if (row->exact)
		return;
	if (isnan(row->lo))
		str_add(out, "too few runs");
	else
		str_addf(out, "%+.1f..%+.1f %%", row->lo * 100, row->hi * 100);
}

static void explains_add(struct str *out, const struct diff_count_row *row)
{
	if (!isnan(row->explains_share))
		str_addf(out, "%s%.0f %%", row->priced ? "about " : "", row->explains_share * 100);
}

static const char *note_of(const struct diff_count_row *row)
{
	bool same = !row->moved && (row->exact || !isnan(row->lo));

	if (row->simulated)
		return same ? "simulated, same" : row->exact ? "simulated, exact" : "simulated";
	return same ? "same" : "";
}

static void row_cells(struct table *table, const struct diff_count_row *row)
{
	str_auto struct str difference = {0}, interval = {0}, explains = {0};
	char a[32], b[32];

	difference_add(&difference, row);
	interval_add(&interval, row);
	explains_add(&explains, row);
	table_cell(table, INK_PLAIN, "%s%s%s", row->name, *row->core ? " on " : "", row->core);
	table_cell(table, INK_PLAIN, "%s", value_text(a, sizeof(a), row->a, row->unit));
	table_cell(table, INK_PLAIN, "%s", value_text(b, sizeof(b), row->b, row->unit));
	table_cell(table, INK_PLAIN, "%s", str_text(&difference));
	if (isnan(row->change)) {
		table_cell(table, INK_DIM, "%s", "");
		table_cell(table, INK_DIM, "%s", "");
		table_cell(table, INK_DIM, "%s", "");
		table_cell(table, INK_DIM, "%s", row->reason);
		return;
	}
	table_cell(table, row->moved ? INK_BOLD : INK_PLAIN, "%+.1f %%", row->change * 100);
	table_cell(table, INK_DIM, "%s", str_text(&interval));
	table_cell(table, INK_PLAIN, "%s", str_text(&explains));
	table_cell(table, INK_DIM, "%s", note_of(row));
}

static void head_line(struct paper *paper, const struct diff_counts_view *view)
{
	bool a = view->simulated_a, b = view->simulated_b;

	paper_ink(paper, INK_BOLD, "counts");
	paper_add(paper, ": %u run%s of A%s, %u of B%s\n", view->executions_a,
		view->executions_a == 1 ? "" : "s",
		a   ? " (simulated)"
		: b ? " (measured)"
		    : "",
		view->executions_b,
		b   ? " (simulated)"
		: a ? " (measured)"
		    : "");
}

static void factors_line(struct paper *paper, const struct diff_counts_view *view)
{
	if (isnan(view->work_share))
		return;
	paper_add(paper,
		"of the change: instructions %.0f %%, cycles per instruction %.0f %%, clock rate "
		"or "
		"waiting %.0f %%\n",
		view->work_share * 100, view->stall_share * 100, view->clock_share * 100);
}

void diff_counts_text(struct paper *paper, const struct diff_counts_view *view)
{
	table_auto struct table table = {0};

	head_line(paper, view);
	paper_wrap(paper, 0, INK_PLAIN, view->explanation.text);
	factors_line(paper, view);
	paper_add(paper, "\n");
	table_columns(
		&table, "event", ">A", ">B", ">difference", ">change", ">95 %", ">explains", "");
	if (!isnan(view->time.a) || !isnan(view->time.b))
		row_cells(&table, &view->time);
	for (uint32_t i = 0; i < view->row_count; i++)
		row_cells(&table, &view->rows[i]);
	table_print(&table, paper, 2);
}

static void agent_exact(struct paper *paper, const struct diff_count_row *row)
{
	paper_add(paper, "%s: %.10g to %.10g, %+.10g", row->name, row->a, row->b, row->difference);
	if (!isnan(row->change))
		paper_add(paper, ", %+.1f%%", row->change * 100);
	paper_add(paper, " (simulated, exact)\n");
}

static void agent_row(struct paper *paper, const struct diff_count_row *row)
{
	str_auto struct str interval = {0}, explains = {0};

	interval_add(&interval, row);
	explains_add(&explains, row);
	if (row->exact)
		agent_exact(paper, row);
	else if (isnan(row->change))
		paper_add(paper, "%s: none (%s)\n", row->name, row->reason);
	else
		paper_add(paper, "%s: %.10g to %.10g, %+.1f%% (95%%: %s)%s%s%s\n", row->name,
			row->a, row->b, row->change * 100, interval.at,
			row->simulated ? ", simulated" : "", explains.len ? ", explains " : "",
			str_text(&explains));
}

void diff_counts_agent(struct paper *paper, const struct diff_counts_view *view)
{
	head_line(paper, view);
	paper_add(paper, "why: %s\n", view->explanation.text);
	factors_line(paper, view);
	agent_row(paper, &view->time);
	for (uint32_t i = 0; i < view->row_count && i < AGENT_ROWS; i++)
		agent_row(paper, &view->rows[i]);
}
