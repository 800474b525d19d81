/* stat.c - see stat.h. */
#include "analyze/stat.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/str.h"
#include "model/run.h"

static const char *const status_words[EVENT_STATUSES] = {
	[EVENT_COUNTED] = "counted",
	[EVENT_NOT_COUNTED] = "not_counted",
	[EVENT_NOT_SUPPORTED] = "not_supported",
	[EVENT_NOT_PERMITTED] = "not_permitted",
	[EVENT_NOT_TRUSTED] = "not_trusted",
};

/* A count in the event's unit.  Enabled but never running is no value; never enabled is a true 0,
 * because then the task never ran. */
static double count_value(const struct event_row *event, const struct count_row *count)
{
	double value = (double)count->value * event->scale;

	if (event->status != EVENT_COUNTED || (count->enabled_ns && !count->running_ns))
		return (double)NAN;
	if (count->running_ns < count->enabled_ns && !(event->flags & EVENT_PRESCALED))
		value *= (double)count->enabled_ns / (double)count->running_ns;
	return value;
}

struct sample {
	double *values;
	uint32_t count;
};

static void sample_add(struct sample *sample, double value)
{
	if (!isnan(value))
		sample->values[sample->count++] = value;
}

static double sample_median(struct sample *sample)
{
	stats_sort(sample->values, sample->count);
	return stats_median_sorted(sample->values, sample->count);
}

/* After sample_median(). */
static double sample_spread(const struct sample *sample)
{
	double median = stats_median_sorted(sample->values, sample->count);

	if (sample->count < 3 || median == 0)
		return (double)NAN;
	return stats_mad_sorted(sample->values, sample->count) / fabs(median);
}

static void executions_make(const struct run *run, struct arena *arena, struct stat_view *view)
{
	bool any_whole = false;

	view->execution_count = run->executions.count;
	view->executions = arena_take(arena, sizeof(*view->executions) * run->executions.count);
	view->has_usage = run->executions.count > 0;
	for (uint32_t i = 0; i < run->executions.count; i++) {
		const struct execution_row row = run_execution(run, i + 1);

		view->executions[i] = (struct stat_execution){
			.number = i + 1,
			.wall_ns = row.wall_ns,
			.user_ns = row.user_ns,
			.system_ns = row.system_ns,
			.max_rss_bytes = row.max_rss_bytes,
			.rss_floor_bytes = row.rss_floor_bytes,
			.minor_faults = row.minor_faults,
			.major_faults = row.major_faults,
			.voluntary_switches = row.voluntary_switches,
			.involuntary_switches = row.involuntary_switches,
			.exit_status = row.exit_status,
			.signal = row.signal,
			.has_usage = !(row.flags & EXECUTION_NO_USAGE),
			.interrupted = row.flags & EXECUTION_INTERRUPTED,
			.leftovers = row.flags & EXECUTION_LEFTOVERS,
			.timed_out = row.flags & EXECUTION_TIMED_OUT,
		};
		any_whole |= !view->executions[i].interrupted;
		view->has_usage &= view->executions[i].has_usage;
	}
	for (uint32_t i = 0; i < view->execution_count; i++) {
		view->executions[i].used = !any_whole || !view->executions[i].interrupted;
		view->used_count += view->executions[i].used;
	}
}

/* The median of one number of the executions; `offset` is that of a uint64_t member. */
static double execution_median(
	const struct stat_view *view, size_t offset, struct sample *sample, double *ret_spread)
{
	double median;

	sample->count = 0;
	for (uint32_t i = 0; i < view->execution_count; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&view->executions[i] + offset, sizeof(value));
		if (view->executions[i].used)
			sample_add(sample, (double)value);
	}
	median = sample_median(sample);
	if (ret_spread)
		*ret_spread = sample_spread(sample);
	return median;
}

static void medians_make(struct stat_view *view, struct sample *sample)
{
#define MEDIAN(member, spread)                                                                     \
	execution_median(view, offsetof(struct stat_execution, member), sample, spread)
	view->wall_ns = MEDIAN(wall_ns, &view->wall_spread);
	view->user_ns = MEDIAN(user_ns, NULL);
	view->system_ns = MEDIAN(system_ns, NULL);
	view->max_rss_bytes = MEDIAN(max_rss_bytes, NULL);
	view->minor_faults = MEDIAN(minor_faults, NULL);
	view->major_faults = MEDIAN(major_faults, NULL);
	view->voluntary_switches = MEDIAN(voluntary_switches, NULL);
	view->involuntary_switches = MEDIAN(involuntary_switches, NULL);
#undef MEDIAN
	sample->count = 0;
	for (uint32_t i = 0; i < view->execution_count; i++)
		if (view->executions[i].used)
			sample_add(sample, (double)(view->executions[i].user_ns +
						    view->executions[i].system_ns));
	view->cpu_ns = sample_median(sample);
	view->cpu_spread = sample_spread(sample);
}

static bool execution_is_used(const struct stat_view *view, row_id execution)
{
	return execution >= 1 && execution <= view->execution_count &&
	       view->executions[execution - 1].used;
}

static void events_make(const struct run *run, struct arena *arena, struct stat_view *view)
{
	view->event_count = run->events.count;
	view->events = arena_take(arena, sizeof(*view->events) * run->events.count);
	view->simulated = run->events.count > 0;
	for (uint32_t i = 0; i < run->events.count; i++) {
		const struct event_row *row = &run->events.at[i];
		struct stat_event *event = &view->events[i];

		*event = (struct stat_event){
			.name = run_text(run, row->name),
			.unit = run_text(run, row->unit),
			.core = run_text(run, row->core),
			.status = status_words[row->status],
			.reason = run_text(run, row->reason),
			.group = row->group,
			.simulated = row->flags & EVENT_SIMULATED,
			.value = (double)NAN,
			.each = arena_take(arena, sizeof(double) * view->execution_count),
		};
		for (uint32_t e = 0; e < view->execution_count; e++)
			event->each[e] = (double)NAN;
		view->simulated &= event->simulated;
	}
}

static void interval_take(const struct run *run, const struct count_row *count, double value,
	struct arena *arena, struct stat_view *view)
{
	struct stat_interval *last =
		view->interval_count ? &view->intervals[view->interval_count - 1] : NULL;

	assert(view->intervals); /* counts_take() made room */
	if (!last || last->execution != count->execution || last->at_ns != count->at_ns) {
		last = &view->intervals[view->interval_count++];
		last->execution = count->execution;
		last->at_ns = count->at_ns;
		last->values = arena_take(arena, sizeof(double) * run->events.count);
		for (uint32_t i = 0; i < run->events.count; i++)
			last->values[i] = (double)NAN;
	}
	last->values[count->event - 1] = value;
}

/* Of the run's counts those from `first` on. */
static void counts_take(
	const struct run *run, uint32_t first, struct arena *arena, struct stat_view *view)
{
	uint32_t in_intervals = 0;

	for (uint32_t i = first; i < run->counts.count; i++)
		in_intervals += run->counts.at[i].at_ns != 0;
	view->intervals = arena_take(arena, sizeof(*view->intervals) * in_intervals);
	for (uint32_t i = first; i < run->counts.count; i++) {
		const struct count_row *count = &run->counts.at[i];
		struct stat_event *event;
		double value;

		if (!count->event || count->event > view->event_count)
			continue;
		event = &view->events[count->event - 1];
		value = count_value(&run->events.at[count->event - 1], count);
		if (count->at_ns) {
			interval_take(run, count, value, arena, view);
			continue;
		}
		if (count->execution >= 1 && count->execution <= view->execution_count)
			event->each[count->execution - 1] = value;
		else if (!count->execution)
			event->value = value; /* imported, and nothing known of an execution */
		if (!count->execution || execution_is_used(view, count->execution)) {
			event->enabled_ns += count->enabled_ns;
			event->running_ns += count->running_ns;
		}
	}
}

static void events_finish(struct stat_view *view, struct sample *sample)
{
	for (uint32_t i = 0; i < view->event_count; i++) {
		struct stat_event *event = &view->events[i];

		sample->count = 0;
		for (uint32_t e = 0; e < view->execution_count; e++)
			if (view->executions[e].used)
				sample_add(sample, event->each[e]);
		if (sample->count)
			event->value = sample_median(sample);
		event->spread = sample_spread(sample);
		event->known = !isnan(event->value);
		event->scaled = event->running_ns < event->enabled_ns;
		event->running_share =
			event->enabled_ns ? (double)event->running_ns / (double)event->enabled_ns
					  : (double)NAN;
		if (!event->known && !*event->reason)
			event->reason = view->execution_count
						? "it never ran on the PMU"
						: "the measurement ended before it was read";
		if (!event->known && str_equal(event->status, "counted"))
			event->status = status_words[EVENT_NOT_COUNTED];
	}
}

static void metrics_make(
	const struct metric_book *book, struct arena *arena, struct stat_view *view)
{
	metric_results_auto struct metric_results results = {0};
	const char *no_usage = view->simulated ? "the simulator does not measure time and memory"
			       : view->execution_count ? "known only for programs that assay starts"
						       : "there was no execution";
	const struct metric_input own[] = {
		{"wall_ns", NULL, no_usage, view->wall_ns,
			view->execution_count > 0 && !view->simulated},
		{"cpu_ns", NULL, no_usage, view->cpu_ns, view->has_usage},
		{"user_ns", NULL, no_usage, view->user_ns, view->has_usage},
		{"system_ns", NULL, no_usage, view->system_ns, view->has_usage},
		{"max_rss_bytes", NULL, no_usage, view->max_rss_bytes, view->has_usage},
		{"minor_faults", NULL, no_usage, view->minor_faults, view->has_usage},
		{"major_faults", NULL, no_usage, view->major_faults, view->has_usage},
		{"voluntary_switches", NULL, no_usage, view->voluntary_switches, view->has_usage},
		{"involuntary_switches", NULL, no_usage, view->involuntary_switches,
			view->has_usage},
	};
	/* Without an execution (an import) only the events were asked for. */
	uint32_t own_count = view->execution_count ? sizeof(own) / sizeof(*own) : 0;
	uint32_t count = own_count + view->event_count;
	struct metric_input *inputs = arena_take(arena, sizeof(*inputs) * count);

	memcpy(inputs, own, own_count * sizeof(*own));
	for (uint32_t i = 0; i < view->event_count; i++) {
		const struct stat_event *event = &view->events[i];

		inputs[own_count + i] = (struct metric_input){
			event->name, event->core, event->reason, event->value, event->known};
	}
	metric_compute_all(book, inputs, count, arena, &results);
	view->metrics =
		arena_keep(arena, results.rows.at, results.rows.count * sizeof(*results.rows.at));
	view->metric_count = results.rows.count;
}

/* The program that was started, as it can be typed; of others nobody knows it. */
static const char *program_words(const struct run *run)
{
	const char *target = run_text(run, run->target);
	bool watched = str_starts(target, "process ") || str_starts(target, "thread ") ||
		       str_starts(target, "the whole machine");

	return str_equal(run_text(run, run->command), "stat") && *target && !watched ? target
										     : "PROGRAM";
}

static const char *next_command(
	const struct run *run, const struct stat_view *view, struct arena *arena)
{
	if (view->simulated)
		return arena_format(arena, "assay topdown --engine sim -- %s", program_words(run));
	for (uint32_t i = 0; i < view->event_count; i++)
		if (!view->events[i].known)
			return "assay doctor";
	if (view->used_count >= 5)
		return "assay env";
	return arena_format(arena, "assay stat -r 5 -- %s", program_words(run));
}

/* Of several executions the last one's. */
static void facts_make(const struct run *run, struct arena *arena, struct stat_view *view)
{
	struct stat_fact *facts = arena_take(arena, (run->facts.count + 1) * sizeof(*facts));

	vec_foreach (const struct fact_row, row, &run->facts)
		if (row->execution == run->executions.count)
			facts[view->fact_count++] = (struct stat_fact){run_text(run, row->name),
				run_text(run, row->unit), run_text(run, row->witness),
				run_text(run, row->reason), row->value};
	view->facts = facts;
}

void stat_view_make(const struct run *run, const struct metric_book *book, struct arena *arena,
	struct stat_view *ret_view)
{
	struct sample sample = {.values = mem_new(run->executions.count, sizeof(double))};

	*ret_view = (struct stat_view){.target = run_text(run, run->target)};
	executions_make(run, arena, ret_view);
	medians_make(ret_view, &sample);
	events_make(run, arena, ret_view);
	counts_take(run, 0, arena, ret_view);
	events_finish(ret_view, &sample);
	metrics_make(book, arena, ret_view);
	facts_make(run, arena, ret_view);
	ret_view->next = next_command(run, ret_view, arena);
	free(sample.values);
}

void stat_view_more(const struct run *run, uint32_t *counts_seen, struct arena *arena,
	struct stat_view *ret_view)
{
	*ret_view = (struct stat_view){.target = run_text(run, run->target)};
	events_make(run, arena, ret_view);
	counts_take(run, *counts_seen, arena, ret_view);
	*counts_seen = run->counts.count;
}
