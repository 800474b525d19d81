/* compare.h - is B slower than A, faster, the same, or is it too early to say?
 *
 * Does: judge pairs of measurements (A and B measured in turns) by the logarithm of their ratio:
 * a change is called only when Wilcoxon's signed rank test finds it (p < alpha) AND its size, the
 * Hodges-Lehmann estimate, is above the smallest effect that matters; "equivalent" only when its
 * whole interval is below that.  A few runs that are plainly apart need no ten pairs: see
 * `plain`.  Several metrics are judged as one family, growing data may be
 * looked at several times.
 * Does not: measure, decide whether two machines may be compared.
 * More is worse in every metric; give a rate as its inverse.  Pure; owns nothing, names are
 * borrowed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#define COMPARE_BATCH 10      /* pairs between two looks, at least */
#define COMPARE_LOOKS_MAX 6   /* what compare_alpha() is made for */
#define COMPARE_PAIRS_MIN 6   /* below, no p can be under 0.05 and no interval is finite */
#define COMPARE_PLAIN_PAIRS 3 /* from here on a change is plain if all metrics show it, */
#define COMPARE_PLAIN_ALONE 4 /* from here on if one does, */
#define COMPARE_PLAIN_RUNS 2  /* and of two separate samples from here on */
#define COMPARE_PAIRS_GOOD 20 /* to ask for when nothing is known yet */

/* Zero means default. */
struct compare_rule {
	double alpha;	   /* compare_alpha() */
	double min_effect; /* 0.01, a fraction; for COMPARE_COUNT any change */
	double noise_iqr;  /* of A against A in this benchmark's history; the effect asked for is at
			    * least twice that */
	double confidence; /* 0.95 */
	unsigned looks;	   /* planned looks at the growing data: 1 */
	bool ranks_only;   /* a few runs decide nothing, however far apart they are */
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
	/* Every run of one side is beyond every run of the other, by more than either side varies
	 * and by far.  With fewer than COMPARE_BATCH runs p is then Student's, and so is an
	 * interval that the ranks of so few do not give. */
	bool plain;
	size_t a_count, b_count;
	double median_a, median_b;
	double effect, lo, hi; /* B over A minus 1, with its interval; infinite: no bound */
	double p, adjusted_p;  /* adjusted: compare_family() */
	double rank_p;	       /* what the ranks alone say */
	double alpha, min_effect;
	double autocorrelation; /* of the log ratios, or the larger one of A and B; NAN: not known
				 */
	double effective_count; /* what the pairs are worth; the interval is widened by it */
	double detectable;	/* half the interval: smaller effects cannot be seen yet */
	uint64_t pairs_needed;	/* when inconclusive, about; 0: not known */
	struct shift log_ratio; /* the same in natural logarithms, as judged */
};

const char *compare_outcome_name(enum compare_outcome outcome);

/* The p to stay under: 0.01, and 0.005 for several looks: with wall and CPU time judged as one
 * family the whole of them then gives a false alarm in less than 3 of 100 cases. */
double compare_alpha(unsigned looks);

/* After how many pairs a change is looked for when at most `pairs_max` will be measured: 10, then
 * in equal steps of the logarithm; the look at the end is one of COMPARE_LOOKS_MAX too. */
struct compare_plan {
	size_t at[COMPARE_LOOKS_MAX - 1];
};

struct compare_plan compare_plan_make(size_t pairs_max);
bool compare_plan_looks_at(const struct compare_plan *plan, size_t pairs);

/* Judge pairs.  -EINVAL for values that are not finite, or not above 0 on one side only (no ratio
 * exists), or unequal counts.  No pairs at all are inconclusive, not an error. */
int compare_pairs(const struct compare_input *input, const struct compare_rule *rule,
	struct comparison *ret_comparison, struct err *err);

/* Judge two separate samples, such as a stored baseline: rank sum test, at most advisory. */
int compare_samples(const struct compare_input *input, const struct compare_rule *rule,
	struct comparison *ret_comparison, struct err *err);

/* Fewer than COMPARE_PLAIN_ALONE pairs are plain only when all of these say so, in one direction:
 * load that comes and goes hits wall time, and hardly CPU time. */
void compare_plain_together(struct comparison *items, size_t count);

/* Correct for having judged several (Holm) and judge again. */
void compare_family(struct comparison *items, size_t count);

/* What the effect and its interval say, whatever the test: regressed or improved when the effect
 * matters and the interval leaves out 0, else inconclusive. */
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
