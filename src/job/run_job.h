/* run_job.h - what `assay run` works on: the directory, its manifest, the plan, what was measured.
 *
 * Owns: everything it made or loaded, until run_result_done(). */
#pragma once

#include "analyze/answer.h"
#include "analyze/job.h"
#include "analyze/plan.h"
#include "base/arena.h"
#include "drive/phase.h"
#include "job/run.h"
#include "model/directory.h"
#include "model/run.h"
#include "run_target.h"

enum { RUN_PHASES = EVIDENCE_KINDS }; /* one for each kind */

/* Files of the directory. */
#define RUN_GOLDEN "golden/stdout"
#define RUN_EVENTS "events.ndjson"

/* The program with less to do. */
struct run_variant {
	char **program;
	const char *input_path; /* its stdin; NULL: that of the program */
	const char *words;	/* which, for people */
	double size;		/* against the whole; 0: not known */
};
enum { RUN_VARIANTS = 2 };

struct run_job {
	const struct job_host *host;
	struct run_options options;
	struct run_result *result;
	struct arena arena;
	struct directory directory;
	struct manifest manifest;
	struct run *front;	  /* notes, fingerprint key and `partial` of what is shown */
	const char *input_path;	  /* stdin of each run; NULL: none */
	const char *input_words;  /* where it is from, "" */
	const char *against_path; /* the directory before; NULL: none */
	struct manifest before;
	struct run *before_run; /* its baseline, whose texts the comparison shows; or NULL */
	char expected_sha256[SHA256_TEXT]; /* of --golden, "" */
	char golden_sha256[SHA256_TEXT];   /* "": no whole run yet */
	const char *differs;		   /* phases that printed something else; NULL: none */
	bool output_varies;		   /* from run to run, so there is nothing to compare */
	unsigned left_out;		   /* phases as bits, by run_phases_check() */
	uint64_t start_ns, budget_ns;
	uint64_t run_ns;			   /* one run of the program */
	double cpus;				   /* that it used */
	struct run_variant variants[RUN_VARIANTS]; /* largest first */
	unsigned variant_count;
	const char *variants_reason; /* why there is none */
	bool endless;
	bool has_pmu;
	bool stopped;	      /* by the user */
	struct err unwritten; /* .code: the first result that could not be written */
	struct plan_step planned[RUN_PHASES]; /* as it was shown */
	bool done[RUN_PHASES];
	struct run_worker worker;
	struct run_written written;
	uint32_t step, step_count;	  /* the phase that runs, for the progress line */
	struct run *runs[EVIDENCE_KINDS]; /* see run_phase_file() */
	struct evidence evidence;
	struct signals signals;
	struct hypothesis_book *book;
	struct ledger_view ledger;
	struct answer_view answer;
	struct fingerprint_comparison comparison;
	struct round_view round;
	bool has_round;
};

/* Nanoseconds of the budget that are gone. */
uint64_t run_job_spent_ns(const struct run_job *job);

/* Bring MANIFEST.json up to date. */
int run_job_keep(struct run_job *job, struct err *err);

/* Write a file of the directory. */
int run_job_write(struct run_job *job, const char *name, const struct str *text, struct err *err);

/* run_input.c: --input and --golden, before anything is made; stdin that is not a terminal, kept in
 * the directory. */
int run_input_check(struct run_job *job, struct err *err);
int run_input_take(struct run_job *job, struct err *err);

/* run_smaller.c: --sizes and --smaller, before anything is made; copies of a text file, when it is
 * known that the program works. */
int run_smaller_check(struct run_job *job, struct err *err);
void run_smaller_make(struct run_job *job);
/* The variant that a simulation of `slower` times should take; NULL: the whole. */
const struct run_variant *run_smaller_simulated(struct run_job *job, uint32_t slower);
/* One run of a variant: measured in its phase, else guessed from its size. */
uint64_t run_smaller_ns(struct run_job *job, const struct run_variant *variant);

/* run_trial.c: machine, program and the first run. */
int run_preflight(struct run_job *job, struct err *err);
int run_trial(struct run_job *job, struct err *err);
/* How a run failed, in the arena; `number` 0: there was one only. */
const char *run_failure_words(struct run_job *job, const struct run *run,
	const struct execution_row *execution, uint32_t number);

/* run_steps.c: one command of assay as a child. */
struct run_words {
	vec_of(const char *) at; /* behind "assay", without the NULL */
};

void run_words_put(struct run_words *words, const char *const *more);
#define run_words_add(words, ...) run_words_put(words, (const char *const[]){__VA_ARGS__, NULL})
/* "1500ms", as commands take it. */
const char *run_words_ms(struct run_job *job, uint64_t ns);
/* The program and its words; one word alone is quoted for commands that would split it (bench).
 * Never all of them as one text: the kernel takes 128 KiB of that. */
void run_words_add_program(struct run_job *job, struct run_words *words, bool splits_one);

struct run_step {
	const char *name;	/* of the phase */
	const char *file;	/* that it leaves, "": none */
	struct run_words words; /* taken over */
	uint64_t limit_ns;	/* 0: none */
	double planned_s;	/* 0: it was not planned */
	bool watches;		/* to be stopped at the limit is what it is for */
	bool takes_input;
	const char *input_path; /* NULL: that of the job */
	bool checks_output;	/* its stdout is that of one whole run of the program */
	bool tells_events;	/* the program may log what it does */
	bool watches_files;	/* see which ones the program writes */
	bool may_be_cut;	/* a run file that is partial has only a part of it */
	enum evidence_kind kind;
};

/* Run it and append its row to the manifest.  Its outcome, or a negative errno when it could not be
 * started at all. */
int run_step_do(struct run_job *job, struct run_step *step, struct err *err);

/* The two ends of it, for what we do ourselves: its row, and what came of it. */
void run_step_begin(struct run_job *job, const struct run_step *step, const char *setting);
void run_step_finish(
	struct run_job *job, const struct run_step *step, const struct phase_result *result);

/* Whether the program did not come to its own end in the last run of a phase that left its file. */
bool run_step_was_cut(struct run_job *job, enum evidence_kind kind);

/* A phase that was not started. */
void run_step_skip(struct run_job *job, const char *name, const char *reason, const char *fix);

/* What the outputs of all runs came to. */
void run_step_note_outputs(struct run_job *job);

/* The row of a phase, NULL: there is none yet. */
struct manifest_phase *run_step_find(struct run_job *job, const char *name);

/* run_phases.c: the table of phases, and all of them in turn. */
int run_phases_check(struct run_job *job, struct err *err); /* --phase, --skip */
void run_phases_plan(struct run_job *job);		    /* and has it shown */
int run_phases_do(struct run_job *job, struct err *err);
/* The command of the phase at `i` of the table, which is that of job->planned. */
void run_phase_words(
	struct run_job *job, unsigned i, const struct plan_step *plan, struct run_words *words);
/* What they left as evidence; what is not there gets its reason. */
void run_phases_load(struct run_job *job);
/* Whether the baseline failed because the program never prints the same: it is repeated then. */
bool run_baseline_varies(struct run_job *job);
/* The run file that the phase of a kind left, loaded once; NULL with the reason in `err`. */
const struct run *run_phase_file(struct run_job *job, enum evidence_kind kind, struct err *err);
/* Of the CPUs that the program might use, what other programs had while it was observed; NAN: it
 * was not, or NULL. */
double run_others_share(const struct run *observed);

/* run_simulated.c: rows of that table that valgrind makes. */
enum { RUN_CALLS_SLOWER = 100 }; /* how much, when calls and loops are counted */
const char *run_counters_refused(struct run_job *job, const char **ret_fix);
void run_counters_words(struct run_job *job, const struct plan_step *step, struct run_words *words);
const char *run_calls_refused(struct run_job *job, const char **ret_fix);
void run_calls_words(struct run_job *job, const struct plan_step *step, struct run_words *words);
const struct run_variant *run_calls_variant(struct run_job *job);

/* run_answer.c: join and write. */
int run_answer(struct run_job *job, struct err *err);

/* run_against.c: the run before, the round that this one is, hypothesis.md and the ledger. */
int run_against_open(struct run_job *job, struct err *err);
int run_against_compare(struct run_job *job, struct err *err);
int run_history_keep(struct run_job *job, struct err *err);
int run_ledger_keep(struct run_job *job, struct err *err);
