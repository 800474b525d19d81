/* shift.c - see shift.h.
 *
 * Of 1000 pairs there are 500,500 averages, of 100,000 runs 5e9: too many to sort.  Averages and
 * differences are both sums of two sorted arrays, and how many sums are at most t is counted in one
 * walk with two fingers.  The walk also meets the sums on both sides of t, so a search over t
 * moves from sum to sum and ends with exactly the one that sorting would give (rounding keeps
 * order).  Some 20 walks find one of 5e9. */
#include "base/shift.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rank_test.h"

/* All (left[i] + right[j]) of `share` of each; in a triangle only those with i <= j. */
struct sums {
	const double *left, *right; /* ascending */
	double share;
	size_t rows, columns;
	bool triangle;
	uint64_t total;
};

static struct sums sums_of_averages(const double *sorted, size_t count)
{
	return (struct sums){
		.left = sorted,
		.right = sorted,
		.share = 0.5,
		.rows = count,
		.columns = count,
		.triangle = true,
		.total = (uint64_t)count * (count + 1) / 2,
	};
}

/* b - a, with a copy of `a` turned around and negated. */
static struct sums sums_of_differences(
	const double *negated, size_t a_count, const double *b, size_t b_count)
{
	return (struct sums){
		.left = negated,
		.right = b,
		.share = 1,
		.rows = a_count,
		.columns = b_count,
		.total = (uint64_t)a_count * b_count,
	};
}

static double sum_at(const struct sums *sums, size_t i, size_t j)
{
	return sums->left[i] * sums->share + sums->right[j] * sums->share;
}

/* What one walk sees: how many sums are at most the limit, the last of these, the first beyond. */
struct look {
	uint64_t count;
	double last, next;
};

static struct look sums_look(const struct sums *sums, double limit)
{
	struct look look = {.last = (double)-INFINITY, .next = (double)INFINITY};
	size_t end = sums->columns;

	for (size_t i = 0; i < sums->rows; i++) {
		size_t first = sums->triangle ? i : 0;

		if (end < first)
			end = first;
		while (end > first && sum_at(sums, i, end - 1) > limit)
			end--;
		if (end > first && sum_at(sums, i, end - 1) > look.last)
			look.last = sum_at(sums, i, end - 1);
		if (end < sums->columns && sum_at(sums, i, end) < look.next)
			look.next = sum_at(sums, i, end);
		look.count += end - first;
	}
	return look;
}

/* Doubles in order as whole numbers in order. */
static uint64_t double_to_order(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

static double double_of_order(uint64_t order)
{
	uint64_t bits = order >> 63 ? order & ~(1ULL << 63) : ~order;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* What is known during a search: the sum lies in lo..hi, which are sums themselves. */
struct bracket {
	double lo, hi;
	uint64_t under, upto; /* sums below lo, sums up to hi */
};

/* Where to look next, lo <= limit < hi.  Sums are spread evenly enough over a small bracket to aim
 * by rank, a little to the left and a little to the right of it in turns, so that both ends close
 * in; each third look halves the doubles between, whatever the spread. */
static double bracket_aim(const struct bracket *at, uint64_t rank, unsigned round)
{
	uint64_t low = double_to_order(at->lo), high = double_to_order(at->hi);
	double within = (double)(at->upto - at->under), place, limit;

	if (round % 3 == 2)
		return double_of_order(low + (high - low) / 2);
	place = (double)(rank - at->under) + (round % 3 ? sqrt(within) : -sqrt(within));
	limit = at->lo + (at->hi - at->lo) * fmax(0, fmin(1, place / within));
	return limit >= at->lo && limit < at->hi ? limit : at->lo;
}

/* The `rank`th smallest of all sums. */
static double sums_pick(const struct sums *sums, uint64_t rank)
{
	struct bracket at = {
		.lo = sum_at(sums, 0, 0),
		.hi = sum_at(sums, sums->rows - 1, sums->columns - 1),
		.upto = sums->total,
	};

	for (unsigned round = 0; at.lo < at.hi; round++) {
		struct look look = sums_look(sums, bracket_aim(&at, rank, round));

		if (look.count > rank) {
			at.hi = look.last;
			at.upto = look.count;
		} else {
			at.lo = look.next;
			at.under = look.count;
		}
	}
	return at.lo;
}

/* Median and bounds, `cut` sums given up on each side. */
static struct shift sums_shift(const struct sums *sums, int64_t cut)
{
	struct shift shift = {.lo = (double)-INFINITY, .hi = (double)INFINITY};
	uint64_t half = sums->total / 2;

	shift.estimate = sums_pick(sums, half);
	if (sums->total % 2 == 0) { /* the one before it: smaller, or equal */
		struct look below = sums_look(sums, nextafter(shift.estimate, (double)-INFINITY));

		if (below.count == half)
			shift.estimate = (below.last + shift.estimate) / 2;
	}
	if (cut >= 0) {
		shift.lo = sums_pick(sums, (uint64_t)cut);
		shift.hi = sums_pick(sums, sums->total - 1 - (uint64_t)cut);
	}
	return shift;
}

static struct shift shift_unknown(void)
{
	return (struct shift){(double)NAN, (double)-INFINITY, (double)INFINITY};
}

struct shift shift_of_sorted(const double *sorted, size_t count, double confidence)
{
	struct sums sums = sums_of_averages(sorted, count);

	return count ? sums_shift(&sums, signed_rank_cut(count, confidence)) : shift_unknown();
}

struct shift shift_between_sorted(
	const double *a, size_t a_count, const double *b, size_t b_count, double confidence)
{
	mem_auto double *negated = mem_new(a_count, sizeof(*negated));
	struct sums sums = sums_of_differences(negated, a_count, b, b_count);

	if (!a_count || !b_count)
		return shift_unknown();
	for (size_t i = 0; i < a_count; i++)
		negated[i] = -a[a_count - 1 - i];
	return sums_shift(&sums, rank_sum_cut(a_count, b_count, confidence));
}
