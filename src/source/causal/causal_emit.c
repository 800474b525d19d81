/* causal_emit.c - one experiment as wire records. */
#include <string.h>

#include "causal_parts.h"
#include "wire/build.h"

static int point_emit(const struct causal_visits *row, const struct wire_sink *sink)
{
	union {
		struct wire_progress progress;
		unsigned char bytes[sizeof(struct wire_progress) + CAUSAL_NAME_SIZE + 8];
	} space;
	struct wire_builder b =
		wire_begin(&space, sizeof(space), WIRE_PROGRESS, sizeof(space.progress));

	space.progress.point = row->point;
	space.progress.kind = row->kind;
	wire_add_text(&b, &space.progress.name, row->name);
	return sink->take(sink->context, wire_end(&b));
}

static int visit_emit(const struct causal_visits *row, const struct wire_sink *sink)
{
	struct wire_visit visit = {
		.head = {WIRE_VISIT, sizeof(visit)},
		.point = row->point,
		.arrivals = row->arrivals,
		.departures = row->departures,
		.open_before = row->open_before,
		.open_after = row->open_after,
	};

	return sink->take(sink->context, &visit.head);
}

/* The engine inside the program cannot tell who had the CPU that a thread waited for.  Others took
 * at most what the threads waited, what other programs ran, and what the program left of its CPUs.
 */
static bool is_robbed(const struct causal *causal, const struct causal_result *result)
{
	enum { ROBBED_PART = 10 };
	const struct causal_counts *counts = &result->counts;
	uint64_t cpus = causal_load32(&causal->kernel->settings.cpu_count);
	uint64_t left = cpus * result->wall_ns > counts->ran_ns
				? cpus * result->wall_ns - counts->ran_ns
				: 0;
	uint64_t least = result->wall_ns / ROBBED_PART;

	return causal->inside && counts->queued_ns > least && counts->others_ns > least &&
	       left > least;
}

static int experiment_emit(const struct causal *causal, const struct causal_order *order,
	const struct causal_result *result, const struct wire_sink *sink)
{
	const struct causal_counts *counts = &result->counts;
	struct wire_experiment e = {
		.head = {WIRE_EXPERIMENT, sizeof(e)},
		.target = order->target,
		.pair = order->pair,
		.execution = order->execution,
		.speedup_permille = order->speedup_permille,
		.threads = result->threads,
		.flags = (result->cut ? WIRE_EXPERIMENT_CUT : 0) |
			 (causal->inside ? WIRE_EXPERIMENT_INSIDE : 0) |
			 (order->whole_run ? WIRE_EXPERIMENT_WHOLE : 0) |
			 (is_robbed(causal, result) ? WIRE_EXPERIMENT_ROBBED : 0) |
			 causal_pace(causal, result, order->whole_run),
		.start_ns = result->start_ns,
		.wall_ns = result->wall_ns,
		.virtual_ns = result->virtual_ns,
		.owed_ns = result->owed_ns,
		.unpaid_ns = result->unpaid_ns,
		.samples = counts->samples,
		.hits = counts->hits,
		.hit_ns = counts->hit_ns,
		.lost = counts->lost,
		.handed = counts->handed,
		.outside = counts->outside + counts->irq,
		.timer = counts->timer,
		.signals = counts->signals,
		.unheard = counts->unheard + counts->masked + counts->filtered + counts->no_stack,
		.paused_ns = counts->paused_ns,
		.queued_ns = counts->queued_ns,
		.ran_ns = counts->ran_ns,
	};

	return sink->take(sink->context, &e.head);
}

int causal_emit(struct causal *causal, const struct causal_order *order,
	const struct causal_result *result, const struct wire_sink *sink)
{
	int r = 0;

	for (; r >= 0 && causal->emitted < causal->visits.count; causal->emitted++)
		r = point_emit(&causal->visits.at[causal->emitted], sink);
	if (r >= 0)
		r = experiment_emit(causal, order, result, sink);
	for (uint32_t i = 0; r >= 0 && i < causal->visits.count; i++)
		r = visit_emit(&causal->visits.at[i], sink);
	return r;
}
