/* envelope.h - do repeated baselines agree with each other?
 *
 * Does: take median and p95 (nearest rank) of wall and CPU time of each repeat, and the largest
 * drift of a repeat from the median of all: up to 5 % STABLE, up to 10 % NOISE, above INVESTIGATE,
 * above 20 % or three repeats in a row above 10 % ESCALATE.
 * Does not: say whether the machines are comparable (fingerprint.h).
 * Pure.  Owns: everything is in the caller's arena; names are borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/bench.h"

enum envelope_class {
	ENVELOPE_STABLE,
	ENVELOPE_NOISE,
	ENVELOPE_INVESTIGATE,
	ENVELOPE_ESCALATE,
};

const char *envelope_class_name(enum envelope_class class);

struct envelope_series {
	const char *command;
	const char *metric;    /* "wall", "cpu" */
	const char *statistic; /* "median", "p95" */
	double *values;	       /* one per repeat, in their order, ns */
	double *drifts;	       /* share away from the reference, signed */
	uint32_t count;
	double reference;  /* median of the values, nearest rank */
	double drift;	   /* the largest, without its sign */
	uint32_t worst;	   /* the repeat that has it, from 0 */
	uint32_t in_a_row; /* the longest row of repeats above 10 % */
	enum envelope_class class;
};

struct envelope_view {
	struct envelope_series *series;
	uint32_t series_count;
	uint32_t repeats;
	bool blocks; /* of one file, not files of their own */
	enum envelope_class class;
	const struct envelope_series *by; /* the worst; NULL: nothing was judged */
};

/* Judge the values of one series; its names and count are set.  -EINVAL when the reference is 0 and
 * a value is not: no drift exists then. */
int envelope_judge(struct envelope_series *series, struct err *err);

/* Of several runs of the same commands.  A command that one of them lacks is left out. */
int envelope_of_runs(const struct bench_view *const *views, uint32_t count, struct arena *arena,
	struct envelope_view *ret_view, struct err *err);

/* Of one run, cut into `blocks` pieces in the order of measurement. */
int envelope_of_blocks(const struct bench_view *view, uint32_t blocks, struct arena *arena,
	struct envelope_view *ret_view, struct err *err);
