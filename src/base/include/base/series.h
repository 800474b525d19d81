/* series.h - what only the order of the values shows: memory and warm-up.
 *
 * Pure; values in the order of measurement, finite. */
#pragma once

#include <stddef.h>

/* Above this, neighbours resemble each other enough to make intervals too narrow. */
#define SERIES_DEPENDENT 0.3

/* Correlation of each value with the next one, -1..1; NAN below 3 values or when all are equal.
 * Of n independent values it is about -1/n, give or take 1/sqrt(n). */
double series_autocorrelation(const double *values, size_t count);

/* How many independent values these are worth: count * (1 - r) / (1 + r) when the
 * autocorrelation r is above SERIES_DEPENDENT, else `count`; at least 1. */
double series_effective_count(size_t count, double autocorrelation);

/* How many values at the start differ from the settled rest and are better left out: 0 .. count
 * / 2. Slow and fast starts alike.  0 below 8 values, where nothing can be told. */
size_t series_warm_after(const double *values, size_t count);
