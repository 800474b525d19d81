/* ledger_history.h - the ledger over time: the runs of a target, and what each of them changed.
 *
 * Does: turn the verdicts of one run into rows for the file; take runs out of the file and compare
 * each with the one before of the same target.  Pure.  Owns: everything is in the caller's arena;
 * texts are the ledger's or the view's, which must live longer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/hypothesis.h"
#include "base/arena.h"

struct ledger;
struct ledger_entry;

/* The rows of one run, in the order of the view.  `run` gives what they share: run_id, target,
 * fingerprint, time_ns. */
void ledger_entries_make(const struct ledger_view *view, const struct ledger_entry *run,
	struct arena *arena, struct ledger_entry **ret_entries, uint32_t *ret_count);

struct ledger_input {
	const char *name;
	double value; /* NAN: not known */
};

struct ledger_step {
	const char *hypothesis, *verdict, *why;
	double share; /* NAN: not known */
	bool noisy;
	const struct ledger_input *inputs;
	uint32_t input_count;
	const char *before;  /* the verdict in the run before, NULL: it was not in it */
	const char *changed; /* "", "new", "was rejects" */
};

/* One run of a target. */
struct ledger_run {
	const char *run_id, *target, *fingerprint;
	uint64_t time_ns;
	const char *before; /* the run it is compared with, NULL: the first of its target */
	bool same_machine;  /* as that one; the fingerprints have the same key */
	struct ledger_step *steps;
	uint32_t step_count, changed_count;
};

struct ledger_history {
	struct ledger_run *runs; /* newest first */
	uint32_t count;
	uint32_t skipped; /* lines of the file that are none */
};

struct ledger_query {
	const char *target; /* only targets that hold this text; NULL: all */
	const char *run_id; /* only this run; NULL: all */
	uint32_t last;	    /* at most this many runs, 0: all */
};

void ledger_history_make(const struct ledger *ledger, const struct ledger_query *query,
	struct arena *arena, struct ledger_history *ret_history);
