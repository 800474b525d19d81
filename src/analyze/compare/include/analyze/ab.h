/* ab.h - A against B: what the pairs say, what they were disturbed by, and what may be claimed.
 *
 * Pure.  Wall and CPU time decide, as one family, and wall time without what other programs took
 * where that is known and much (bench_time_measure); peak memory and page faults are judged beside
 * them, as another, and decide nothing: a change there is told.  Nothing is thrown away: pairs of
 * which one side was disturbed stay in, and the verdict without them is shown where it differs.
 * Owns: everything is in the caller's arena; texts are the run's. */
#pragma once

#include "analyze/bench.h"
#include "analyze/compare.h"

struct binary_facts;
struct stat_view;

/* AB_WALL is corrected wall time where bench_time_measure() says so; then AB_PLAIN_WALL is judged
 * beside it, and decides nothing. */
enum ab_metric { AB_WALL, AB_CPU, AB_MEMORY, AB_FAULTS, AB_PLAIN_WALL, AB_METRICS };

/* What hit one side of a pair and not the other, by the runs' own medians. */
enum ab_disturbance {
	AB_CALM = 0,
	AB_STEAL,    /* the host took the CPU */
	AB_PRESSURE, /* tasks queued for the CPUs */
	AB_PUSHED,   /* it was pushed off the CPU far more often */
	AB_DISTURBANCES,
};

const char *ab_disturbance_text(enum ab_disturbance disturbance);

/* On the 95th percentile of wall time; B's over A's. */
enum ab_tier {
	AB_TIER_UNKNOWN = 0,
	AB_BELOW_PARITY,     /* more than 1.25 times as long */
	AB_PARITY_TO_MARGIN, /* up to 1.25 times as long */
	AB_HEALTHY_MARGIN,   /* A takes at least 1.10 times as long */
};

const char *ab_tier_name(enum ab_tier tier); /* "HealthyMargin" */

/* What a claim made of this comparison suffers from. */
enum {
	AB_WEAK_FEW = 1,	 /* fewer than 20 pairs */
	AB_WEAK_SPREAD = 2,	 /* the deciding metric varies by more than 10 % */
	AB_WEAK_TAIL = 4,	 /* p95 is the worst run seen */
	AB_WEAK_UNCONFIRMED = 8, /* wall time does not show it */
	AB_WEAK_DEPENDENT = 16,	 /* pairs resemble their neighbours */
	AB_WEAK_WIDE = 32,	 /* the interval is wider than the effect */
	AB_WEAK_DISTURBED = 64,	 /* another verdict without the disturbed pairs */
	AB_WEAK_UNEVEN = 128,	 /* one side varies more than twice as much as the other */
	AB_WEAKNESSES = 8,
};

const char *ab_weakness_text(unsigned bit); /* of 1 << bit */

struct ab_view {
	const struct bench_command *a, *b;
	struct bench_pair *pairs;
	enum ab_disturbance *disturbed; /* one per pair */
	uint32_t pair_count;
	struct comparison metrics[AB_METRICS]; /* the deciding ones first */
	uint32_t metric_count, deciding_count;
	bool corrected;	   /* the first is corrected wall time */
	bool cpu_is_known; /* false: below the kernel's accounting, not judged */
	struct compare_verdict verdict;
	uint64_t pair_ns;    /* what a pair takes, with all that stands between the runs */
	uint64_t more_pairs; /* when inconclusive, about; 0: not known */

	uint32_t disturbed_count, disturbances[AB_DISTURBANCES];
	struct comparison calm_metrics[AB_METRICS]; /* without the disturbed pairs */
	struct compare_verdict calm_verdict;
	bool calm_differs;		      /* another outcome without them, and not because
					       * they are fewer */
	uint32_t leftovers_a, leftovers_b;    /* runs that left processes behind */
	double contested_low, contested_high; /* share of the time that tasks queued for the CPUs,
					       * 10th and 90th percentile; NAN: not known */
	bool load_changed;		      /* other work came or went meanwhile */

	double tail_ratio; /* of the 95th percentiles */
	enum ab_tier tier;
	unsigned weaknesses; /* AB_WEAK_* */
};

/* The first two commands of `view`. */
int ab_view_make(const struct bench_view *view, const struct compare_rule *rule,
	struct arena *arena, struct ab_view *ret_ab, struct err *err);

/* Two changes one after the other: their ratios are multiplied, never added. */
double ab_compound(double before, double effect);

/* The metric of this name, NULL: not judged. */
const struct comparison *ab_metric_named(const struct ab_view *ab, const char *name);

/* May measuring stop on a verdict?  A regression is one whatever else comes; otherwise each
 * deciding metric must be settled. */
bool ab_is_settled(const struct ab_view *ab);

/* May it stop because wall time shows the change, and CPU time at least does not lean the other
 * way: enough where more pairs take long. */
bool ab_is_confirmed(const struct ab_view *ab);

/* May it stop because more pairs would tell nothing new: every deciding metric is equivalent, or
 * its interval is narrow.  This looks for no change, so it may be asked as often as one likes. */
bool ab_is_narrow(const struct ab_view *ab);

/* How two programs were built, where that alone would explain a difference in speed. */
struct ab_build_difference {
	const char *what; /* "optimisation" */
	const char *a, *b;
};

enum { AB_BUILD_DIFFERENCES = 5 };

/* Returns how many were found. */
uint32_t ab_builds_differ(const struct binary_facts *a, const struct binary_facts *b,
	struct ab_build_difference *ret_differences);

/* Medians of one side; NAN: not measured. */
struct ab_side {
	double cpu_ns, system_share, faults, waits, pushes;
	double instructions, cycles, branch_misses, cache_misses;
};

enum ab_cause {
	AB_CAUSE_NONE = 0, /* nothing that was counted moved */
	AB_CAUSE_WORK,	   /* instructions */
	AB_CAUSE_STALLS,   /* instructions per cycle */
	AB_CAUSE_BOTH,
	AB_CAUSE_CLOCK,	  /* cycles are the same: the clock rate, or waiting */
	AB_CAUSE_SYSTEM,  /* no hardware counters: what the kernel counts moved */
	AB_CAUSE_UNKNOWN, /* no hardware counters, and nothing the kernel counts moved */
};

const char *ab_cause_name(enum ab_cause cause); /* "instructions" */

struct ab_explanation {
	enum ab_cause cause;
	double cycles, instructions; /* B over A minus 1; NAN: not counted */
	double ipc_a, ipc_b;
	double instructions_share; /* of the change of the cycles' logarithm */
	const char *stall;	   /* the event that explains most of the stalls; NULL: none */
	double stall_share;	   /* about, of the cycles that the stalls cost */
	const char *text;	   /* all this as a sentence */
};

/* What the kernel counts of each run anyway. */
struct ab_side ab_side_of(const struct bench_command *command);

/* What was counted in runs of their own. */
void ab_side_add_events(struct ab_side *side, const struct stat_view *counted);

struct ab_explanation ab_explain(
	const struct ab_side *a, const struct ab_side *b, struct arena *arena);
