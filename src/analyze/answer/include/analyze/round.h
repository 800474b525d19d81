/* round.h - after a change: what moved, whether the promised gain arrived, and whether to go on.
 *
 * Compares the baselines of two main jobs, which are two sessions: what the machine did differently
 * between them is in the difference too, so the verdict is advisory.  Compounds ratios by
 * multiplying them.  Pure.  Owns: everything is in the caller's arena; texts are the inputs'. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/causal.h"
#include "analyze/compare.h"
#include "analyze/fingerprint.h"
#include "base/arena.h"
#include "base/err.h"

struct manifest;
struct round_row;
struct run;

#define ROUND_RATIO_STOP 0.05 /* a round that brought less than that is the last one worth it */

enum round_promise {
	ROUND_PROMISE_NONE,    /* nothing that can be measured was promised, or nothing was due:
				* the place takes as much time as before */
	ROUND_PROMISE_ARRIVED, /* improved, the interval is above 0 and meets the promised one */
	ROUND_PROMISE_LESS,
	ROUND_PROMISE_MORE,
	ROUND_PROMISE_OPEN, /* too few or too noisy runs to tell */
};

const char *round_promise_word(enum round_promise promise);

struct round_input {
	const struct manifest *before, *after;
	const struct run *before_run, *after_run; /* their baselines; NULL: not measured */
	double next_score;			  /* of what is first now; NAN: nothing is */
	double next_gain_lo; /* lower bound that an experiment proves for it; NAN: none does */
	/* What the experiments before say about the speed-up that the place really got, when that
	 * is known; else NULL, and the promise of `before` stands as it was made. */
	const struct causal_gain *reached;
	bool is_place_unchanged; /* ROUND_PLACE_UNCHANGED */
	double others_share; /* of the CPUs, that other programs had in the busier of the two jobs;
			      * NAN: not known */
};

struct manifest_promise;

/* What the profiles say of the promised place; round_place.c. */
enum round_place {
	ROUND_PLACE_UNKNOWN,
	ROUND_PLACE_UNCHANGED, /* it takes as much time as before, as far as the samples tell */
	ROUND_PLACE_FASTER,
};

/* `before_causal` and the profiles are of the two jobs; runs may be NULL. */
struct round_evidence {
	const struct run *before_profile, *after_profile, *before_causal;
	double others_share; /* as in round_input */
};

/* What became of the promised function and, of one that got faster, what that was to bring: by the
 * experiments before, else in proportion to the promise. */
enum round_place round_place(const struct round_evidence *evidence,
	const struct manifest_promise *promise, struct arena *arena, struct causal_gain *ret_gain);

struct round_view {
	uint32_t round;
	const char *before_id, *after_id;
	bool has_baselines;
	enum fingerprint_class class;
	const struct fingerprint_difference *differences; /* that forbid it or warn */
	uint32_t difference_count;
	bool output_changed;
	struct comparison wall, cpu;
	bool corrected; /* `wall` is corrected wall time: bench_time_measure() */
	struct compare_verdict verdict;
	double before_ns, after_ns;	  /* medians of wall time */
	double ratio, ratio_lo, ratio_hi; /* of `wall`, after over before; NAN: no bound */
	double compounded;		  /* with all rounds before */
	const char *promised_location;
	bool is_place_unchanged;
	double promised, promised_lo, promised_hi, promised_at; /* less time; NAN */
	double gained, gained_lo, gained_hi;			/* the same, as measured */
	enum round_promise promise;
	bool stop;	  /* no further round is worth it */
	const char *next; /* one sentence: go on, or why to stop */
};

/* `differences` are borrowed from `comparison`, which the caller keeps. */
int round_make(const struct round_input *input, struct fingerprint_comparison *comparison,
	struct arena *arena, struct round_view *ret_view, struct err *err);

/* The line of the history for a main job; `round` is NULL when it is the first of its chain,
 * `first` what it says to change first, or "".  Texts are the arguments'. */
struct round_row round_row_of(
	const struct manifest *job, const struct round_view *round, const char *first);

/* One round as it is listed. */
struct round_line_view {
	uint32_t round;
	const char *run_id, *target, *against, *verdict, *first;
	double before_ns, after_ns, ratio, ratio_lo, ratio_hi, compounded, promised;
};

struct round_line_view round_line_of(const struct round_row *row);
