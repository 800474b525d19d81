/* stat.c - see stat.h.  An event without a value shows its status in the value's place and the
 * reason beside it; it is never a number. */
#include "render/stat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *status_text(const struct stat_event *event)
{
	if (str_equal(event->status, "not_counted"))
		return "not counted";
	if (str_equal(event->status, "not_supported"))
		return "not supported";
	if (str_equal(event->status, "not_permitted"))
		return "not permitted";
	return "not trusted";
}

static char *value_text(char *buf, size_t capacity, double value, const char *unit)
{
	if (str_equal(unit, "ns"))
		return paper_time(buf, capacity, value);
	if (*unit)
		snprintf(buf, capacity, "%.2f %s", value, unit);
	else
		paper_count(buf, capacity, value);
	return buf;
}

static void spread_cell(struct table *table, double spread)
{
	if (isnan(spread))
		table_cell(table, INK_PLAIN, "%s", "");
	else
		table_cell(table, INK_DIM, "+- %.1f %%", spread * 100);
}

static void event_row(struct table *table, const struct stat_event *event)
{
	char value[64], note[64] = "";

	table_cell(
		table, INK_PLAIN, "%s%s%s", event->name, *event->core ? " on " : "", event->core);
	if (!event->known) {
		table_cell(table, INK_WARN, "%s", status_text(event));
		table_cell(table, INK_PLAIN, "%s", "");
		table_cell(table, INK_DIM, "%s", event->reason);
		return;
	}
	if (event->scaled)
		snprintf(note, sizeof(note), "on the PMU %.0f %% of the time, scaled up",
			event->running_share * 100);
	if (event->simulated)
		snprintf(note, sizeof(note), "simulated");
	table_cell(
		table, INK_BOLD, "%s", value_text(value, sizeof(value), event->value, event->unit));
	spread_cell(table, event->spread);
	table_cell(table, event->scaled ? INK_WARN : INK_DIM, "%s", note);
}

static void events_table(struct paper *paper, const struct stat_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "", ">", ">", "");
	for (uint32_t i = 0; i < view->event_count; i++)
		event_row(&table, &view->events[i]);
	table_print(&table, paper, 2);
}

enum { SPLIT_TRUSTED_NS = 50000000 }; /* the kernel scales user and system by ticks below that */

static bool event_is_known(const struct stat_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->event_count; i++)
		if (view->events[i].known && str_equal(view->events[i].name, name))
			return true;
	return false;
}

static void usage_row(struct table *table, const char *name, const char *value, double spread)
{
	table_cell(table, INK_PLAIN, "%s", name);
	table_cell(table, INK_BOLD, "%s", value);
	spread_cell(table, spread);
}

/* Faults and switches as the kernel accounts them for the process, start-up included: shown only
 * where no event counted them from the program's first instruction on. */
static void usage_rows(struct table *table, const struct stat_view *view)
{
	char value[64], user[32], system[32];

	usage_row(table, "user+sys", paper_time(value, sizeof(value), view->cpu_ns),
		view->cpu_spread);
	if (view->cpu_ns >= SPLIT_TRUSTED_NS)
		table_cell(table, INK_DIM, "user %s, sys %s",
			paper_time(user, sizeof(user), view->user_ns),
			paper_time(system, sizeof(system), view->system_ns));
	else
		table_cell(table, INK_DIM, "%s", "");
	usage_row(table, "peak RSS", paper_bytes(value, sizeof(value), view->max_rss_bytes),
		(double)NAN);
	table_cell(table, INK_DIM, "%s", "");
	if (!event_is_known(view, "page-faults")) {
		usage_row(table, "faults",
			paper_count(value, sizeof(value), view->minor_faults + view->major_faults),
			(double)NAN);
		table_cell(table, INK_DIM, "%.0f from disk", view->major_faults);
	}
	if (!event_is_known(view, "context-switches")) {
		usage_row(table, "switches",
			paper_count(value, sizeof(value),
				view->voluntary_switches + view->involuntary_switches),
			(double)NAN);
		table_cell(table, INK_DIM, "%.0f by waiting, %.0f by preemption",
			view->voluntary_switches, view->involuntary_switches);
	}
}

static void usage_table(struct paper *paper, const struct stat_view *view)
{
	table_auto struct table table = {0};
	char value[64];

	table_columns(&table, "", ">", ">", "");
	usage_row(&table, view->simulated ? "simulation" : "wall",
		paper_time(value, sizeof(value), view->wall_ns), view->wall_spread);
	table_cell(&table, INK_DIM, "%s", view->simulated ? "not the program's own time" : "");
	if (view->has_usage)
		usage_rows(&table, view);
	table_print(&table, paper, 2);
}

enum ink metric_ink(enum metric_assessment assessment)
{
	static const enum ink inks[] = {[METRIC_NONE] = INK_PLAIN,
		[METRIC_HEALTHY] = INK_GOOD,
		[METRIC_WATCH] = INK_WARN,
		[METRIC_INVESTIGATE] = INK_BAD};

	return inks[assessment];
}

/* Meaning and threshold take a line, so they stand only where something should be done. */
static void metric_row(struct table *table, const struct metric_result *row)
{
	const struct metric *metric = row->metric;
	bool alarming = row->assessment == METRIC_WATCH || row->assessment == METRIC_INVESTIGATE;
	bool bytes = str_equal(metric->unit, "bytes");
	char value[64];

	table_cell(table, INK_PLAIN, "%s%s%s%s%s", metric->name, *row->modifiers ? ":" : "",
		row->modifiers, *row->core ? " on " : "", row->core);
	if (str_equal(metric->unit, "share"))
		table_cell(table, INK_BOLD, "%.1f %%", row->value * 100);
	else if (bytes)
		table_cell(table, INK_BOLD, "%s", paper_bytes(value, sizeof(value), row->value));
	else
		table_cell(table, INK_BOLD, "%.4g", row->value);
	table_cell(table, INK_PLAIN, "%s",
		bytes || str_equal(metric->unit, "share") ? "" : metric->unit);
	table_cell(table, metric_ink(row->assessment), "%s%s%s",
		row->assessment == METRIC_NONE ? "" : metric_assessment_word(row->assessment),
		alarming ? ": " : "", alarming ? metric->meaning : "");
}

static void metrics_table(struct paper *paper, const struct stat_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "", ">", "", "");
	for (uint32_t i = 0; i < view->metric_count; i++)
		if (view->metrics[i].known)
			metric_row(&table, &view->metrics[i]);
	if (table.cells.count) {
		paper_add(paper, "\n");
		table_print(&table, paper, 2);
	}
}

/* The metrics that have no value, in one line: their reasons stand at their events.  Only one that
 * a metric itself has stands nowhere else. */
static void missing_metrics(struct paper *paper, const struct stat_view *view)
{
	str_auto struct str line = {0};

	for (uint32_t i = 0; i < view->metric_count; i++) {
		const struct metric_result *row = &view->metrics[i];
		str_auto struct str own = {0};

		if (row->known)
			continue;
		if (!str_same(row->reason, row->metric->needs_reason)) {
			str_addf(&line, "%s%s",
				line.len ? ", " : "not measured: ", row->metric->name);
			continue;
		}
		str_addf(&own, "not measured: %s (%s)", row->metric->name, row->reason);
		paper_wrap(paper, 2, INK_DIM, own.at);
	}
	if (line.len)
		paper_wrap(paper, 2, INK_DIM, line.at);
}

static char *fact_value(char *buf, size_t capacity, const struct stat_fact *fact)
{
	if (str_equal(fact->unit, "ns"))
		return paper_time(buf, capacity, fact->value);
	if (str_starts(fact->unit, "bytes"))
		return paper_bytes(buf, capacity, fact->value);
	if (fact->value >= 1000 || fact->value == round(fact->value))
		return paper_count(buf, capacity, fact->value);
	snprintf(buf, capacity, "%.3g", fact->value);
	return buf;
}

/* What /proc told; what it did not tell stands in one line each reason. */
static void facts_text(struct paper *paper, const struct stat_view *view)
{
	table_auto struct table table = {0};
	const char *told = "";
	char value[64];

	table_columns(&table, "", ">", "");
	for (uint32_t i = 0; i < view->fact_count; i++) {
		const struct stat_fact *fact = &view->facts[i];

		if (*fact->reason)
			continue;
		table_cell(&table, INK_PLAIN, "%s", fact->name);
		table_cell(&table, INK_BOLD, "%s", fact_value(value, sizeof(value), fact));
		table_cell(&table, INK_DIM, "%s", fact->witness);
	}
	if (!table.cells.count)
		return;
	paper_add(paper, "\n");
	table_print(&table, paper, 2);
	for (uint32_t i = 0; i < view->fact_count; i++) {
		const struct stat_fact *fact = &view->facts[i];

		if (*fact->reason && !str_equal(fact->reason, told))
			paper_ink(paper, INK_DIM, "  no %s: %s\n", fact->name, fact->reason);
		told = fact->reason;
	}
}

/* What the executions did that the numbers do not tell. */
static void executions_text(struct paper *paper, const struct stat_view *view)
{
	for (uint32_t i = 0; i < view->execution_count; i++) {
		const struct stat_execution *e = &view->executions[i];
		str_auto struct str line = {0};

		if (e->signal)
			str_addf(
				&line, "killed by signal %d (%s)", e->signal, strsignal(e->signal));
		else if (e->exit_status)
			str_addf(&line, "exited with status %d", e->exit_status);
		if (e->interrupted)
			str_addf(&line, "%sinterrupted", line.len ? ", " : "");
		if (e->timed_out)
			str_addf(&line, "%sstopped at the time limit", line.len ? ", " : "");
		if (e->leftovers)
			str_addf(&line, "%sleft processes running", line.len ? ", " : "");
		if (!line.len)
			continue;
		if (view->execution_count > 1)
			paper_add(paper, "  run %u: ", e->number);
		else
			paper_add(paper, "  ");
		paper_ink(paper, INK_WARN, "%s\n", line.at);
	}
}

void stat_text(struct paper *paper, const struct stat_view *view)
{
	paper_add(paper, "\n");
	paper_target(paper, view->target);
	if (view->used_count > 1)
		paper_ink(paper, INK_DIM, "   median of %u runs", view->used_count);
	paper_add(paper, "\n\n");
	events_table(paper, view);
	if (view->execution_count) {
		paper_add(paper, "\n");
		usage_table(paper, view);
	}
	metrics_table(paper, view);
	missing_metrics(paper, view);
	facts_text(paper, view);
	executions_text(paper, view);
	paper_add(paper, "\n");
}

enum { AGENT_EVENTS = 20, AGENT_METRICS = 10 };

static void agent_event(struct paper *paper, const struct stat_event *event)
{
	paper_add(paper, "%s%s%s", event->name, *event->core ? "@" : "", event->core);
	if (!event->known)
		paper_add(paper, " = none (%s: %s)\n", event->status, event->reason);
	else if (event->scaled)
		paper_add(paper, " = %.10g %s (scaled, on PMU %.0f%%)\n", event->value,
			*event->unit ? event->unit : "", event->running_share * 100);
	else
		paper_add(paper, " = %.10g%s%s%s\n", event->value, *event->unit ? " " : "",
			event->unit, event->simulated ? " (simulated)" : "");
}

void stat_agent(struct paper *paper, const struct stat_view *view)
{
	unsigned shown = 0;

	paper_add(paper, "target: %.200s\n", view->target);
	if (view->used_count)
		paper_add(paper, "runs: %u (medians)\n", view->used_count);
	for (uint32_t i = 0; i < view->event_count && i < AGENT_EVENTS; i++)
		agent_event(paper, &view->events[i]);
	if (view->event_count > AGENT_EVENTS)
		paper_add(paper, "and %u more events: use --json\n",
			view->event_count - AGENT_EVENTS);
	if (view->execution_count)
		paper_add(paper, "%s = %.0f\n", view->simulated ? "simulation_ns" : "wall_ns",
			view->wall_ns);
	if (view->has_usage)
		paper_add(paper,
			"cpu_ns = %.0f\nmax_rss_bytes = %.0f\nfaults = %.0f minor, %.0f major\n",
			view->cpu_ns, view->max_rss_bytes, view->minor_faults, view->major_faults);
	for (uint32_t i = 0; i < view->metric_count && shown < AGENT_METRICS; i++) {
		const struct metric_result *row = &view->metrics[i];

		if (!row->known || row->assessment == METRIC_NONE)
			continue;
		paper_add(paper, "%s = %.4g %s: %s\n", row->metric->name, row->value,
			row->metric->unit, metric_assessment_word(row->assessment));
		shown++;
	}
	for (uint32_t i = 0; i < view->execution_count; i++)
		if (view->executions[i].signal || view->executions[i].exit_status) {
			paper_add(paper, "run %u failed: exit %d signal %d\n",
				view->executions[i].number, view->executions[i].exit_status,
				view->executions[i].signal);
			break;
		}
	paper_add(paper, "next: %s\n", view->next);
}

void stat_interval_text(
	struct paper *paper, const struct stat_view *view, const struct stat_interval *interval)
{
	char value[64];

	paper_ink(paper, INK_DIM, "%10.3f s", (double)interval->at_ns / 1e9);
	for (uint32_t i = 0; i < view->event_count; i++) {
		const struct stat_event *event = &view->events[i];

		if (!isnan(interval->values[i]))
			paper_add(paper, "  %s %s", event->name,
				value_text(value, sizeof(value), interval->values[i], event->unit));
	}
	paper_add(paper, "\n");
}
