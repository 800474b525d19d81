/* summary.h - what one series of measurements says, and how far that can be trusted.
 *
 * Does: describe the values with their intervals, and say what a single number would hide (warm-up,
 * wild runs, two modes, memory between runs).  Does not: leave anything out; what is far off is
 * counted, and the steady numbers stand beside the inclusive ones.
 * Pure; owns nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/interval.h"
#include "base/shape.h"

enum {
	SUMMARY_P50,
	SUMMARY_P75,
	SUMMARY_P90,
	SUMMARY_P95,
	SUMMARY_P99,
	SUMMARY_PERCENTILES = 7, /* and 99.9, 99.99 */
};

struct summary_percentile {
	double share;
	double value;		  /* by nearest rank: a value that was seen */
	struct interval interval; /* two-sided 95 %; infinite where there is no bound */
	double upper;		  /* one-sided 95 %: it is not above this; infinite: no bound */
	bool worst_of_all; /* no upper bound: show "at least `max`, the worst of n" instead */
	uint64_t needed;   /* values that an upper bound takes */
};

/* How much the values vary, by their coefficient of variation. */
enum summary_spread {
	SUMMARY_SPREAD_UNKNOWN = 0, /* fewer than two values, or a mean of 0 */
	SUMMARY_SPREAD_TIGHT,	    /* up to 3 % */
	SUMMARY_SPREAD_USUAL,	    /* up to 10 % */
	SUMMARY_SPREAD_WIDE,	    /* up to 30 % */
	SUMMARY_SPREAD_WILD,
};

struct summary {
	size_t count;
	double min, max, mean, deviation, variation, mad, iqr;
	double median;
	struct interval median_interval; /* widened when runs resemble their neighbours */
	struct summary_percentile percentiles[SUMMARY_PERCENTILES];
	enum summary_spread spread;
	double autocorrelation, effective_count;
	size_t warm_after;   /* values at the start that are not settled yet */
	size_t far, extreme; /* beyond 3 and beyond 10 robust deviations (not in far) */
	size_t steady_count; /* settled and within 3 robust deviations */
	double steady_median, steady_mean;
	struct shape_valley modes;
};

/* Summarise values in the order of measurement, which are overwritten.  -EINVAL for one that is not
 * finite; no values give a summary of NANs. */
int summary_make(double *values, size_t count, struct summary *ret_summary, struct err *err);
