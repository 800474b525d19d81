/* spans.c - see spans.h.  Agents get the same table with fewer rows, and no text that wraps. */
#include "render/spans.h"

#include <math.h>

#include "render/imported.h"
#include "render/shorten.h"

enum { ROWS = 20, AGENT_ROWS = 10, NAME_COLUMNS = 40, NUMBER_SIZE = 64, AGENT_WORDS = 40 };

static uint32_t rows_of(const struct paper *paper)
{
	return paper->ascii ? AGENT_ROWS : ROWS;
}

static void evidence_cell(struct table *table, const struct paper *paper, const char *evidence)
{
	str_auto struct str text = {0};

	if (paper->ascii)
		words_shorten(evidence, AGENT_WORDS, &text);
	table_cell(table, INK_DIM, "%s", paper->ascii ? str_text(&text) : evidence);
}

static void span_row(
	struct table *table, const struct paper *paper, uint32_t rank, const struct span_view *span)
{
	str_auto struct str name = {0};
	char text[NUMBER_SIZE];

	name_shorten(span->name, NAME_COLUMNS, &name);
	table_cell(table, INK_DIM, "%u", rank);
	table_cell(table, INK_BOLD, "%s", str_text(&name));
	table_cell(table, INK_PLAIN, "%s", span->category);
	table_time(table, INK_BOLD, span->total_ns);
	if (isfinite(span->share))
		table_cell(table, INK_PLAIN, "%.1f %%", span->share * 100);
	else
		table_cell(table, INK_PLAIN, "-");
	table_cell(table, INK_PLAIN, "%s", paper_count(text, sizeof(text), (double)span->count));
	table_time(table, INK_PLAIN, span->p50_ns);
	table_time(table, INK_PLAIN, span->p95_ns);
	table_time(table, INK_PLAIN, span->p99_ns);
	table_time(table, INK_DIM, span->max_ns);
	table_cell(table, INK_DIM, "%s", paper->ascii ? "" : span->evidence); /* it would wrap */
}

static void spans_table(struct paper *paper, const struct spans_view *view)
{
	table_auto struct table table = {0};
	uint32_t rows = rows_of(paper);

	table_columns(&table, ">", "span", "category", ">cumulative", ">share", ">count", ">p50",
		">p95", ">p99", ">max", "evidence");
	for (uint32_t i = 0; i < view->span_count && i < rows; i++)
		span_row(&table, paper, i + 1, &view->spans[i]);
	table_print(&table, paper, 2);
	if (view->span_count > rows)
		paper_add(paper, "  and %u more spans\n", view->span_count - rows);
	paper_add(paper, "\n  by %s; shares are of the sum of all spans, which may be nested\n",
		spans_by_word(view->by));
}

static void claims_table(struct paper *paper, const struct spans_view *view)
{
	table_auto struct table table = {0};
	uint32_t rows = rows_of(paper);

	table_columns(&table, "what the program logged", "verdict", "evidence");
	for (uint32_t i = 0; i < view->claim_count && i < rows; i++) {
		str_auto struct str name = {0};

		name_shorten(view->claims[i].name, NAME_COLUMNS, &name);
		table_cell(&table, INK_PLAIN, "%s", str_text(&name));
		table_cell(&table, INK_BOLD, "%s", view->claims[i].verdict);
		evidence_cell(&table, paper, view->claims[i].evidence);
	}
	paper_add(paper, "\n");
	table_print(&table, paper, 2);
	if (view->claim_count > rows)
		paper_add(paper, "  and %u more\n", view->claim_count - rows);
}

void spans_text(
	struct paper *paper, const struct spans_view *view, const char *path, const char *stored)
{
	char number[NUMBER_SIZE];

	paper_ink(paper, INK_BOLD, "%s", view->target);
	if (*view->scenario)
		paper_add(paper, "   %s", view->scenario);
	paper_add(paper, "\n\n");
	if (view->span_count)
		spans_table(paper, view);
	else
		paper_add(paper, "  no spans were logged\n");
	if (view->claim_count)
		claims_table(paper, view);
	paper_add(paper, view->fact_count ? "\n  " : "\n");
	for (uint32_t i = 0; i < view->fact_count && i < rows_of(paper); i++)
		paper_add(paper, "%s%s %s", i ? ", " : "", view->facts[i].name,
			paper_count(number, sizeof(number), view->facts[i].value));
	paper_add(paper, "\n");
	imported_next(
		paper, &(struct imported_step){"sqlite3", " 'SELECT * FROM spans'"}, path, stored);
}
