/* causal_pace.c - what set the pace of a window: a clock, another program, or the program itself.
 *
 * Visits of probes are made by threads that the kernel side has marked (wire/causal_mark.h), so it
 * knows what set off each.  A thread that is nearly always on a CPU does not wait for another
 * program, though.  And on a busy machine threads get their work while they stand in the queue for
 * a CPU: nobody wakes them, so no mark is handed on; there one wake by another program for every
 * other visit is enough to doubt.
 *
 * Counters of the program's own are plain memory: nobody sees who adds to them.  There ticks, or
 * wakes by others, that come about as often as progress set the pace, unless a thread was always
 * on a CPU.  A whole run has one visit, its end: a clock set that off, after many ticks. */
#include "causal_parts.h"
#include "wire/record.h"

#define BUSY_SHARE 0.9	  /* of the time on a CPU */
#define CROWDED_SHARE 0.2 /* of the time that threads could run: they waited for a CPU */

enum { TICKS_FEW = 20 };

/* At the point that was visited most. */
static uint64_t progress_of(const struct causal *causal)
{
	uint64_t visits = 0;

	vec_foreach (const struct causal_visits, row, &causal->visits)
		if (row->departures > visits)
			visits = row->departures;
	return visits;
}

/* By the real clock: a thread that other programs kept from its CPU may be idle without them, so it
 * is not taken for one that is always busy. */
static bool is_busy(const struct causal *causal, const struct causal_result *result, bool whole_run)
{
	uint64_t all_ns = result->start_ns + result->wall_ns - causal->kernel->settings.start_ns;
	uint64_t busy_ns = whole_run ? result->counts.ran_ns : result->busiest_ns;

	return (double)busy_ns >= BUSY_SHARE * (double)all_ns;
}

static bool is_crowded(const struct causal_counts *counts)
{
	return (double)counts->queued_ns >
	       CROWDED_SHARE * (double)(counts->queued_ns + counts->ran_ns);
}

static bool run_is_ticked(const struct causal *causal, const struct causal_counts *counts)
{
	return counts->ticks >= TICKS_FEW &&
	       causal_load64(&causal->kernel->last_by) == CAUSAL_MARK_CLOCK;
}

/* More than half. */
static uint32_t pace_of(uint64_t clock, uint64_t peer, uint64_t visits)
{
	if (2 * clock > visits)
		return WIRE_EXPERIMENT_CLOCK;
	return 2 * peer > visits ? WIRE_EXPERIMENT_PEER : 0;
}

uint32_t causal_pace(
	const struct causal *causal, const struct causal_result *result, bool whole_run)
{
	const struct causal_counts *counts = &result->counts;
	bool busy = is_busy(causal, result, whole_run);
	uint32_t pace = 0;

	if (causal->inside)
		return 0;
	if (counts->marked)
		pace = pace_of(counts->by_clock,
			busy		     ? 0
			: is_crowded(counts) ? counts->calls
					     : counts->by_peer,
			counts->marked);
	else if (whole_run)
		pace = !busy && run_is_ticked(causal, counts) ? WIRE_EXPERIMENT_CLOCK : 0;
	else if (!busy && progress_of(causal))
		pace = pace_of(counts->ticks, counts->calls, progress_of(causal));
	return WIRE_EXPERIMENT_PACE | pace;
}
