/* target.c - see target.h. */
#include "render/target.h"

const char *target_status_word(enum target_status status)
{
	static const char *const words[TARGET_STATUSES] = {
		[TARGET_OK] = "ok", [TARGET_LIMITED] = "limited", [TARGET_NO] = "no"};

	return words[status];
}

static enum ink status_ink(enum target_status status)
{
	static const enum ink inks[TARGET_STATUSES] = {
		[TARGET_OK] = INK_GOOD, [TARGET_LIMITED] = INK_WARN, [TARGET_NO] = INK_BAD};

	return inks[status];
}

void target_text(struct paper *paper, const struct target_view *view)
{
	table_auto struct table table = {0};

	paper_ink(paper, INK_BOLD, "program");
	paper_add(paper, "  %s\n", view->path);
	table_columns(&table, "", "", "");
	for (unsigned i = 0; i < view->row_count; i++) {
		const struct target_row *row = &view->rows[i];

		table_cell(&table, INK_PLAIN, "%s", row->name);
		if (row->unknown)
			table_cell(&table, INK_DIM, "-");
		else
			table_cell(&table, status_ink(row->status), "%s",
				target_status_word(row->status));
		table_cell(&table, INK_PLAIN, "%s", row->value);
	}
	table_print(&table, paper, 2);
	for (unsigned i = 0; i < view->row_count; i++) {
		const struct target_row *row = &view->rows[i];

		if (row->status == TARGET_OK)
			continue;
		paper_add(paper, "\n  ");
		paper_ink(paper, status_ink(row->status), "%s: %s", row->name, row->value);
		paper_add(paper, "\n");
		if (row->cost)
			paper_wrap(paper, 4, INK_PLAIN, row->cost);
		if (row->fix)
			paper_wrap(paper, 4, INK_DIM, row->fix);
	}
}

void target_agent(struct paper *paper, const struct target_view *view)
{
	paper_add(paper, "target %s language=%s\n", view->path, view->language);
	for (unsigned i = 0; i < view->row_count; i++) {
		const struct target_row *row = &view->rows[i];

		if (row->status != TARGET_OK)
			paper_add(paper, "target.%s %s: %s; fix: %s\n", row->finding,
				target_status_word(row->status), row->value,
				row->fix ? row->fix : "none known");
	}
	if (view->worst == TARGET_OK)
		paper_add(paper, "target ok: nothing in this build makes it hard to measure\n");
}
