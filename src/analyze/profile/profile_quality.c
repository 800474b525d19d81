/* profile_quality.c - how far the samples of a run can be trusted, and what to do about it.
 *
 * What the recorder counted is taken from the run; what the samples themselves tell (cut stacks,
 * places without a name) is counted over the samples that are shown, because a filter may have left
 * out the bad ones or kept only them. */
#include <math.h>

#include "analyze/annotate.h"
#include "analyze/profile.h"
#include "model/run.h"

/* Above these shares a sentence is said. */
#define TRUNCATED_MUCH 0.05
#define UNKNOWN_MUCH 0.10
#define LOST_MUCH 0.01

static double quality_of(const struct run *run, const char *name)
{
	uint64_t value;

	return run_get_quality(run, name, &value) ? (double)value : (double)NAN;
}

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

static void warn(
	struct profile_quality *quality, const char *code, const char *text, const char *hint)
{
	vec_push(&quality->warnings, (struct profile_warning){code, text, hint});
}

static void warn_above(struct profile_quality *quality, double share, double limit,
	const char *code, const char *words, const char *hint)
{
	if (share > limit)
		warn(quality, code,
			arena_format(&quality->texts, "%.1f %% of the %s", share * 100, words),
			hint);
}

static void warnings_make(struct profile_quality *quality)
{
	static const char slower[] = "a lower rate loses less: assay record -F 499";

	warn_above(quality, quality->truncated_share, TRUNCATED_MUCH, "truncated-stacks",
		"stacks are cut off: totals of their outer callers are too low",
		"a lower rate keeps more: assay record -F 499");
	warn_above(quality, quality->broken_share, TRUNCATED_MUCH, "broken-stacks",
		"stacks could not be unwound to the end: totals are too low, self is right",
		"assay doctor PROGRAM shows what unwinding needs");
	warn_above(quality, quality->lost_share, LOST_MUCH, "lost-samples",
		"samples were lost: busy moments count too little", slower);
	if (isnan(quality->lost_share) && quality->lost_records > 0)
		warn(quality, "lost-records",
			arena_format(&quality->texts,
				"%.0f records were lost, some of them samples",
				quality->lost_records),
			slower);
	warn_above(quality, quality->unknown_share, UNKNOWN_MUCH, "unknown-addresses",
		"samples have no function name",
		"--by module shows where; install debug packages for these modules, or do not "
		"strip the program");
	if (!quality->weighted)
		warn(quality, "no-periods", "the samples have no weights, so all count the same",
			"record with a tool that stores the period of each sample");
	if (quality->partial)
		warn(quality, "partial-run",
			"the run is partial: the recording was interrupted or is still running",
			"record again for a complete run");
}

static void events_list(const struct run *run, const struct profile_samples *samples,
	struct profile_quality *quality)
{
	for (row_id id = 1; id <= run->events.count; id++)
		if (samples->by_event[id] && id != samples->event)
			vec_push(
				&quality->other_events, run_text(run, run->events.at[id - 1].name));
}

/* CPU time of the target as the recorder saw it, else as its executions ended with. */
static double target_cpu_ns(const struct run *run)
{
	double cpu_ns = quality_of(run, "target_cpu_ns");
	double sum = 0;

	if (!isnan(cpu_ns) || !run->executions.count)
		return cpu_ns;
	vec_foreach (const struct execution_packed, execution, &run->executions) {
		if (execution->flags & EXECUTION_NO_USAGE)
			return (double)NAN;
		sum += (double)execution->user_ns + (double)execution->system_ns;
	}
	return sum > 0 ? sum : (double)NAN;
}

static void quality_count(const struct run *run, const struct profile_samples *samples,
	struct profile_quality *quality)
{
	double taken = (double)samples->total.samples;

	quality->truncated_share = share_of((double)samples->truncated, taken);
	quality->broken_share = share_of((double)samples->broken, taken);
	quality->unknown_share = share_of((double)samples->unnamed, taken);
	quality->kernel_share = share_of((double)samples->kernel, taken);
	quality->span_ns = samples->last_ns - samples->first_ns;
	quality->rate_hz = samples->total.samples > 1 && quality->span_ns
				   ? (taken - 1) * 1e9 / (double)quality->span_ns
				   : (double)NAN;
	quality->lost_samples = quality_of(run, "lost_samples");
	quality->lost_records = quality_of(run, "lost_records");
	/* Lost samples are counted over all events and threads, so their share is too. */
	quality->lost_share =
		share_of(quality->lost_samples, quality->lost_samples + (double)run->samples.count);
	quality->recorder_cpu_ns = quality_of(run, "recorder_cpu_ns");
	quality->target_cpu_ns = target_cpu_ns(run);
	quality->overhead_share = share_of(quality->recorder_cpu_ns, quality->target_cpu_ns);
	quality->locations = run->locations.count;
	vec_foreach (const struct location_row, location, &run->locations)
		quality->unnamed_locations += !location->frame;
}

void profile_quality_make(const struct run *run, const struct profile_filter *filter,
	const struct profile_samples *samples, struct profile_quality *ret_quality)
{
	text_id reason = samples->event ? run->events.at[samples->event - 1].reason : 0;

	*ret_quality = (struct profile_quality){
		.event = *samples->name ? samples->name : "unknown event",
		.event_note = run_text(run, reason),
		.unit = samples->unit,
		.target = run_text(run, run->target),
		.precise = annotate_is_precise(samples->name),
		.weighted = samples->weighted,
		.merged = samples->merged,
		.partial = run->partial,
		.filtered = filter->thread || filter->module || filter->function ||
			    filter->from_ns || filter->to_ns || filter->side,
		.samples = samples->total.samples,
		.weight = samples->total.weight,
	};
	quality_count(run, samples, ret_quality);
	events_list(run, samples, ret_quality);
	warnings_make(ret_quality);
}

void profile_quality_done(struct profile_quality *quality)
{
	vec_done(&quality->other_events);
	vec_done(&quality->warnings);
	arena_done(&quality->texts);
}
