/* imported.c - see imported.h.  People and agents get the same lines: there are few. */
#include "render/imported.h"
#include "base/words.h"

static void events_table(struct paper *paper, const struct imported_view *view)
{
	table_auto struct table table = {0};
	char number[64];

	table_columns(&table, "event", ">samples", ">weight", "", ">counted");
	for (uint32_t i = 0; i < view->event_count && i < 20; i++) {
		const struct imported_event *event = &view->events[i];

		table_cell(&table, INK_PLAIN, "%s%s%s", event->name, *event->core ? " on " : "",
			event->core);
		table_cell(&table, INK_BOLD, "%s",
			paper_count(number, sizeof(number), (double)event->samples));
		table_cell(&table, INK_PLAIN, "%s",
			event->samples && !event->merged
				? paper_count(number, sizeof(number), (double)event->weight)
				: "");
		table_cell(&table, INK_DIM, "%s", event->unit);
		table_cell(&table, INK_PLAIN, "%s",
			event->counted ? paper_count(number, sizeof(number), (double)event->count)
				       : "");
	}
	table_print(&table, paper, 2);
	if (view->event_count > 20)
		paper_add(paper, "  and %u more events\n", view->event_count - 20);
}

static void fact(struct paper *paper, const char *word, uint64_t value)
{
	char number[64];

	if (value)
		paper_add(
			paper, ", %s %s", paper_count(number, sizeof(number), (double)value), word);
}

void imported_next(
	struct paper *paper, const struct imported_step *step, const char *path, const char *stored)
{
	str_auto struct str word = {0};

	word_quote(stored ? stored : path, &word);
	if (stored)
		paper_add(paper, "next: %s %s%s\n", step->before, word.at, step->behind);
	else
		paper_add(paper, "nothing was stored; next: assay import %s -o run.assay%s\n",
			word.at, str_equal(path, "-") ? " < FILE" : "");
}

void imported_text(
	struct paper *paper, const struct imported_view *view, const char *path, const char *stored)
{
	char number[64];

	paper_ink(paper, INK_BOLD, "%s", view->target);
	paper_add(paper, "\n\n");
	events_table(paper, view);
	paper_add(paper, "\n  %s samples",
		paper_count(number, sizeof(number), (double)view->samples));
	if (view->span_ns)
		paper_add(paper, " over %s",
			paper_time(number, sizeof(number), (double)view->span_ns));
	fact(paper, "threads", view->threads);
	fact(paper, "modules", view->modules);
	fact(paper, "functions", view->functions);
	fact(paper, "branches", view->branches);
	fact(paper, "memory accesses", view->accesses);
	fact(paper, "lost by the recorder", view->lost);
	fact(paper, "stacks truncated", view->truncated);
	fact(paper, "stacks broken", view->broken);
	paper_add(paper, "\n");
	imported_next(paper, &(struct imported_step){"assay report", ""}, path, stored);
}
