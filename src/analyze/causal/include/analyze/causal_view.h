/* causal_view.h - what the experiments of a run say: targets ranked by what they would bring, those
 * that are hot and would bring nothing, and what speaks against believing it.
 *
 * Pure.  Owns: everything is in the caller's arena; texts are the run's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/causal.h"
#include "base/arena.h"
#include "base/err.h"

struct run;

struct causal_point_view {
	const char *name;
	bool is_latency;
	bool is_end;	   /* of the program: experiments are whole runs */
	double visits;	   /* in all experiments without a speed-up */
	double per_second; /* there */
	double seen;	   /* visits in all experiments */
	bool is_chosen;
};

struct causal_target_view {
	uint32_t row;
	const char *name, *file, *function; /* file and function may be "" */
	uint32_t line;
	bool waits;
	struct causal_curve curve;
	double sample_share;  /* of the program's samples without a speed-up */
	double hits, samples; /* samples 0: not known how many there were */
};

/* What may make the numbers wrong. */
enum causal_doubt {
	CAUSAL_DOUBT_CROWDED, /* threads waited for a CPU: a pause gives it to others */
	CAUSAL_DOUBT_UNPAID,  /* delays that were not taken */
	CAUSAL_DOUBT_LOST,    /* samples that did not come */
	CAUSAL_DOUBT_OUTSIDE, /* threads were woken by other processes, devices or timers */
	CAUSAL_DOUBT_PACED,   /* a clock sets the pace */
	CAUSAL_DOUBT_PEER,    /* another program sets the pace */
	CAUSAL_DOUBT_DRIFT,   /* the undisturbed speed changed */
	CAUSAL_DOUBT_FEW,     /* visits of the progress point */
	CAUSAL_DOUBTS,
};

/* What the progress waits for.  Neither a clock nor another program is slowed down with the
 * program, so where one of them sets the pace no gain is told, but what the work costs. */
enum causal_pace { CAUSAL_PACE_OWN, CAUSAL_PACE_CLOCK, CAUSAL_PACE_PEER, CAUSAL_PACES };

const char *causal_pace_name(enum causal_pace pace);

struct causal_guard {
	enum causal_doubt doubt;
	double value; /* what was measured: a share, or visits per experiment */
	bool is_bad;
	bool is_known; /* false: the experiments are another tool's, which does not say */
};

const char *causal_doubt_name(enum causal_doubt doubt);

/* What an engine inside the target cannot see; the last is NULL. */
extern const char *const causal_not_seen[];

struct causal_view {
	bool is_inside; /* measured without a kernel side, so with all that it does not see */
	struct causal_target_view *targets; /* worth touching first; flat ones behind */
	uint32_t target_count;
	uint32_t flat_from; /* targets[flat_from..] are not worth it, hottest first */
	struct causal_point_view *points;
	uint32_t point_count;
	const struct causal_point_view *point; /* the judge; NULL: nothing was visited or tried */
	bool unvisited;			       /* there is no judge because no point was visited */
	const char *refused;		       /* why no experiment is believed; NULL: they are */
	const char *unable; /* why none was possible, at all or from some time on; or NULL */
	uint32_t experiments, pairs, cut;
	uint32_t disturbed; /* pairs that other programs disturbed: not used */
	uint32_t alone;	    /* sped-up ones without a baseline of the same target */
	uint64_t measured_ns;
	struct causal_guard guards[CAUSAL_DOUBTS];
	enum causal_pace pace;
	double visit_ns; /* from one visit to the next without a speed-up; NAN: not known */
	double work_ns;	 /* CPU time of the program in that; NAN: not known */
};

/* `point` names the progress point that judges; NULL: the one there is.  ERR_USAGE when there are
 * several kinds and none was named, or no such point. */
int causal_view_make(const struct run *run, const char *point, struct arena *arena,
	struct causal_view *ret_view, struct err *err);

/* The trials alone, for choosing the next one; those of target row i have .target = i - 1.  The
 * point as above; no point yet gives none. */
int causal_trials_of_run(const struct run *run, const char *point, struct arena *arena,
	struct causal_trial **ret_trials, uint32_t *ret_count, struct err *err);

/* Every whole experiment as it was, for other people's tools. */
struct causal_entry_visit {
	const char *name;
	bool is_latency;
	uint64_t arrivals, departures, open_after;
};

struct causal_entry {
	uint32_t target; /* index of targets */
	double speedup;
	uint64_t virtual_ns, hits;
	const struct causal_entry_visit *visits;
	uint32_t visit_count;
};

struct causal_entry_target {
	const char *name, *file;
	uint32_t line;
	uint64_t hits;
};

struct causal_log {
	uint64_t started_ns;
	struct causal_entry *entries;
	uint32_t entry_count;
	struct causal_entry_target *targets;
	uint32_t target_count;
};

void causal_log_make(const struct run *run, struct arena *arena, struct causal_log *ret_log);
