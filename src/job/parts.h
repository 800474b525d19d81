/* parts.h - what several jobs do alike: private to this room. */
#pragma once

#include "analyze/verdict.h"
#include "base/arena.h"
#include "drive/simulate.h"
#include "job/host.h"

struct store;

/* A run that is being made, and the file that it is kept in (NULL: none). */
struct job_making {
	const struct job_host *host;
	struct run *run;
	struct store *store;
};

/* Run the program in the simulator: `options` says which and how, the rest is the host's.  Each
 * execution is stored when it has ended, and a run that was cut is partial.  As
 * simulate_target(). */
int job_simulate(struct job_making *making, struct simulate_options options,
	const struct event_list *events, const struct wire_sink *sink, struct err *err);

/* Which engine to use.  `no_pmu` says why the PMU cannot be used; .code 0: it can.  -ENOENT and the
 * like when the one that was asked for is not here, or neither. */
int job_choose_engine(enum job_engine wish, const struct err *no_pmu, enum job_engine *ret_engine,
	struct err *err);

/* The program of a run, for advice: its language decides which comes first.  `program` may be
 * NULL: a stored run. */
struct verdict_subject job_subject(
	const struct run *run, char *const *program, struct arena *arena);
