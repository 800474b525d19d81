/* topdown.h - what `assay topdown` does: where the cycles go, by the PMU or by the simulator.
 *
 * With the PMU the program runs once for each set of events, in rounds.  Without one it runs twice:
 * once as it is, sampled by the clock, and once in the simulator; what a miss costs here is
 * measured around the first, and the hottest loop that waits for its own results goes to llvm-mca.
 * Owns: everything in it, until topdown_job_done().  Threads: one. */
#pragma once

#include "analyze/topdown.h"
#include "ingest/ingest.h"
#include "job/cpu_tables.h"
#include "job/host.h"
#include "render/simulated.h"

struct store;

struct topdown_options {
	char **program;
	enum job_engine engine;
	unsigned level;	    /* of the tree; 0: both */
	uint32_t rounds;    /* of runs; 0: 3, with `quick` 5 */
	bool once;	    /* run it only once: the events take turns */
	bool quick;	    /* only events that every CPU has */
	uint64_t limit_ns;  /* of the simulator; 0: none */
	const char *output; /* the run file; NULL: none */
};

struct topdown_job {
	const struct job_host *host;
	struct topdown_options options;
	enum job_engine engine; /* that was used */
	const char *path;	/* the program's file */
	struct run *run;	/* counted, or simulated */
	struct run *clock;	/* sampled, with the simulator */
	struct ingest ingest, clock_ingest;
	struct store *store;
	struct metric_book metrics;
	struct advice_book advice;
	struct cpu_tables cpu;
	struct arena arena;
	struct pmu_report pmu; /* the facts name its cores */
	struct topdown_facts facts;
	bool has_view;			 /* one of these */
	struct topdown_view measured;	 /* ENGINE_PMU */
	struct simulated_view simulated; /* ENGINE_SIM */
	struct simulated_page page;
	struct simulated_costs costs;
	struct hot_loop loop;
};

/* 0, 1 when the user stopped it, or a negative errno; there may be a view to show in each case. */
int topdown_job_do(struct topdown_job *job, const struct topdown_options *options,
	const struct job_host *host, struct err *err);
void topdown_job_done(struct topdown_job *job);
