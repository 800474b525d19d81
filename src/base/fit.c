/* fit.c - see fit.h.
 *
 * The answer with signs is the plain answer on the columns it really uses, so for three columns the
 * eight choices are tried, and the best one without a negative coefficient is taken.  Each is
 * solved by orthogonalising the columns (modified Gram-Schmidt), which keeps twice the digits that
 * the normal equations would. */
#include "base/fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

static double dot(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* a -= factor * b */
static void subtract(double *a, const double *b, double factor, size_t count)
{
	for (size_t i = 0; i < count; i++)
		a[i] -= factor * b[i];
}

/* One choice of columns being solved. */
struct fit_choice {
	double *work; /* orthogonal columns, then what is left of the target */
	double upper[FIT_COLUMNS_MAX][FIT_COLUMNS_MAX]; /* column k = sum of upper[j][k] * work j */
	double along[FIT_COLUMNS_MAX];			/* the target along work j */
	size_t count, rows;
};

/* Add a column to the choice; false when those before explain it. */
static bool choice_add(struct fit_choice *choice, const double *column)
{
	size_t k = choice->count++, rows = choice->rows;
	double *own = choice->work + k * rows, *rest = choice->work + FIT_COLUMNS_MAX * rows, norm;

	memcpy(own, column, rows * sizeof(*own));
	for (size_t j = 0; j < k; j++) {
		const double *other = choice->work + j * rows;

		choice->upper[j][k] = dot(other, own, rows);
		subtract(own, other, choice->upper[j][k], rows);
	}
	norm = sqrt(dot(own, own, rows));
	choice->upper[k][k] = norm;
	if (norm <= 1e-12 * sqrt(dot(column, column, rows)))
		return false;
	for (size_t i = 0; i < rows; i++)
		own[i] /= norm;
	choice->along[k] = dot(own, rest, rows);
	subtract(rest, own, choice->along[k], rows);
	return true;
}

/* Coefficients of the chosen columns; false when one is negative. */
static bool choice_solve(const struct fit_choice *choice, double *ret_each)
{
	for (size_t k = choice->count; k-- > 0;) {
		double sum = choice->along[k];

		for (size_t j = k + 1; j < choice->count; j++)
			sum -= choice->upper[k][j] * ret_each[j];
		ret_each[k] = sum / choice->upper[k][k];
		if (ret_each[k] < 0)
			return false;
	}
	return true;
}

double fit_nonnegative(const double *columns, size_t column_count, const double *target,
	size_t rows, double *ret_coefficients)
{
	mem_auto double *work = mem_new((FIT_COLUMNS_MAX + 1) * rows, sizeof(*work));
	double best = dot(target, target, rows), *rest = work + FIT_COLUMNS_MAX * rows;

	memset(ret_coefficients, 0, column_count * sizeof(*ret_coefficients));
	for (unsigned mask = 1; mask < 1U << column_count; mask++) {
		struct fit_choice choice = {.work = work, .rows = rows};
		double each[FIT_COLUMNS_MAX] = {0}, squares;
		bool good = true;

		memcpy(rest, target, rows * sizeof(*rest));
		for (size_t k = 0; k < column_count && good; k++)
			if (mask & 1U << k)
				good = choice_add(&choice, columns + k * rows);
		squares = dot(rest, rest, rows);
		if (!good || squares >= best || !choice_solve(&choice, each))
			continue;
		best = squares;
		for (size_t k = 0, used = 0; k < column_count; k++)
			ret_coefficients[k] = mask & 1U << k ? each[used++] : 0;
	}
	return best;
}
