/* bench_job.h - what `assay bench` and `assay ab` share: commands, run file, runs, progress.
 *
 * Owns: the run, its file and the words of the commands, until bench_job_done(). */
#pragma once

#include "base/arena.h"
#include "cli.h"
#include "drive/bench.h"
#include "job/parameters.h"
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
	const char *folder; /* where the next command that is added runs; NULL: here */
	/* Of the commands that are added: bench_job_add() replaces what they name by the values of
	 * the present combination.  Without any a text stays as it is. */
	struct parameters parameters;
	uint32_t combination;
	vec_of(uint32_t) combinations; /* of each command */
	const char **cold_files;
	uint64_t refreshed_ns;		   /* when the progress line was last brought up to date */
	uint64_t stored_ns, store_cost_ns; /* when the file was, and how long that took */
	/* Called once before the first run, with everything chosen; NULL: nothing to do. */
	int (*ready)(struct bench_job *job, const struct bench_options *options, struct err *err);
	/* Asked after each round whether it is enough (1); NULL: never. */
	int (*look)(struct bench_job *job, const struct bench_progress *progress, struct err *err);
	void *context;
	/* What --prepare and --input say for one command, in the job's arena; NULL: the same text
	 * for all. */
	const char *(*fill)(struct bench_job *job, uint32_t command, const char *text);
	uint32_t warmups;	/* unless --warmup says otherwise */
	bool takes_fingerprint; /* also when nothing is stored */
	bool is_remembered;	/* in the history, also without --save */
	bool is_extra;		/* measured besides: not stored, not in the history */
};

/* The options that both have; ends without a row of its own, for use inside a table. */
#define BENCH_JOB_OPTIONS                                                                          \
	{"warmup", 'w', "N", false, NULL, "run each command N times first, not measured"},         \
		{"setup", 0, "CMD", false, NULL,                                                   \
			"run this once for each command before all runs (build it, fill a file)"}, \
		{"prepare", 'p', "CMD", false, NULL,                                               \
			"run this before each run, not measured (restore a file)"},                \
		{"cleanup", 0, "CMD", false, NULL,                                                 \
			"run this once for each command after all runs, also when one failed or "  \
			"Ctrl-C ended it"},                                                        \
		{"cache", 0, "STATE", false, "warm|cold",                                          \
			"cold: drop the page cache of the whole machine before each run (root)"},  \
		{"cold-file", 0, "FILE", false, NULL,                                              \
			"drop this file from the page cache before each run; may be repeated"},    \
		{"golden", 0, "FILE", false, NULL,                                                 \
			"the output of every run must be the bytes of this file"},                 \
		{"golden-save", 0, "FILE", false, NULL,                                            \
			"write the first run's output there; that of the others must be the "      \
			"same"},                                                                   \
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

/* The words of such a text (with --shell a shell's), without adding them. */
int bench_job_split(struct bench_job *job, const char *text, char ***ret_words, struct err *err);

/* Warn of what a shell would have understood: it is passed on as it stands, rarely meant so. */
void bench_job_note_shell(struct bench_job *job, const char *text);

/* Run them; `options` says how often.  An enum bench_end or a negative errno.  The run is frozen
 * and stored then; when nothing at all was measured, that is the failure. */
int bench_job_run(struct bench_job *job, struct bench_options *options, struct err *err);

/* The commands' output is on our stdout, so what we say goes to stderr. */
bool bench_job_shares_stdout(const struct bench_job *job);
