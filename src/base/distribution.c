/* distribution.c - see distribution.h.
 *
 * Everything comes from erfc() and lgamma() of the libc and one continued fraction (DLMF 8.17.22).
 * Quantiles are found by search, not by fitted polynomials: a few microseconds each, and no table
 * of constants to get wrong. */
#include "base/distribution.h"

#include <math.h>

double normal_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

double normal_quantile(double share)
{
	double tail = share < 0.5 ? share : 1 - share, root, z;

	if (!(share >= 0 && share <= 1))
		return (double)NAN;
	if (tail == 0)
		return share < 0.5 ? (double)-INFINITY : (double)INFINITY;
	/* Good to 0.003 (Abramowitz and Stegun 26.2.22); each step of Halley triples the digits. */
	root = sqrt(-2 * log(tail));
	z = (2.30753 + 0.27061 * root) / (1 + root * (0.99229 + 0.04481 * root)) - root;
	for (int step = 0; step < 3; step++) {
		double off = (normal_cdf(z) - tail) * sqrt(2 * M_PI) * exp(z * z / 2);

		z -= off / (1 + z * off / 2);
	}
	return share < 0.5 ? z : -z;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign); /* lgamma() writes a global */
}

/* One step of Lentz's method: `term` is the next partial numerator; the denominators are 1. */
static double fraction_step(double term, double *over, double *under)
{
	const double tiny = 1e-300; /* instead of a division by 0 */

	*under = 1 + term * *under;
	*under = 1 / (fabs(*under) < tiny ? tiny : *under);
	*over = 1 + term / *over;
	if (fabs(*over) < tiny)
		*over = tiny;
	return *over * *under;
}

/* The continued fraction of I_x(a, b); needs about sqrt(max(a, b)) terms left of the mean. */
static double beta_fraction(double x, double a, double b)
{
	double under = 0, over = 1, value = fraction_step(-(a + b) * x / (a + 1), &over, &under);

	for (int m = 1; m < 100000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		value *= fraction_step(even, &over, &under);
		step = fraction_step(odd, &over, &under);
		value *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return 1 / value;
}

double beta_cdf(double x, double a, double b)
{
	double front;

	if (!(a > 0 && b > 0) || isnan(x))
		return (double)NAN;
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double beta_quantile(double share, double a, double b)
{
	double lo = 0, hi = 1;

	if (!(share >= 0 && share <= 1) || !(a > 0 && b > 0))
		return (double)NAN;
	if (share == 0 || share == 1)
		return share;
	for (;;) { /* until no double lies between; some 60 rounds, more only for tiny answers */
		double middle = lo + (hi - lo) / 2;

		if (middle <= lo || middle >= hi)
			return middle;
		if (beta_cdf(middle, a, b) < share)
			lo = middle;
		else
			hi = middle;
	}
}

double binomial_cdf(uint64_t successes, uint64_t trials, double share)
{
	if (!(share >= 0 && share <= 1))
		return (double)NAN;
	if (successes >= trials)
		return 1;
	return beta_cdf(1 - share, (double)(trials - successes), (double)successes + 1);
}

double student_both_tails(double t, double degrees)
{
	if (isinf(t))
		return 0;
	return beta_cdf(degrees / (degrees + t * t), degrees / 2, 0.5);
}

/* Newton's method from the left, where the normal distribution begins: the tails are convex, so it
 * never steps over the answer.  4 to 40 steps, where halving the doubles took 60. */
double student_quantile(double tails, double degrees)
{
	double height =
		exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) * sqrt(4 / (degrees * M_PI));
	double t = -normal_quantile(tails / 2), step = t;

	if (!(tails >= 0 && tails <= 1) || !(degrees > 0))
		return (double)NAN;
	for (unsigned i = 0; i < 200 && tails > 0 && fabs(step) > 1e-15 * t; i++) {
		double slope = height * pow(1 + t * t / degrees, -(degrees + 1) / 2);

		step = (student_both_tails(t, degrees) - tails) / slope;
		t += step;
	}
	return t;
}
