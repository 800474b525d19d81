/* shift.c - see shift.h.
 *
 * Between two samples of 1000 there are a million differences, of 100,000 runs 1e10: too many to
 * sort.  They are sums of two sorted arrays, and how many sums are at most t is counted in one walk
 * with two fingers.  The walk also meets the sums on both sides of t, so a search over t moves from
 * sum to sum and ends with exactly the one that sorting would give (rounding keeps order).
 *
 * Which of them are the bounds follows from the sum of the ranks of one sample among both: in how
 * many splits it has each value is counted by dynamic programming, in doubles, which hold the
 * 1.3e14 splits of 50 values exactly. */
#include "base/shift.h"

#include <math.h>
#include <string.h>

#include "base/distribution.h"
#include "base/mem.h"

#define EXACT_LIMIT 25 /* values a side; beyond, the normal distribution is close enough */

/* All left[i] + right[j]. */
struct sums {
	const double *left, *right; /* ascending */
	size_t rows, columns;
	uint64_t total;
};

/* b - a, with a copy of `a` turned around and negated. */
static struct sums sums_of_differences(
	const double *negated, size_t a_count, const double *b, size_t b_count)
{
	return (struct sums){
		.left = negated,
		.right = b,
		.rows = a_count,
		.columns = b_count,
		.total = (uint64_t)a_count * b_count,
	};
}

static double sum_at(const struct sums *sums, size_t i, size_t j)
{
	return sums->left[i] + sums->right[j];
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
		while (end > 0 && sum_at(sums, i, end - 1) > limit)
			end--;
		if (end > 0 && sum_at(sums, i, end - 1) > look.last)
			look.last = sum_at(sums, i, end - 1);
		if (end < sums->columns && sum_at(sums, i, end) < look.next)
			look.next = sum_at(sums, i, end);
		look.count += end;
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

/* In how many choices of `picked` of the ranks 1 to `count` they have each sum, 0 to `top`; the
 * last row of the table comes first.  Free with free(). */
static double *split_ways(size_t count, size_t picked, size_t top)
{
	size_t width = top + 1;
	double *table = mem_new((picked + 1) * width, sizeof(*table));

	table[0] = 1;
	for (size_t rank = 1; rank <= count; rank++)
		for (size_t row = picked; row > 0; row--) /* downwards: each rank once */
			for (size_t sum = top; sum >= rank; sum--)
				table[row * width + sum] += table[(row - 1) * width + sum - rank];
	memcpy(table, table + picked * width, width * sizeof(*table));
	return table;
}

/* How many sums from `lowest` on have a lower tail of at most `tail`, less one. */
static int64_t ways_cut(const double *ways, size_t top, size_t lowest, double tail)
{
	double total = 0, below = 0;
	int64_t cut = -1;

	for (size_t sum = lowest; sum <= top; sum++)
		total += ways[sum];
	for (size_t sum = lowest; sum <= top; sum++) {
		below += ways[sum];
		if (below > tail * total)
			break;
		cut++;
	}
	return cut;
}

static int64_t normal_cut(double mean, double variance, double confidence)
{
	double cut = floor(mean - normal_quantile((1 + confidence) / 2) * sqrt(variance));

	return cut > 0 ? (int64_t)cut : 0;
}

int64_t rank_sum_cut(size_t a_count, size_t b_count, double confidence)
{
	double product = (double)a_count * (double)b_count, n = (double)a_count + (double)b_count;
	size_t picked = a_count < b_count ? a_count : b_count, count = a_count + b_count;
	size_t top = count * (count + 1) / 2;
	mem_auto double *ways = NULL;

	if (!picked)
		return -1;
	if (a_count > EXACT_LIMIT || b_count > EXACT_LIMIT)
		return normal_cut(product / 2, product * (n + 1) / 12, confidence);
	ways = split_ways(count, picked, top);
	return ways_cut(ways, top, picked * (picked + 1) / 2, (1 - confidence) / 2);
}

static struct shift shift_unknown(void)
{
	return (struct shift){(double)NAN, (double)-INFINITY, (double)INFINITY};
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
