/* stat.h - what `assay stat` does: events counted over a program, a process or the machine.
 *
 * Each execution and interval is stored as soon as it has ended, so nothing that was measured is
 * lost when something breaks later.
 * Owns: everything in it, until stat_job_done().  Threads: one. */
#pragma once

#include "analyze/metric.h"
#include "base/arena.h"
#include "drive/count.h"
#include "job/cpu_tables.h"
#include "job/host.h"

struct stat_job;
struct store;

struct stat_options {
	/* The program (argv), who is watched, how often; the job sets the rest. */
	struct count_options count;
	/* What to count, each up to a NULL or NULL itself; they add up.  Without any of them the
	 * default set. */
	const char *const *events, *const *sets, *const *metrics;
	bool simulated;	    /* in valgrind's model of a CPU: a program only, no intervals */
	uint64_t limit_ns;  /* of one simulated run; 0: none */
	uint64_t delay_ns;  /* before calls and loops are counted in it; 0: none */
	const char *output; /* the run file; NULL: none */
	bool fingerprint;   /* wanted also without a file */
	/* Called after each execution and interval; may be NULL. */
	void (*each)(void *context, struct stat_job *job);
	void *context;
};

struct stat_job {
	const struct job_host *host;
	struct stat_options options;
	struct run *run; /* frozen: something was measured */
	struct store *store;
	struct metric_book book;
	struct cpu_tables cpu;
	struct event_list events;
	struct arena arena;
};

/* Count.  0, 1 when the user stopped it, or a negative errno; with a frozen run there is something
 * to show in each case. */
int stat_job_do(struct stat_job *job, const struct stat_options *options,
	const struct job_host *host, struct err *err);
void stat_job_done(struct stat_job *job);

/* Of it: the events of this machine or of the simulator, for a job whose options and book are
 * there.
 */
int stat_job_choose(struct stat_job *job, struct err *err);

/* An event that was asked for is missing. */
bool stat_run_misses_event(const struct run *run);
/* Of what others run only events can tell: without one there is no result. */
bool stat_run_is_empty(const struct run *run);
