/* diff_profile.h - what changed between the samples of two runs, and what is only noise.
 *
 * Shares: B - A in each row, with the 95 % interval of Newcombe (two Wilson intervals joined), from
 * the sample counts.  A row has changed when Holm's procedure over all rows says so at 5 %, so that
 * two recordings of the same program show no change at all in 95 of 100 cases.
 * Cost: share times the weight of all samples (CPU time for clocks) per execution, with the
 * interval made the same way.  A share also changes when only others did; the cost tells. The
 * counts know nothing of what differs from run to run of one program: assay ab does. Owns: rows and
 * qualities; texts are the runs', which must live longer.  Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/fingerprint.h"
#include "analyze/profile.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct run;

enum diff_verdict {
	DIFF_CHANGED,
	DIFF_POSSIBLE, /* its own interval leaves 0 out, but so do 5 of 100 by chance */
	DIFF_SAME,     /* not distinguishable */
};

struct diff_options {
	struct profile_filter filter; /* event NULL: the first of A */
	enum profile_by by;	      /* not by thread */
	bool by_total;
	bool force;	      /* compare although the fingerprints forbid it */
	bool without_samples; /* neither run need have any: then there are no rows */
};

/* Shares are fractions, costs weights per execution: NAN when they cannot be known. */
struct diff_row {
	const char *name, *module, *file; /* as in B, or in A when only it has the row */
	uint32_t line, flags;
	uint64_t a_samples, b_samples;
	double a_share, b_share, change, change_low, change_high;
	double a_cost, b_cost, cost_change, cost_low, cost_high;
	double p; /* of no change in share, before Holm */
	enum diff_verdict verdict;
	bool cost_changed; /* the interval of its cost leaves 0 out */
};

struct diff_side {
	struct profile_quality quality;
	const char *event; /* "": it has no name */
	double trials;	   /* samples, or fewer when their weights differ: (sum w)^2 / sum w^2 */
	double cost;	   /* of everything, per execution */
	uint32_t executions;
};

struct diff_view {
	enum profile_by by;
	bool by_total;
	struct diff_side a, b;
	const char *unit;	      /* of a cost */
	const char *cost_reason;      /* why there is none, or NULL */
	vec_of(struct diff_row) rows; /* changed, possible, same; each by |change| */
	uint32_t counts[3];	      /* rows by verdict */
	uint32_t tested;	      /* rows with samples enough to tell anything */
	struct fingerprint_comparison machines;
	bool machines_known; /* both runs have a fingerprint */
	bool has_samples;    /* false: there was nothing to make rows of */
	/* Why the two cannot be compared, one sentence each; then there are no rows. */
	vec_of(const char *) refusals;
	struct arena texts;
};

/* -EINVAL for what profile_samples_take() refuses, and when neither run has samples. */
int diff_profile_make(const struct run *a, const struct run *b, const struct diff_options *options,
	struct diff_view *ret_view, struct err *err);
void diff_profile_done(struct diff_view *view);
#define diff_profile_auto __attribute__((cleanup(diff_profile_done)))

/* "changed", "possible", "same". */
const char *diff_verdict_name(enum diff_verdict verdict);
