/* bench_job.h - what `assay bench` and `assay ab` share: commands, run file, runs, progress.
 *
 * Owns: the run, its file and the words of the commands, until bench_job_done(). */
#pragma once

#include "base/arena.h"
#include "cli.h"
#include "drive/bench.h"
#include "model/run.h"

struct store;

/* Where --save keeps baselines, and what each of them took. */
#define BENCH_JOB_FOLDER ".assay"
#define BENCH_JOB_HISTORY BENCH_JOB_FOLDER "/history.ndjson"

struct bench_job {
	struct cli *cli;
	struct run *run;
	struct store *store; /* NULL without -o and --save */
	struct arena arena;
	vec_of(struct spawner_command) commands;
	uint64_t
		refreshed_ns; /* when the file and the progress line were last brought up to date */
	/* Asked after each round whether it is enough (1); NULL: never. */
	int (*look)(struct bench_job *job, const struct bench_progress *progress, struct err *err);
	void *context;
	uint32_t warmups;	/* unless --warmup says otherwise */
	bool takes_fingerprint; /* also when nothing is stored */
	bool is_remembered;	/* in the history, also without --save */
	bool is_extra;		/* measured besides: not stored, not in the history */
};

/* The options that both have; ends without a row of its own, for use inside a table. */
#define BENCH_JOB_OPTIONS                                                                          \
	{"warmup", 'w', "N", false, NULL, "run each command N times first, not measured"},         \
		{"prepare", 'p', "CMD", false, NULL,                                               \
			"run this before each run, not measured (drop a cache, restore a file)"},  \
		{"input", 0, "FILE", false, NULL,                                                  \
			"the commands' stdin, opened anew for each run (default /dev/null)"},      \
		{"program-output", 0, "WHERE", false, NULL,                                        \
			"where stdout and stderr of the commands go: null (default), inherit or "  \
			"a file"},                                                                 \
		{"time-limit", 0, "TIME", false, NULL,                                             \
			"stop a run that takes longer, with all its processes"},                   \
		{"ignore-failure", 'i', NULL, false, NULL, "go on when a run fails, and use it"},  \
		{"shell", 'S', NULL, false, NULL,                                                  \
			"run each command with sh -c; the shell's start is then in the times"},    \
		{"output", 'o', "RUN", false, NULL, "store the runs in this file (*.assay)"},      \
		{"save", 0, "NAME", false, NULL, "store the runs as .assay/NAME.assay"},

void bench_job_open(struct bench_job *job, struct cli *cli);
void bench_job_done(struct bench_job *job);

/* Add a command: one text that is split into words (or given to a shell), or words as they are. */
int bench_job_add(struct bench_job *job, const char *text, struct err *err);
int bench_job_add_words(struct bench_job *job, char *const *words, struct err *err);

/* Run them; `options` says how often.  An enum bench_end or a negative errno.  The run is frozen
 * and stored then; when nothing at all was measured, that is the failure. */
int bench_job_run(struct bench_job *job, struct bench_options *options, struct err *err);

/* The commands' output is on our stdout, so what we say goes to stderr. */
bool bench_job_shares_stdout(const struct bench_job *job);
