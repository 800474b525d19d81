/* bench.h - run several commands in turns and pass on what each run took.
 *
 * A round runs each command once, every other round backwards (A B, B A, ...), so that neighbours
 * in time make pairs and a slow drift of the machine hits all commands alike.  Does not: judge; the
 * caller looks at the rows after each round and may say that it is enough.
 * Short runs are asked for up to 32 at once: see spawner_start_all().
 * Keeps the promise of Ctrl-C: the run that was interrupted is emitted and marked.
 * Each target leads its own process group and gets an environment of random size. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "drive/spawner.h"

struct wire_sink;

struct bench_progress {
	uint32_t runs;	     /* emitted so far, warm-ups included */
	uint32_t rounds;     /* whole ones, without warm-ups */
	uint32_t rounds_due; /* about how many there will be; 0: not known yet */
	uint64_t elapsed_ns; /* since the first of them began, at the end of the last one */
	bool round_ended;
};

struct bench_options {
	const struct spawner_command *commands;
	uint32_t command_count;
	/* Where in `commands` stand those that are not measured.  Before the first run of all, and
	 * after the last: so many, each once.  Before each run: one for each command, in the same
	 * order; 0: none. */
	uint32_t setup_at, setup_count, cleanup_at, cleanup_count, prepare_at;
	bool stdout_to_stderr;
	const char *input_path, *output_path; /* see spawner.h */
	bool keep_errors;		      /* tell the end of stderr of a run that failed */
	uint32_t warmups;		      /* rounds that are not measured */
	uint32_t rounds_min, rounds_max;
	uint64_t budget_ns; /* measure that long, within rounds_min and rounds_max */
	uint64_t limit_ns;  /* stop a run after that: SIGTERM, a second later SIGKILL; 0: never */
	bool ignore_failure;
	/* What makes each run start cold: the page cache of the machine, of these files. */
	bool drop_caches;
	const char *const *cold_files; /* NULL-terminated; NULL: none */
	/* stdout of every run must be this file's bytes; or those of the first run, kept there. */
	const char *golden_path, *golden_save_path;
	uint64_t seed; /* of the environment's sizes */
	struct interrupt (*interrupted)(void);
	/* Called after each run, when its record is through.  1 after a round: enough.  A negative
	 * return ends it. */
	int (*each)(void *context, const struct bench_progress *progress, struct err *err);
	void *context;
	bool can_be_enough; /* `each` may say so: it is then asked before the next round starts */
};

enum bench_end {
	BENCH_DONE,
	BENCH_INTERRUPTED,
	BENCH_FAILED, /* a run failed or took too long: the last one that was emitted */
};

struct bench;

/* Check what can be checked and fork the spawner: before memory is taken, because no target can
 * show a smaller peak than its starter.  `options` must stay valid until bench_close(). */
int bench_open(const struct bench_options *options, struct bench **ret_bench, struct err *err);

/* Returns an enum bench_end, or a negative errno; what was emitted before stays valid.  A failure
 * of a set-up, preparation or clean-up is an error; the clean-ups are run in each case.
 * Beside the executions: fields "failure.stderr", "output.sha256", qualities "suspended_ns" and
 * "clock_slew_ns". */
int bench_run(struct bench *bench, const struct wire_sink *sink, struct err *err);

void bench_close(struct bench *bench);
