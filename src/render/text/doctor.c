/* doctor.c - see doctor.h.  The tiers come first: most readers want to know what they get, not why.
 */
#include "render/doctor.h"

#include <string.h>

static enum ink status_ink(enum doctor_status status)
{
	return status == DOCTOR_OK ? INK_GOOD : status == DOCTOR_NO ? INK_BAD : INK_WARN;
}

static void tiers_text(struct paper *paper, const struct doctor_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "", "");
	vec_foreach (const struct doctor_tier, tier, &view->tiers) {
		table_cell(&table, INK_BOLD, "%s", tier->name);
		table_cell(&table, tier->best ? INK_GOOD : INK_WARN, "%s", tier->text);
	}
	table_print(&table, paper, 2);
}

static void root_adds_line(struct paper *paper, const struct doctor_view *view)
{
	unsigned found = 0;

	vec_foreach (const struct doctor_row, row, &view->rows)
		if (row->root_adds && strcmp(row->name, "privileges") != 0) {
			if (!found)
				paper_add(paper,
					paper->ascii ? "root would add: " : "\nRoot would add: ");
			paper_add(paper, "%s%s", found++ ? ", " : "", row->name);
		}
	if (found)
		paper_add(paper, "\n");
}

void doctor_text(struct paper *paper, const struct doctor_view *view)
{
	paper_ink(paper, INK_BOLD, "What this machine supports\n");
	tiers_text(paper, view);
	root_adds_line(paper, view);
	paper_ink(paper, INK_BOLD, "\nCapabilities");
	paper_add(paper, ": %u ok, %u limited, %u no\n", view->counts[DOCTOR_OK],
		view->counts[DOCTOR_LIMITED], view->counts[DOCTOR_NO]);
	vec_foreach (const struct doctor_row, row, &view->rows) {
		table_auto struct table table = {0};

		/* One table per row, so that the fix can stand below it; the pad keeps the
		 * columns in line. */
		table_columns(&table, "", "", "");
		table_cell(
			&table, status_ink(row->status), "%-7s", doctor_status_name(row->status));
		table_cell(&table, INK_PLAIN, "%-19s", row->name);
		table_cell(&table, INK_PLAIN, "%s", row->reason);
		table_print(&table, paper, 2);
		if (row->status == DOCTOR_OK)
			continue;
		table_done(&table);
		table_cell(&table, INK_PLAIN, "%-7s", "");
		table_cell(&table, INK_DIM, "%-19s", "  for");
		table_cell(&table, INK_DIM, "%s (%s)", row->purpose, row->commands);
		table_cell(&table, INK_PLAIN, "%-7s", "");
		table_cell(&table, INK_DIM, "%-19s", "  fix");
		table_cell(&table, INK_BOLD, "%s", row->fix);
		table_print(&table, paper, 2);
	}
}

enum { AGENT_ROWS = 20 }; /* a program's dozen and the next command follow, 40 in all */

void doctor_agent(struct paper *paper, const struct doctor_view *view)
{
	unsigned ok = 0, missing = 0;

	vec_foreach (const struct doctor_tier, tier, &view->tiers)
		paper_add(paper, "%s: %s\n", tier->name, tier->text);
	vec_foreach (const struct doctor_row, row, &view->rows)
		if (row->status == DOCTOR_OK)
			paper_add(paper, "%s%s", ok++ ? ", " : "ok: ", row->name);
	if (ok)
		paper_add(paper, "\n");
	vec_foreach (const struct doctor_row, row, &view->rows)
		if (row->status != DOCTOR_OK && missing++ < AGENT_ROWS)
			paper_add(paper, "%s: %s: %s; fix: %s\n", doctor_status_name(row->status),
				row->name, row->reason, row->fix);
	if (missing > AGENT_ROWS)
		paper_add(paper, "and %u more: use --json\n", missing - AGENT_ROWS);
	root_adds_line(paper, view);
}
