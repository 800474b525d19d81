/* causal.h - experiments on a program until the answer is good enough, or experiments that were
 * kept.
 *
 * Watches the program for a second to see which lines are hot, then makes pairs of experiments:
 * time goes where the bounds are wide and the gain may be large.
 * Owns: the run, its file and all sites, until causal_job_done(). */
#pragma once

#include "base/arena.h"
#include "base/random.h"
#include "base/vec.h"
#include "code/scope.h"
#include "drive/causal_functions.h"
#include "drive/causal_sites.h"
#include "ingest/ingest.h"
#include "job/host.h"
#include "model/run.h"

struct store;

/* Zero: the default.  Lists end with NULL; NULL: none. */
struct causal_job_options {
	/* As drive takes them: the program's words or a process, engine, period, and budget; 0: 60
	 * s, and the program runs on to its end. */
	struct causal_run_options run;
	const char *progress;			 /* what progress is, "auto" or "end" */
	const char *const *scope;		 /* patterns of files */
	const char *const *fixed, *const *waits; /* targets; none: the hottest lines */
	uint8_t levels;				 /* bits of causal_levels[] to try; 0: all */
	const char *output;			 /* keep the experiments there */
};

/* Which pair comes next; the run is the one memory of what was tried. */
struct causal_rounds {
	const struct run *run;
	const char *judge; /* name of the progress point, NULL: the one there is */
	uint8_t levels_left_out;
	struct random random;
	vec_of(uint32_t) rows; /* of each site: its number as a target, 0: not tried yet */
	uint32_t tried, pairs; /* targets, and choices so far */
	uint32_t pairs_left;   /* there is time for so many; 0: not known */
};

struct causal_job {
	struct causal_job_options options;
	const struct job_host *host;
	struct run *run;
	struct store *store; /* NULL: not kept */
	struct ingest ingest;
	struct arena arena;
	struct scope scope;
	struct causal_sites *sites;
	struct causal_rounds rounds;
	causal_point_vec points;
	causal_function_vec functions; /* that may count the program's work */
	causal_point_vec entries;      /* of them */
	struct causal_search search;
	const char *path; /* of the program's file */
	uint64_t stored_ns;
	bool target_failed; /* it crashed, or ended by itself with a failure */
	bool is_interrupted;
};

void causal_job_open(struct causal_job *job, const struct causal_job_options *options,
	const struct job_host *host);
void causal_job_done(struct causal_job *job);

/* Make the experiments.  0, or a negative errno; the run is frozen and can be shown when it has
 * experiments. */
int causal_job_measure(struct causal_job *job, struct err *err);

/* The experiments of stored runs as one run, frozen and, with `output`, kept. */
int causal_load_stored(const struct job_host *host, const char *const *paths, const char *output,
	struct run **ret_run, struct err *err);

/* The next pair of these sites, of which `all_ns` of CPU time were seen in all: 1 with *ret_choice
 * set, 0: there is enough, or a negative errno. */
int causal_rounds_next(struct causal_rounds *rounds, const struct causal_site *sites,
	uint32_t count, uint64_t all_ns, struct causal_choice *ret_choice, struct err *err);
