/* bench.h - run several commands in turns and pass on what each run took.
 *
 * A round runs each command once, every other round backwards (A B, B A, ...), so that neighbours
 * in time make pairs and a slow drift of the machine hits all commands alike.  Does not: judge; the
 * caller looks at the rows after each round and may say that it is enough.
 * Keeps the promise of Ctrl-C: the run that was interrupted is emitted and marked.
 * Each target leads its own process group and gets an environment of random size. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "drive/interrupt.h"
#include "drive/spawner.h"

struct wire_sink;

struct bench_progress {
	uint32_t runs;	     /* emitted so far, warm-ups included */
	uint32_t rounds;     /* whole ones, without warm-ups */
	uint32_t rounds_due; /* about how many there will be; 0: not known yet */
	bool round_ended;
};

struct bench_options {
	const struct spawner_command *commands;
	uint32_t command_count;
	bool has_prepare;  /* commands[command_count] is run before each run, not measured */
	bool prepare_each; /* commands[command_count + i] is, before runs of command i */
	bool stdout_to_stderr;
	const char *input_path, *output_path; /* see spawner.h */
	uint32_t warmups;		      /* rounds that are not measured */
	uint32_t rounds_min, rounds_max;
	uint64_t budget_ns; /* measure that long, within rounds_min and rounds_max */
	uint64_t limit_ns;  /* stop a run after that: SIGTERM, a second later SIGKILL; 0: never */
	bool ignore_failure;
	uint64_t seed; /* of the environment's sizes */
	struct interrupt (*interrupted)(void);
	/* Called after each run, when its record is through.  1 after a round: enough.  A negative
	 * return ends it. */
	int (*each)(void *context, const struct bench_progress *progress, struct err *err);
	void *context;
};

enum bench_end {
	BENCH_DONE,
	BENCH_INTERRUPTED,
	BENCH_FAILED, /* a run failed or took too long: the last one that was emitted */
};

/* Returns an enum bench_end, or a negative errno; what was emitted before stays valid. */
int bench_commands(
	const struct bench_options *options, const struct wire_sink *sink, struct err *err);
