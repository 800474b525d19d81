/* site.h - what `assay cache` and `assay branches` do: counts of the whole program, then its
 * places.
 *
 * With the PMU the program runs twice, or three times where the CPU's own events are wanted too:
 * counted, then sampled, all into one run; each way to sample is tried until one opens.  The
 * simulator runs it once.
 * Owns: everything in it, until its done().  Threads: one. */
#pragma once

#include "analyze/branches.h"
#include "analyze/cache.h"
#include "ingest/ingest.h"
#include "job/cpu_tables.h"
#include "job/host.h"

struct store;

struct site_options {
	char **program;	      /* measured; or, without one, */
	const char *run_path; /* the run that is looked at */
	enum job_engine engine;
	bool whole;	    /* the program as a whole, and no sites */
	const char *output; /* the run file; NULL: none */
};

struct site_job {
	const struct job_host *host;
	struct site_options options;
	struct run *run; /* frozen */
	struct store *store;
	struct ingest ingest;
	struct arena arena;
	struct cpu_tables cpu;
	struct metric_book metrics;
	struct advice_book advice;
	struct site_summary summary; /* with the verdict and its advice */
	bool interrupted;
	struct err unstored; /* .code: the run could not be kept */
};

struct cache_job {
	struct site_job site;
	struct cache_view view;
};

int cache_job_do(struct cache_job *job, const struct site_options *options, bool by_function,
	const struct job_host *host, struct err *err);
void cache_job_done(struct cache_job *job);

struct branches_job {
	struct site_job site;
	struct branches_view view;
};

/* `filter`: the types of branches, with commas; NULL: all. */
int branches_job_do(struct branches_job *job, const struct site_options *options,
	const char *filter, const struct job_host *host, struct err *err);
void branches_job_done(struct branches_job *job);

/* Of both, once the verdict is there: add the advice. */
void site_job_advise(struct site_job *job);
