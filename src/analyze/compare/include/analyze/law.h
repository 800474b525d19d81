/* law.h - how time grows with size, and how throughput grows with threads.
 *
 * Does: fit t = a + b f(n) for five laws with a, b >= 0, choose one by AICc, and say whether any
 * growth was seen at all; fit the universal scalability law.  Does not: measure, print.
 * Residuals are relative: a point of 1 s does not outweigh one of 1 ms.  Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum law {
	LAW_CONSTANT,
	LAW_LOG,
	LAW_LINEAR,
	LAW_LINEAR_LOG,
	LAW_SQUARE,
	LAW_COUNT,
};

/* "O(1)", "O(log n)" ... */
const char *law_name(enum law law);

/* The time that a law with these coefficients says for size n. */
double law_time(enum law law, double a, double b, double n);

struct law_line {
	double a, b;	 /* in the unit of the times */
	double residual; /* sum of squared relative residuals */
	double aicc;
	double weight;	 /* share of belief among the five, 0..1 */
	double growth_p; /* chance of such a fit when b is 0; 1 for LAW_CONSTANT */
};

struct law_fit {
	struct law_line lines[LAW_COUNT];
	enum law best;
	/* AICc preferred a growing law, but its growth is not beyond chance (p >= 0.01). */
	bool growth_unproven;
	double slope, slope_lo, slope_hi; /* of ln t over ln n, with its 95 % interval */
	size_t count;			  /* measurements */
};

/* Fit `count` measurements; the same size may come several times.  Sizes are at least 1, times
 * above 0.  -EINVAL below 5 measurements or 3 sizes, where no law can be told from another. */
int law_fit(const double *sizes, const double *times, size_t count, struct law_fit *ret_fit,
	struct err *err);

struct law_threads {
	double rate_of_one; /* throughput of one thread, fitted */
	double contention;  /* sigma: share of the work that queues up */
	double coherency;   /* kappa: cost of agreement, per pair of threads */
	double peak;	    /* threads at the best throughput; INFINITY: it goes on growing */
	double deviation; /* of the relative residuals; NAN when there are no more points than 3 */
};

/* Fit throughputs (work per time) of `count` runs by threads.  -EINVAL below 3 thread counts. */
int law_fit_threads(const double *threads, const double *rates, size_t count,
	struct law_threads *ret_fit, struct err *err);
