/* gate.h - may this change go in: a candidate against its baselines and against its budgets.
 *
 * Does: match the commands, judge wall time, CPU time and peak RSS of each as one family
 * (compare.h), give each change a severity, judge the budgets, and decide.
 * A stored baseline was not measured in turns with the candidate, so a change must be clear before
 * it fails: see gate_item.clear.  Does not: measure, read files, decide on fingerprints alone
 * (gate_comparability does).
 * Pure.  Owns: everything is in the caller's arena; names and views are borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/bench.h"
#include "analyze/budget.h"
#include "analyze/envelope.h"
#include "analyze/fingerprint.h"
#include "analyze/gate_history.h"
#include "analyze/gate_preset.h"

/* In the order of how much they weigh. */
enum gate_decision {
	GATE_PASS,
	GATE_WARN,    /* slower, but not enough to fail */
	GATE_UNKNOWN, /* the data cannot tell */
	GATE_FAIL,
	GATE_REFUSED, /* not comparable */
};

const char *gate_decision_name(enum gate_decision decision);

/* Whether other work ran beside the measurements. */
enum gate_noise_level { GATE_NOISE_UNKNOWN, GATE_QUIET, GATE_LOUD };

/* Fingerprints of the baselines against the candidate's. */
struct gate_comparability {
	struct fingerprint_comparison *each; /* one per baseline that has a fingerprint */
	uint32_t count;
	enum fingerprint_class class; /* the worst */
	bool known;		      /* every side has a fingerprint */
	enum gate_noise_level noise;  /* of the louder side */
};

void gate_compare_machines(struct gate_comparability *comparability,
	const struct run *const *baselines, uint32_t count, const struct run *candidate);
void gate_comparability_done(struct gate_comparability *comparability);
#define gate_comparability_auto __attribute__((cleanup(gate_comparability_done)))

struct gate_input {
	const struct bench_view *const *baselines;
	uint32_t baseline_count; /* 0: budgets alone */
	const struct bench_view *candidate;
	const struct budget_book *budgets; /* NULL: none */
	const struct history *history;	   /* NULL: none */
	const char *fingerprint;	   /* key of the candidate, "" unknown */
	const char *only;		   /* judge commands that hold this text; NULL: all */
	struct gate_preset preset;
	double min_effect; /* 0: the preset's first bound */
	bool judges[GATE_METRICS];
	enum gate_noise_level noise;
	bool advisory; /* the machines differ and the user said to go on: nothing fails by change */
};

/* One metric of one command, now against then. */
struct gate_item {
	enum gate_metric metric;
	struct comparison comparison; /* of wall time: corrected where bench_time_measure() says */
	struct gate_noise noise;      /* from the history, which has no corrected wall time; in
				       * comparison.min_effect already */
	enum gate_severity severity;
	enum gate_decision decision;
	/* The whole interval is above the smallest effect.  Wall time alone, where CPU time does
	 * not bear it out and the machine is not known to have been quiet, must be above the
	 * failing bound (twice the time, when the machine is known to have been loud) with its
	 * whole interval and with its fastest run. */
	bool clear;
};

struct gate_command {
	const struct bench_command *candidate;
	const struct bench_command *const *baselines; /* the same command in each baseline */
	uint32_t baseline_count;		      /* 0: it has none */
	uint32_t baseline_runs;			      /* of all of them */
	struct gate_item *items;
	uint32_t item_count;
	const char *unjudged[GATE_METRICS]; /* why a metric is not among them, NULL: it is */
	struct compare_verdict verdict;
	const char *uncorrected;     /* why a side has no corrected wall time, NULL: all have it */
	bool may_have_waited;	     /* a side, for a CPU: worth saying if it stays in */
	bool corrected;		     /* its wall time is judged as corrected wall time */
	struct gate_item plain_wall; /* then: wall time as it was, which decides nothing */
};

enum gate_budget_status {
	GATE_BUDGET_KEPT,
	GATE_BUDGET_UNUSED,  /* no command matches it */
	GATE_BUDGET_UNCLEAR, /* above, but its interval reaches below */
	GATE_BUDGET_UNKNOWN, /* not measured, or no baseline to be relative to */
	GATE_BUDGET_BROKEN,
};

const char *gate_budget_status_name(enum gate_budget_status status);

/* One limit of a budget on one command. */
struct gate_budget {
	const struct budget *budget;
	const char *command; /* NULL: no command matches it */
	bool relative;
	double value, limit; /* ns or bytes; relative: shares of change */
	enum gate_budget_status status;
	const char *reason; /* why it is not known, or "" */
};

struct gate_confirm {
	uint32_t rounds, failed, passed; /* measurements so far, the first one counted */
	uint32_t most, needed;		 /* 0: not asked for */
};

struct gate_verdict {
	enum gate_decision decision;
	enum gate_severity severity;
	const char *outcome; /* regressed, budget_broken, improved, equivalent, inconclusive... */
	const struct gate_command *command; /* that decided, with `item`; NULL: a budget or none */
	const struct gate_item *item;
	const struct gate_budget *budget;
	enum compare_note note;
};

struct gate_view {
	struct gate_command *commands;
	uint32_t command_count;
	struct gate_budget *budgets;
	uint32_t budget_count;
	const char **unmatched; /* commands of the candidate without a baseline */
	uint32_t unmatched_count;
	double min_effect, fail_above;
	struct gate_preset preset;
	bool advisory;
	struct gate_confirm confirm;
	struct gate_verdict verdict;
};

int gate_make(const struct gate_input *input, struct arena *arena, struct gate_view *ret_view,
	struct err *err);

/* A verdict without measurements: "not_comparable", "no_baseline". */
void gate_settle(struct gate_view *view, enum gate_decision decision, const char *outcome);

/* After a failure it is measured again, up to `extra` times: two of three, three of five must fail.
 */
void gate_confirm_begin(struct gate_view *view, uint32_t extra);
/* One more measurement was judged.  True: the verdict of `view` is final. */
bool gate_confirm_add(struct gate_view *view, const struct gate_view *again);
