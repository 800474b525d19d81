/* bench.h - commands run in turns, into a run and its file: what bench, scale, ab and gate share.
 *
 * Owns: the run, its file and the words of the commands, until bench_job_done(). */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "drive/bench.h"
#include "job/host.h"
#include "job/parameters.h"
#include "model/run.h"

struct store;

/* Where baselines are kept, and what each of them took. */
#define BENCH_JOB_FOLDER ".assay"
#define BENCH_JOB_HISTORY BENCH_JOB_FOLDER "/history.ndjson"

enum { BENCH_RUNS_MAX = 1000000 };

/* How often; 0: not said.  A time is for each command. */
struct bench_counts {
	uint32_t exact, least, most;
	uint64_t budget_ns;
};

/* Zero: the default. */
struct bench_job_options {
	/* The commands: each text is split, and so is a program of one word. */
	char *const *texts;
	uint32_t text_count;
	char *const *program;
	struct parameters parameters; /* every command with each combination of them */
	struct bench_counts counts;
	uint64_t ops_per_run, bytes_per_run;
	const char *setup, *prepare, *cleanup; /* commands that are not measured */
	const char *input;		       /* NULL: /dev/null */
	const char *program_output; /* "null", which is the default, "inherit" or a file */
	const char *cache;	    /* "warm" or "cold" */
	const char *output, *save;  /* a path, or a name in the folder */
	/* As drive takes them: warm-ups, cold files, golden file, time limit, ignored failures. */
	struct bench_options runs;
	bool has_warmups, shell;
	bool takes_fingerprint; /* also when nothing is stored */
	bool no_history;
};

/* When the file is brought up to date: after each run, as long as that takes a twentieth of the
 * time.  What kill -9 can take is the run under way, of runs below some ms a few more.  The first
 * time makes the tables and says nothing about the others, so the cheapest counts. */
struct store_pace {
	uint64_t stored_ns; /* when it last began; 0: never */
	uint64_t cost_ns;   /* of the cheapest time but the first */
};

bool store_pace_is_due(const struct store_pace *pace, uint64_t now_ns);
void store_pace_take(struct store_pace *pace, uint64_t begin_ns, uint64_t end_ns);

struct bench_job {
	struct bench_job_options options;
	const struct job_host *host;
	struct run *run;
	struct store *store; /* NULL: nothing is kept */
	const char *path;    /* of the file; NULL: there is none */
	struct arena arena;
	struct bench_options runs; /* those of the options; whole once `ready` is called */
	vec_of(struct spawner_command) commands;
	const char *folder;	       /* where the next command that is added runs; NULL: here */
	uint32_t combination;	       /* of the next command */
	vec_of(uint32_t) combinations; /* of each command */
	uint64_t refreshed_ns;	       /* when the progress line was last brought up to date */
	struct store_pace pace;
	/* Called once before the first run, with everything chosen; NULL: nothing to do. */
	int (*ready)(struct bench_job *job, struct err *err);
	/* Asked after each round whether it is enough (1); NULL: never. */
	int (*look)(struct bench_job *job, const struct bench_progress *progress, struct err *err);
	void *context;
	/* What a text of the options says for one command, in the job's arena; NULL: the same for
	 * all. */
	const char *(*fill)(struct bench_job *job, uint32_t command, const char *text);
	bool is_remembered; /* in the history, also without a name */
	bool is_extra;	    /* measured besides: not stored, not in the history */
};

/* Options and host stay the caller's. */
void bench_job_open(struct bench_job *job, const struct bench_job_options *options,
	const struct job_host *host);
void bench_job_done(struct bench_job *job);

/* Add a command: one text that is split into words (or given to a shell), or words as they are. */
int bench_job_add(struct bench_job *job, const char *text, struct err *err);
int bench_job_add_words(struct bench_job *job, char *const *words, struct err *err);

/* Add all commands of the options, with their parameters. */
int bench_job_add_given(struct bench_job *job, struct err *err);

/* The words of such a text (with a shell the shell's), without adding them. */
int bench_job_split(struct bench_job *job, const char *text, char ***ret_words, struct err *err);

/* Warn of what a shell would have understood: it is passed on as it stands, rarely meant so. */
void bench_job_note_shell(struct bench_job *job, const char *text);

/* Run what was added, as often as `runs` says.  An enum bench_end or a negative errno.  The run is
 * frozen and stored then; when nothing at all was measured, that is the failure. */
int bench_job_run(struct bench_job *job, struct err *err);

/* `assay bench`: add, count and run what the options say. */
int bench_job_measure(struct bench_job *job, struct err *err);

/* The commands' output is on our stdout, so what we say goes to stderr. */
bool bench_job_shares_stdout(const struct bench_job *job);
