/* fit.h - least squares with coefficients that cannot be negative, for up to three columns.
 *
 * Pure; numbers must be finite. */
#pragma once

#include <stddef.h>

#define FIT_COLUMNS_MAX 3

/* Find coefficients >= 0 that bring the sum of `columns` times them closest to `target`.  Column k
 * begins at columns[k * rows].  Returns the sum of squared residuals; columns that others explain
 * get 0. */
double fit_nonnegative(const double *columns, size_t column_count, const double *target,
	size_t rows, double *ret_coefficients);
