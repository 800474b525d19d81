/* passes.h - more events than the PMU has counters, without multiplexing: one run for each list.
 *
 * Does: run the program with the first list of events, then with the second..., and the whole
 * round again, so that a slow drift of the machine hits all lists alike.  Everything goes into one
 * run: events and groups of later lists get the next free ids.
 * Does not: judge the counters; the caller has tested the PMU (source/pmu.h). */
#pragma once

#include "drive/count.h"

struct passes_options {
	struct count_options count; /* repeat and judged are set here */
	struct event_list *lists;
	uint32_t list_count;
	uint32_t rounds;
	/* Called before each run; may be NULL. */
	void (*before)(void *context, uint32_t run, uint32_t of);
};

/* 0 when all was counted, 1 when the user stopped it, or a negative errno; what was emitted before
 * stays valid in each case.  Execution r * list_count + l + 1 is list l in round r. */
int passes_count(
	const struct passes_options *options, const struct wire_sink *sink, struct err *err);
