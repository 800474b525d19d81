/* import.c - the events of an imported file: value, unit, how much of the time it was counted, and
 * why there is none where there is none. */
#include "render/import.h"

#include <math.h>
#include <stdio.h>

static void value_cell(struct table *table, const struct imported_event *event)
{
	char buf[64];

	if (!event->known)
		table_cell(table, INK_WARN, "%s", event->status);
	else if (str_equal(event->unit, "ns"))
		table_cell(table, INK_BOLD, "%s", paper_time(buf, sizeof(buf), event->value));
	else if (fabs(event->value - round(event->value)) < 1e-9)
		table_cell(table, INK_BOLD, "%s", paper_count(buf, sizeof(buf), event->value));
	else
		table_cell(table, INK_BOLD, "%.3f", event->value);
}

static void event_cells(struct table *table, const struct imported_event *event)
{
	bool scaled = event->known && event->running_ns < event->enabled_ns;

	table_cell(table, INK_PLAIN, "%s", event->name);
	table_cell(table, INK_DIM, "%s", event->core);
	value_cell(table, event);
	table_cell(table, INK_PLAIN, "%s", str_equal(event->unit, "ns") ? "" : event->unit);
	if (scaled)
		table_cell(table, INK_WARN, "estimate: counted %.0f %% of the time",
			100.0 * (double)event->running_ns / (double)event->enabled_ns);
	else
		table_cell(table, INK_DIM, "%s", event->reason);
}

void import_text(struct paper *paper, const struct imported_view *view, const char *kind)
{
	table_auto struct table table = {0};

	paper_ink(paper, INK_BOLD, "%s", kind);
	paper_add(paper, ", %u events", view->events.count);
	if (view->intervals)
		paper_add(paper, ", sums of %u intervals", view->intervals);
	paper_add(paper, "\n");
	table_column(&table, "event", false);
	table_column(&table, "cores", false);
	table_column(&table, "value", true);
	table_column(&table, "unit", false);
	table_column(&table, "", false);
	vec_foreach (const struct imported_event, event, &view->events)
		event_cells(&table, event);
	table_print(&table, paper, 2);
}

static void event_json(struct jsonw *w, const struct imported_event *event)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", event->name);
	if (*event->core)
		jsonw_put_text(w, "core", event->core);
	if (event->known)
		jsonw_put_double(w, "value", event->value);
	else
		jsonw_put_missing(w, "value", event->reason);
	jsonw_put_text(w, "unit", event->unit);
	if (event->known) {
		jsonw_put_u64(w, "enabled_ns", event->enabled_ns);
		jsonw_put_u64(w, "running_ns", event->running_ns);
		jsonw_put_bool(w, "scaled", event->running_ns < event->enabled_ns);
	} else {
		jsonw_put_missing(w, "enabled_ns", event->reason);
		jsonw_put_missing(w, "running_ns", event->reason);
		jsonw_put_bool(w, "scaled", false);
	}
	jsonw_put_text(w, "status", event->status);
	jsonw_put_text(w, "reason", event->reason);
	jsonw_end_object(w);
}

void import_json_events(struct jsonw *w, const struct imported_view *view)
{
	jsonw_key(w, "events");
	jsonw_begin_array(w);
	vec_foreach (const struct imported_event, event, &view->events)
		event_json(w, event);
	jsonw_end_array(w);
}
