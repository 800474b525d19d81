/* record.c - see record.h.  Shares of the target's CPU time exist only where the target was our own
 * child and was sampled from its start to its end. */
#include "analyze/record.h"

#include <math.h>

#include "model/run.h"

static struct record_count count_of(const struct run *run, const char *name, const char *reason)
{
	struct record_count count = {.reason = reason};

	count.known = run_get_quality(run, name, &count.value);
	return count;
}

static double share_of(const struct record_count *part, const struct record_count *whole)
{
	if (!part->known || !whole->known || !whole->value)
		return (double)NAN;
	return (double)part->value / (double)whole->value;
}

static void counts_fill(const struct run *run, struct record_view *view)
{
	const char *reason = "the recording did not finish";
	struct record_count taken;

	view->samples = count_of(run, "samples", reason);
	if (!view->samples.known) { /* no sample and no mapping came */
		view->samples.known = true;
		view->samples.value = run->samples.count;
	}
	view->lost = count_of(run, "lost_samples", reason);
	view->lost_records = count_of(run, "lost_records", reason);
	view->throttled = count_of(run, "throttled", reason);
	view->truncated = count_of(run, "truncated_stacks", reason);
	view->broken = count_of(run, "broken_stacks", reason);
	taken = view->samples;
	view->truncated_share = share_of(&view->truncated, &taken);
	taken.value += view->lost.value;
	view->lost_share = share_of(&view->lost, &taken);
	view->bytes_per_sample = view->samples.value
					 ? (double)view->bytes / (double)view->samples.value
					 : (double)NAN;
}

static void cost_fill(const struct run *run, struct record_view *view)
{
	struct record_count sampled = count_of(run, "sampled_cpu_ns", NULL);
	uint64_t part;
	bool whole = !run_get_quality(run, "sampling_delay_ns", &part) &&
		     !run_get_quality(run, "sampling_duration_ns", &part);

	view->recorder_cpu_ns = count_of(run, "recorder_cpu_ns", "the recording did not finish");
	view->target_cpu_ns =
		count_of(run, "target_cpu_ns", "known only for programs that assay started");
	view->recorder_share = share_of(&view->recorder_cpu_ns, &view->target_cpu_ns);
	view->sampled_share = whole ? share_of(&sampled, &view->target_cpu_ns) : (double)NAN;
	view->reached_hz =
		whole ? share_of(&view->samples, &view->target_cpu_ns) * 1e9 : (double)NAN;
	view->reached_reason =
		!whole ? "only a part of the run was sampled" : view->target_cpu_ns.reason;
}

static void execution_fill(const struct run *run, struct record_view *view)
{
	const struct execution_packed *e = run->executions.count ? &run->executions.at[0] : NULL;

	view->executed = e != NULL;
	if (!e)
		return;
	view->wall_ns = e->wall_ns;
	view->exit_status = e->exit_status;
	view->signal = e->signal;
	view->interrupted = e->flags & EXECUTION_INTERRUPTED;
	view->leftovers = e->flags & EXECUTION_LEFTOVERS;
}

void record_view_make(const struct run *run, const char *path, uint64_t bytes, struct arena *arena,
	struct record_view *ret_view)
{
	struct record_view view = {
		.target = run_text(run, run->target),
		.path = path,
		.bytes = bytes,
		.event_count = run->events.count,
		.rate_hz = count_of(run, "rate_hz", "no event was sampled at a rate"),
		.period = count_of(run, "sample_period", "no event was sampled by a period"),
		.ring_bytes = count_of(run, "ring_bytes", "the recording did not finish"),
		.dump_bytes = count_of(run, "stack_dump_bytes", "no stacks were copied"),
		.next = arena_format(arena, "assay report %s", path),
	};
	const char **events = arena_take(arena, (run->events.count + 1) * sizeof(*events));
	bool *each = arena_take(arena, (run->events.count + 1) * sizeof(*each));

	for (uint32_t i = 0; i < run->events.count; i++) {
		events[i] = run_text(run, run->events.at[i].name);
		each[i] = run->events.at[i].flags & EVENT_EACH;
	}
	view.events = events;
	view.each = each;
	counts_fill(run, &view);
	cost_fill(run, &view);
	execution_fill(run, &view);
	*ret_view = view;
}
