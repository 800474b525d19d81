/* compare.h - is B slower than A, faster, the same, or is it too early to say?
 *
 * Does: judge pairs of measurements (A and B measured in turns) by the logarithm of their ratio.
 * One pivot (base/centre.h) gives the effect, p and the interval: a change is called when p <
 * alpha, which is when the interval shown excludes 0, AND the effect is above the smallest one that
 * matters; "equivalent" when the interval of 95 % is within that.  Several metrics are judged as
 * one family, growing data may be looked at several times.
 * Does not: measure, decide whether two machines may be compared.
 * More is worse in every metric; give a rate as its inverse.  Pure; owns nothing, names are
 * borrowed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/centre.h"
#include "base/err.h"
#include "base/shift.h"

enum compare_kind {
	COMPARE_OTHER = 0,
	COMPARE_CPU,   /* time on the CPU: quiet, and blind to waiting */
	COMPARE_WALL,  /* what a user waits for; noisy, neighbours resemble each other */
	COMPARE_COUNT, /* when it never varies on either side, the numbers themselves decide */
};

enum compare_outcome {
	COMPARE_INCONCLUSIVE = 0,
	COMPARE_EQUIVALENT,
	COMPARE_IMPROVED,
	COMPARE_REGRESSED,
};
bool compare_has_moved(enum compare_outcome outcome); /* up or down */

/* Two values or more, all the same. */
bool compare_never_varies(const double *values, size_t count);

/* The p to stay under, of all metrics together at each look.  Wall and CPU time, looked at once,
 * then give a false alarm in at most 2 of 100 cases, and looked at six times in at most 5;
 * measured: docs/decisions/027-one-method.md. */
#define COMPARE_ALPHA 0.01

#define COMPARE_BATCH 10      /* pairs before the first look, where they are short */
#define COMPARE_LOOKS_MAX 6   /* what COMPARE_ALPHA is made for */
#define COMPARE_PAIRS_MIN 3   /* two decide nothing: tossed coins would be wrong in 1 of 8 */
#define COMPARE_RUNS_GOOD 6   /* to ask for of each of two sessions */
#define COMPARE_PAIRS_GOOD 20 /* to ask for when nothing is known yet */

/* Zero means default. */
struct compare_rule {
	double alpha;	   /* COMPARE_ALPHA */
	double min_effect; /* 0.01, a fraction; for COMPARE_COUNT any change */
	double noise_iqr;  /* of A against A in this benchmark's history; the effect asked for is at
			    * least twice that */
	double confidence; /* of the interval that says "equivalent": 0.95 */
	double session;	   /* how far two sessions of one program differ by themselves, a deviation
			    * of the logarithm; 0: not at all */
};

struct compare_input {
	const char *name;
	enum compare_kind kind;
	const double *a, *b;
	size_t a_count, b_count; /* pairs: equal */
};

struct comparison {
	const char *name;
	enum compare_kind kind;
	enum compare_outcome outcome;
	bool advisory; /* not paired: what changed between the two sessions is in it too */
	bool constant; /* a count that never varied: no test was needed */
	bool plain;    /* every run of one side is beyond every run of the other, by more than
			* either side varies and by far; says what it looks like, decides nothing */
	size_t a_count, b_count;
	double median_a, median_b;
	double effect, lo, hi; /* B over A minus 1, with its interval; infinite: no bound */
	double confidence;     /* of that interval: what decided, see compare_family() */
	double p, adjusted_p;  /* adjusted: compare_family() */
	double alpha, min_effect;
	double correction;	/* adjusted_p = correction * p */
	double same_confidence; /* of the interval that says "equivalent" */
	double autocorrelation; /* of the log ratios, or the larger one of A and B; NAN: not known
				 */
	double effective_count; /* what the pairs are worth; the error grows by it */
	double detectable;	/* half the interval: smaller effects cannot be seen yet */
	uint64_t pairs_needed;	/* when inconclusive, about; 0: not known */
	struct centre centre;	/* of the natural logarithms: all of the above is read from it */
	struct shift log_ratio; /* effect, lo, hi in natural logarithms */
};

const char *compare_outcome_name(enum compare_outcome outcome);

/* After how many pairs a change is looked for when at most `pairs_max` will be measured: after
 * `first`, then in equal steps of the logarithm; the look at the end is one of COMPARE_LOOKS_MAX
 * too. */
struct compare_plan {
	size_t at[COMPARE_LOOKS_MAX - 1];
};

struct compare_plan compare_plan_make(size_t first, size_t pairs_max);
bool compare_plan_looks_at(const struct compare_plan *plan, size_t pairs);

/* Judge pairs.  -EINVAL for values that are not finite, or not above 0 on one side only (no ratio
 * exists), or unequal counts.  No pairs at all are inconclusive, not an error. */
int compare_pairs(const struct compare_input *input, const struct compare_rule *rule,
	struct comparison *ret_comparison, struct err *err);

/* Judge two separate samples, such as a stored baseline: by the same pivot, at most advisory.
 * Two runs on one side and six in all are the fewest. */
int compare_samples(const struct compare_input *input, const struct compare_rule *rule,
	struct comparison *ret_comparison, struct err *err);

/* Judge again as one family (Bonferroni): p grows with the number of metrics, and the intervals
 * with it. */
void compare_family(struct comparison *items, size_t count);

/* Fill in effect, lo and hi by the interval of another confidence; the outcome stays. */
void compare_show(struct comparison *comparison, double confidence);

/* Where it leans: regressed or improved when the effect matters and the interval of 95 % excludes
 * 0, else inconclusive.  No verdict. */
enum compare_outcome compare_points_to(const struct comparison *comparison);

/* Is its interval so narrow, half the smallest effect to each side, that more pairs would tell
 * nothing new?  Says nothing about the outcome. */
bool compare_is_narrow(const struct comparison *comparison);

/* May measuring stop: an outcome, or an interval so narrow that more pairs would not change it. */
bool compare_is_settled(const struct comparison *comparison);

enum compare_note {
	COMPARE_NOTE_NONE = 0,
	COMPARE_NOTE_WALL_ONLY,	   /* the change is off the CPU */
	COMPARE_NOTE_CPU_ONLY,	   /* CPU time moved, wall time is the same */
	COMPARE_NOTE_NO_WALL,	   /* CPU time moved, wall time is too noisy to confirm it */
	COMPARE_NOTE_WALL_UNKNOWN, /* CPU time is the same, wall time is too noisy to tell */
	COMPARE_NOTE_OPPOSED,	   /* one got better, the other worse */
};

struct compare_verdict {
	enum compare_outcome outcome;
	const struct comparison *by; /* the metric that decided; NULL without metrics */
	bool confirmed;		     /* a change that wall time shows too */
	bool advisory;
	enum compare_note note;
};

/* One verdict of all metrics: regressed when one is, else improved when one is, equivalent when all
 * are. */
struct compare_verdict compare_decide(const struct comparison *items, size_t count);

/* One sentence on what the note means and where to look next; "" for none. */
const char *compare_note_text(enum compare_note note);
