/* site_job.h - what `assay branches` and `assay cache` have in common: the engine, the run, the
 * books.
 *
 * With the PMU the program runs twice: once counted, once sampled, both into one run; each way to
 * sample is tried until one opens.  The simulator runs it once. */
#pragma once

#include "analyze/metric.h"
#include "analyze/site_summary.h"
#include "analyze/verdict.h"
#include "cli.h"
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
	const struct site_way *ways;
	const char *const *metrics;
};

struct site_job {
	struct cli *cli;
	struct run *run;
	struct store *store;
	struct ingest ingest;
	struct arena arena;
	struct metric_book metrics;
	struct advice_book advice;
	struct site_summary summary;
	bool interrupted;
	struct err unstored; /* .code: the run could not be kept */
};

/* Load the run that was named, or measure the program.  The run is frozen and the summary made. */
int site_job_take(struct site_job *job, const struct site_plan *plan, struct err *err);

/* Fill in the advice, once the verdict is there. */
void site_job_advise(struct site_job *job);

/* Write --report; `text` is its Markdown. */
int site_job_report(const struct site_job *job, const struct str *text, struct err *err);

/* The exit status when all was shown; negative when the run could not be kept. */
int site_job_status(const struct site_job *job, struct err *err);

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

enum { SITE_ROWS = 20, SITE_LIMIT_MOST = 10000000 };

/* --level 1: the program as a whole, and no sites. */
bool site_job_is_whole(const struct cli *cli);

/* --limit, and what it is in text when nobody said. */
int site_job_limit(const struct cli *cli, uint32_t *ret_limit, struct err *err);
