/* stat.h - what a run counted: one row per event, over all executions.
 *
 * Pure.  The value of an event is the median over the executions that ran to their end (over all
 * when none did); each execution's value is kept beside it.  A count is scaled by enabled/running
 * only where the event was not on the PMU all the time, and says so.
 * Owns: everything is in the caller's arena; texts are the run's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/metric.h"
#include "base/arena.h"

struct run;

struct stat_event {
	const char *name, *unit, *core, *status, *reason; /* status: "counted", "not_counted"... */
	uint32_t group;
	bool known;
	bool simulated; /* counted by a simulator, not by this machine */
	double value;	/* median, in `unit` */
	double spread;	/* median absolute deviation over |value|; NAN below 3 executions */
	double *each;	/* one per execution, NAN: not known */
	uint64_t enabled_ns, running_ns; /* sums over the executions used */
	bool scaled;
	double running_share; /* NAN: never enabled */
};

struct stat_execution {
	uint32_t number;
	uint64_t wall_ns, user_ns, system_ns, max_rss_bytes, rss_floor_bytes;
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	int exit_status, signal;
	bool has_usage; /* false: somebody else's process */
	bool interrupted, leftovers;
	bool timed_out; /* cut at its time limit: its counts are of a part */
	bool used;	/* in the medians */
};

/* One value within an execution. */
struct stat_interval {
	uint32_t execution;
	uint64_t at_ns;
	double *values; /* one per event, NAN: not known */
};

/* What /proc told about the last execution (assay stat --proc). */
struct stat_fact {
	const char *name, *unit, *witness;
	const char *reason; /* why it is not known, "" */
	double value;	    /* NAN with a reason */
};

struct stat_view {
	const char *target;
	struct stat_event *events;
	uint32_t event_count;
	struct stat_execution *executions;
	uint32_t execution_count, used_count;
	struct stat_interval *intervals;
	uint32_t interval_count;
	bool has_usage;
	bool simulated; /* every event is; the wall time is the simulator's */
	/* Medians over the executions used. */
	double wall_ns, wall_spread, cpu_ns, cpu_spread, user_ns, system_ns, max_rss_bytes;
	double minor_faults, major_faults, voluntary_switches, involuntary_switches;
	const struct metric_result *metrics;
	uint32_t metric_count;
	const struct stat_fact *facts;
	uint32_t fact_count;
	const char *next; /* the next command worth running */
};

/* Make the view; `book` gives the metrics.  The results borrow from `book` and `run`. */
void stat_view_make(const struct run *run, const struct metric_book *book, struct arena *arena,
	struct stat_view *ret_view);

/* Of a run that still grows: its events by name and unit, and the intervals that came since
 * `*counts_seen` of its counts, which moves on; 0 at first.  Costs as much as what is new. */
void stat_view_more(const struct run *run, uint32_t *counts_seen, struct arena *arena,
	struct stat_view *ret_view);
