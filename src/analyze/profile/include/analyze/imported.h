/* imported.h - what an imported profile holds: its samples by event, and how far it goes.
 *
 * Pure.  Owns: everything is in the caller's arena; texts are the run's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct run;

struct imported_event {
	const char *name, *unit, *core;
	uint64_t samples;
	uint64_t weight; /* sum of the periods */
	bool merged;	 /* a period is a number of samples */
	bool counted;	 /* the file has a count beside the samples (callgrind) */
	uint64_t count;
};

struct imported_view {
	const char *target; /* "FILE (kind)" */
	struct imported_event *events;
	uint32_t event_count;
	uint64_t samples, threads, modules, functions, stacks, branches, accesses;
	uint64_t lost;		    /* samples and records that the recorder could not keep */
	uint64_t truncated, broken; /* stacks */
	uint64_t span_ns;	    /* from the first sample to the last, 0: no times */
};

void imported_view_make(const struct run *run, struct arena *arena, struct imported_view *ret_view);
