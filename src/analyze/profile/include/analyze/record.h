/* record.h - what a recording gave and what it cost.
 *
 * Pure.  What is NAN or not `known` was not measured.  Owns: nothing; texts are the run's and the
 * caller's arena's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct run;

/* A counted property; `reason` says why it is missing. */
struct record_count {
	bool known;
	uint64_t value;
	const char *reason;
};

struct record_view {
	const char *target;
	const char *path;	   /* of the run file */
	uint64_t bytes;		   /* of the run file */
	const char *const *events; /* as they really were sampled */
	const bool *each;	   /* of the same: each one was to be a sample */
	uint32_t event_count;
	struct record_count samples, lost, lost_records, throttled, truncated, broken;
	double lost_share, truncated_share, bytes_per_sample;
	struct record_count rate_hz, period; /* as asked for; one of them is known */
	double reached_hz;		     /* samples per second of CPU time */
	const char *reached_reason;
	struct record_count ring_bytes, dump_bytes;
	struct record_count recorder_cpu_ns, target_cpu_ns;
	double recorder_share; /* of the target's CPU time */
	double sampled_share;  /* of the target's CPU time, by the periods of the samples */
	bool executed;
	uint64_t wall_ns;
	int exit_status, signal;
	bool interrupted, leftovers;
	const char *next; /* the next command worth running */
};

/* `path` and `bytes` are those of the run's file. */
void record_view_make(const struct run *run, const char *path, uint64_t bytes, struct arena *arena,
	struct record_view *ret_view);
