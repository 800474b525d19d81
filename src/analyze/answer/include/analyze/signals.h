/* signals.h - named numbers about the target, each with its witness and the query that gives it.
 *
 * A signal is what the rules of data/hypotheses are written in: "runq_share", "fault_rate".  The
 * same thing told by two mechanisms is two signals of different witnesses; the ledger asks for two
 * that agree.  `query` is SQL over the run file `path` and gives exactly `value`, so that every
 * number of a report can be found again with sqlite3.  A signal that could not be computed is there
 * too, without a value and with the reason.
 * Pure.  Owns: everything is in the caller's arena; texts may be the runs'. */
#pragma once

#include "analyze/evidence.h"
#include "base/arena.h"
#include "base/vec.h"

struct signal {
	const char *name;
	const char *unit;    /* "share", "per second", "ns", "bytes", "" */
	const char *witness; /* the mechanism: "proc", "rusage", "samples", "simulation"... */
	const char *path;    /* file in the directory */
	const char *query;   /* one row, one column: the value */
	const char *meaning; /* one line for people */
	const char *reason;  /* why there is no value, "" with one */
	double value;	     /* NAN: not known */
};

struct signals {
	vec_of(struct signal) rows;
};

void signals_collect(
	const struct evidence *evidence, struct arena *arena, struct signals *ret_signals);

/* NULL: there is none of that name. */
const struct signal *signals_find(const struct signals *signals, const char *name);

/* NAN: there is none of that name, or no `signals`, or it is not known. */
double signals_value(const struct signals *signals, const char *name);

void signals_done(struct signals *signals);
#define signals_auto __attribute__((cleanup(signals_done)))
