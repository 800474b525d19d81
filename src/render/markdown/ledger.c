/* ledger.c - hypothesis.md: every explanation with its verdict, numbers and falsifier. */
#include "render/markdown.h"

#include <math.h>

#include "analyze/hypothesis.h"
#include "analyze/ledger_history.h"

static const char *changed_of(const struct ledger_run *run, const char *hypothesis)
{
	for (uint32_t i = 0; run && i < run->step_count; i++)
		if (str_equal(run->steps[i].hypothesis, hypothesis))
			return run->steps[i].changed;
	return "";
}

static void row_add(struct str *out, const struct ledger_row *row, const struct ledger_run *run)
{
	const char *changed = changed_of(run, row->name);

	markdown_add_cells(out, "| %s%s | %s | ", hypothesis_verdict_word(row->verdict),
		row->noisy ? " (noisy)" : "", row->name);
	if (isfinite(row->share))
		str_addf(out, "%.0f %%", 100 * row->share);
	else
		str_add(out, "not known");
	markdown_add_cells(
		out, " | %s | %s | %s |\n", row->why, row->falsifier, *changed ? changed : "-");
}

/* What would make the untested rows testable. */
static void missing_add(struct str *out, const struct ledger_view *view)
{
	bool any = false;

	for (uint32_t i = 0; i < view->count; i++) {
		const struct ledger_row *row = &view->rows[i];

		if (!*row->untested || row->verdict == HYPOTHESIS_REJECTS)
			continue;
		if (!any)
			str_add(out, "\n## Untested, or tested in part\n\n");
		any = true;
		markdown_add(out, "- %s: %s\n", row->name, row->untested);
	}
}

void ledger_markdown(struct str *out, const struct ledger_view *view, const struct ledger_run *run)
{
	str_add(out, "# Explanations\n\n");
	str_add(out,
		"An explanation is supported only when two independent methods agree. What could "
		"not be measured is untested, never rejected.\n");
	if (view->noisy)
		str_add(out, "The machine was not quiet: be careful with every row.\n");
	if (run && run->before)
		markdown_add(out, "Changed since %s: %u.\n", run->before, run->changed_count);
	str_add(out, "\n| verdict | explanation | share | why | what would refute it | changed |\n"
		     "|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < view->count; i++)
		row_add(out, &view->rows[i], run);
	missing_add(out, view);
}
