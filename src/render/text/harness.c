/* harness.c - see harness.h. */
#include "render/harness.h"

void harness_text(struct paper *paper, const struct harness_view *view)
{
	table_auto struct table table = {0};

	paper_ink(paper, INK_BOLD, "%s", view->path);
	paper_add(paper, ": put your code between the marks; it runs unchanged\n\n");
	table_columns(&table, "", "");
	table_cell(&table, INK_BOLD, "%s", view->build);
	table_cell(&table, INK_DIM, "build");
	for (unsigned i = 0; i < HARNESS_STEPS; i++) {
		if (!view->steps[i].line)
			continue;
		table_cell(&table, INK_BOLD, "%s", view->steps[i].line);
		table_cell(&table, INK_DIM, "%s", view->steps[i].does);
	}
	table_print(&table, paper, 2);
	paper_add(paper, "next: %s\n", view->build);
}
