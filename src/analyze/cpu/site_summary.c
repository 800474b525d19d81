/* site_summary.c - see site_summary.h. */
#include "analyze/site_summary.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "model/run.h"

/* The machine that was measured; an imported recording tells its own. */
static const char *arch_of(const struct run *run)
{
	const char *recorded = run_get_field(run, "recording", "cpu", "");

	return *recorded ? recorded : run_get_field(run, "cpu", "model", "");
}

static bool event_is_hardware(const char *name)
{
	static const char *const software[] = {"task-clock", "cpu-clock", "page-faults",
		"context-switches", "cpu-migrations", "minor-faults", "major-faults", "cs"};
	size_t len = strcspn(name, ":");

	for (unsigned i = 0; i < sizeof(software) / sizeof(*software); i++)
		if (strlen(software[i]) == len && strncmp(software[i], name, len) == 0)
			return false;
	return *name != '\0';
}

static void events_look(const struct run *run, struct site_summary *summary)
{
	bool hardware = run->branches.count || run->accesses.count;

	vec_foreach (const struct event_row, row, &run->events) {
		const char *name = run_text(run, row->name);

		summary->simulated |= (row->flags & EVENT_SIMULATED) != 0;
		summary->user_only |= str_ends(name, ":u") && row->status == EVENT_COUNTED;
		hardware |= row->status == EVENT_COUNTED && event_is_hardware(name);
	}
	summary->engine = summary->simulated ? "sim" : hardware ? "pmu" : "none";
}

static void metrics_take(const struct metric_book *book, const char *const *names,
	struct arena *arena, struct site_summary *summary)
{
	uint32_t count = summary->stat.metric_count;

	for (unsigned i = 0; names[i]; i++)
		count++;
	summary->metrics = arena_take(arena, count * sizeof(*summary->metrics));
	for (unsigned i = 0; names[i]; i++) {
		uint32_t before = summary->metric_count;
		struct err ignored;
		const struct metric *metric = metric_find(book, names[i], &ignored);

		for (uint32_t k = 0; metric && k < summary->stat.metric_count; k++)
			if (summary->stat.metrics[k].metric == metric)
				summary->metrics[summary->metric_count++] =
					summary->stat.metrics[k];
		if (metric && summary->metric_count == before)
			summary->metrics[summary->metric_count++] = (struct metric_result){
				.metric = metric,
				.core = "",
				.modifiers = "",
				.reason = summary->simulated
						  ? "the simulator does not count these events"
						  : "its events were not counted in this run",
				.value = (double)NAN,
			};
	}
}

void site_summary_make(const struct run *run, const struct metric_book *book,
	const char *const *names, struct arena *arena, struct site_summary *ret_summary)
{
	*ret_summary = (struct site_summary){.target = run_text(run, run->target),
		.arch = arch_of(run),
		.verdict = verdict_none()};
	stat_view_make(run, book, arena, &ret_summary->stat);
	events_look(run, ret_summary);
	metrics_take(book, names, arena, ret_summary);
}

const struct metric_result *site_summary_metric(
	const struct site_summary *summary, const char *name)
{
	for (uint32_t i = 0; i < summary->metric_count; i++)
		if (str_equal(summary->metrics[i].metric->name, name))
			return &summary->metrics[i];
	return NULL;
}

static bool event_is_called(const struct stat_event *event, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(event->name, name, len) == 0 &&
	       (event->name[len] == '\0' || event->name[len] == ':');
}

/* On a hybrid CPU each kind of core counts its part. */
double site_summary_event(const struct site_summary *summary, const char *name)
{
	double sum = (double)NAN;

	for (uint32_t i = 0; i < summary->stat.event_count; i++) {
		const struct stat_event *event = &summary->stat.events[i];

		if (!event_is_called(event, name) || !event->known)
			continue;
		if (!*event->core)
			return event->value;
		sum = isnan(sum) ? event->value : sum + event->value;
	}
	return sum;
}

/* Groups stand together; their numbers are unique within one source only. */
static double group_event(const struct stat_view *stat, uint32_t member, const char *name)
{
	uint32_t group = stat->events[member].group, first = member;

	while (group && first && stat->events[first - 1].group == group)
		first--;
	for (uint32_t i = first; group && i < stat->event_count; i++) {
		if (stat->events[i].group != group)
			break;
		if (event_is_called(&stat->events[i], name) && stat->events[i].known)
			return stat->events[i].value;
	}
	return (double)NAN;
}

double site_summary_event_beside(
	const struct site_summary *summary, const char *name, const char *beside)
{
	double sum = (double)NAN;

	for (uint32_t i = 0; i < summary->stat.event_count; i++) {
		const struct stat_event *event = &summary->stat.events[i];
		double value;

		if (!event_is_called(event, beside) || !event->known)
			continue;
		value = group_event(&summary->stat, i, name);
		if (!*event->core)
			return value;
		sum = isnan(sum) ? value : sum + value;
	}
	return sum;
}

bool site_summary_asked(const struct site_summary *summary, const char *name)
{
	for (uint32_t i = 0; i < summary->stat.event_count; i++)
		if (event_is_called(&summary->stat.events[i], name))
			return true;
	return false;
}

const char *site_summary_reason(const struct site_summary *summary, const char *name)
{
	for (uint32_t i = 0; i < summary->stat.event_count; i++)
		if (event_is_called(&summary->stat.events[i], name) &&
			!summary->stat.events[i].known)
			return summary->stat.events[i].reason;
	return "it was not counted in this run";
}
