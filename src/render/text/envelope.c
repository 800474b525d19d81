/* envelope.c - how far repeated baselines drift, and which metric fails. */
#include "render/gate.h"

#include "render/shorten.h"

static enum ink class_ink(enum envelope_class class)
{
	static const enum ink inks[] = {
		[ENVELOPE_STABLE] = INK_GOOD,
		[ENVELOPE_NOISE] = INK_PLAIN,
		[ENVELOPE_INVESTIGATE] = INK_WARN,
		[ENVELOPE_ESCALATE] = INK_BAD,
	};

	return inks[class];
}

static void series_row(struct table *table, const struct envelope_series *one)
{
	str_auto struct str name = {0};
	char middle[32];

	name_shorten(one->command, 40, &name);
	table_cell(table, INK_PLAIN, "%s", str_text(&name));
	table_cell(table, INK_PLAIN, "%s %s", one->metric, one->statistic);
	table_cell(table, INK_PLAIN, "%s", paper_time(middle, sizeof(middle), one->reference));
	table_cell(table, INK_BOLD, "%.2f %%", one->drift * 100);
	table_cell(table, INK_DIM, "repeat %u", one->worst + 1);
	table_cell(table, class_ink(one->class), "%s", envelope_class_name(one->class));
}

static void verdict_text(struct paper *paper, const struct envelope_view *view)
{
	paper_ink(paper, class_ink(view->class), "%s", envelope_class_name(view->class));
	if (view->by)
		paper_add(paper, ": %s %s drifts %.2f %% from the median of %u %s",
			view->by->metric, view->by->statistic, view->by->drift * 100, view->repeats,
			view->blocks ? "blocks" : "repeats");
	if (view->by && view->by->in_a_row > 1)
		paper_add(paper, ", %u in a row above 10 %%", view->by->in_a_row);
	paper_add(paper, "\n");
}

void envelope_text(struct paper *paper, const struct envelope_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "envelope", "", ">median", ">drift", "worst", "");
	for (uint32_t i = 0; i < view->series_count; i++)
		series_row(&table, &view->series[i]);
	table_print(&table, paper, 2);
	paper_add(paper, "  ");
	verdict_text(paper, view);
	paper_add(paper, "\n");
}

void envelope_agent(struct paper *paper, const struct envelope_view *view)
{
	paper_add(paper, "envelope: ");
	verdict_text(paper, view);
}
