/* site_job.h - what `assay branches` and `assay cache` have in common: the engine, the run, the
 * books.
 *
 * With the PMU the program runs twice, or three times where the CPU's own events are wanted too:
 * counted, then sampled, all into one run; each way to sample is tried until one opens.  The
 * simulator runs it once. */
#pragma once

#include "analyze/metric.h"
#include "analyze/site_summary.h"
#include "analyze/verdict.h"
#include "cli.h"
#include "job/cpu_tables.h"
#include "ingest/ingest.h"
#include "model/store.h"

/* One way to sample. */
struct site_way {
	const char *events; /* as -e takes them; NULL: the end of the list */
	uint64_t branches;  /* see source/sampler.h, and the next one */
	bool accesses;
};

struct site_plan {
	const char *set; /* counted in the first run */
	/* Sets of the CPU's own table (data/cpus), counted in a second one where it has them; ends
	 * with NULL.  NULL: none. */
	const char *const *own_sets;
	const struct site_way *ways;
	const char *const *metrics;
};

struct site_job {
	struct cli *cli;
	struct run *run;
	struct store *store;
	struct ingest ingest;
	struct arena arena;
	struct cpu_tables cpu;
	struct metric_book metrics;
	struct advice_book advice;
	struct site_summary summary;
	bool interrupted;
	struct err unstored; /* .code: the run could not be kept */
};

/* Load the run that was named, or measure the program.  The run is frozen and the summary made. */
int site_job_take(struct site_job *job, const struct site_plan *plan, struct err *err);

/* One sheet of the answer: JSON, Markdown, or paper for people or agents. */
struct site_sheet {
	struct jsonw *json; /* the first that is not NULL is wanted */
	struct str *markdown;
	struct paper *paper;
	bool agent;	/* with `paper` */
	uint32_t limit; /* sites that are shown, 0: all */
};

typedef void site_draw(const void *context, const struct site_sheet *sheet);

/* Once the verdict is there: add the advice, let `draw` fill each sheet that is wanted, write
 * --report.  Returns the exit status, or a negative errno. */
int site_job_answer(struct site_job *job, site_draw *draw, const void *context, struct err *err);

void site_job_done(struct site_job *job);

/* Rows for the two option tables. */
/* clang-format off */
#define SITE_JOB_OPTIONS                                                                           \
	{"engine", 0, "ENGINE", false, "auto|pmu|sim",                                             \
		"where the numbers come from (default auto: the PMU where it can be used)"},       \
	{"level", 0, "N", false, "1|2",                                                            \
		"how deep: 1 the whole program, 2 its places too (default 2)"},                    \
	{"limit", 'n', "N", false, NULL, "at most N sites, 0: all (default 20; --json: all)"},     \
	{"report", 0, "FILE", false, NULL, "also write a report in Markdown"},                     \
	{"output", 'o', "RUN", false, NULL, "store the run in this file (*.assay)"},               \
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"}
/* clang-format on */

/* --level 1: the program as a whole, and no sites. */
bool site_job_is_whole(const struct cli *cli);
