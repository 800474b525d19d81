/* run.h - the main job: what to change first, and a directory with the evidence.
 *
 * Looks at machine and program, runs it once, plans, runs the phases one after the other, joins
 * what they left and answers.  Each phase is a command of assay that is started as a child, so that
 * it can be typed by the user as it stands, fails alone and is stopped alone.
 * Owns: a result owns all that it points to, until run_result_done().  Threads: one. */
#pragma once

#include "job/host.h"
#include "render/answer.h"
#include "render/job.h"

struct run_job;

struct run_options {
	char **program;
	uint64_t budget_ns;	   /* for everything; 0: 60 s */
	const char *output;	   /* the directory; NULL: a new one below assay-out */
	const char *against;	   /* the directory before; NULL: none */
	const char *phases, *skip; /* names with commas; NULL: all, none */
	const char *input;	   /* stdin of each run; NULL: what comes on stdin */
	const char *sizes;	   /* of {n} in the program; NULL: it has none */
	const char *smaller;	   /* a command with less to do; NULL: none is named */
	const char *golden;	   /* a file with what it must print; NULL: anything */
	/* Called when the plan is made; may be NULL. */
	void (*show_plan)(void *context, const struct plan_page *plan);
	void *context;
};

struct run_result {
	struct run_job *job;
	const struct run *front; /* notes, fingerprint key and `partial` of what is shown */
	int target_exit;	 /* of a program that does not work: its own status; else 0 */
	bool stopped;		 /* by the user */
	bool is_answered;	 /* the rest is there */
	struct answer_page answer;
	struct plan_page plan;	 /* no steps: it was stopped before there was one */
	struct job_view summary; /* with the round */
};

/* All of it.  A negative errno also when the answer is there and could not be written. */
int run_job_do(const struct run_options *options, const struct job_host *host,
	struct run_result *ret_result, struct err *err);
void run_result_done(struct run_result *result);

/* The members of "data": of report.json, and of what --json prints. */
void run_result_json(struct jsonw *w, const struct run_result *result);
