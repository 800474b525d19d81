/* rank_test.c - see rank_test.h.
 *
 * The exact chances are counted by dynamic programming over sums of ranks.  Ranks are doubled, so
 * that midranks of ties are whole numbers too: then ties need no other code, and the chance is the
 * exact one given the ties, where most tools fall back to the normal distribution.  Counts are kept
 * in doubles: 2^25 signs and 1.3e14 splits of 50 values are whole numbers there. */
#include "base/rank_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/distribution.h"
#include "base/mem.h"
#include "base/stats.h"

/* One value among all, and whether it counts for the statistic. */
struct ranked {
	double value;
	bool chosen;
	uint32_t doubled; /* twice its rank, ties sharing the mean of theirs */
};

static int ranked_compare(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* Sort, give ranks; returns the sum of t^3 - t over groups of t equal values. */
static double ranked_order(struct ranked *items, size_t count)
{
	double ties = 0;

	if (count)
		qsort(items, count, sizeof(*items), ranked_compare);
	for (size_t i = 0, end; i < count; i = end) {
		double size;

		for (end = i + 1; end < count && items[end].value == items[i].value;)
			end++;
		for (size_t k = i; k < end; k++)
			items[k].doubled = (uint32_t)(i + end + 1);
		size = (double)(end - i);
		ties += size * size * size - size;
	}
	return ties;
}

/* Doubled sum of the ranks of what was chosen; exact up to 2^53. */
static double ranked_sum(const struct ranked *items, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (items[i].chosen)
			sum += items[i].doubled;
	return sum;
}

/* In how many of the 2^count choices of signs the positive ranks have each doubled sum, 0 to `top`.
 * Free with free(). */
static double *sign_ways(const struct ranked *items, size_t count, size_t top)
{
	double *ways = mem_new(top + 1, sizeof(*ways));

	ways[0] = 1;
	for (size_t i = 0; i < count; i++)
		for (size_t sum = top; sum >= items[i].doubled; sum--)
			ways[sum] += ways[sum - items[i].doubled];
	return ways;
}

/* In how many choices of `picked` of the items their ranks have each doubled sum, 0 to `top`; the
 * last row of the table.  Free with free(). */
static double *split_ways(const struct ranked *items, size_t count, size_t picked, size_t top)
{
	size_t width = top + 1;
	double *table = mem_new((picked + 1) * width, sizeof(*table));

	table[0] = 1;
	for (size_t i = 0; i < count; i++)
		for (size_t row = picked; row > 0; row--) /* downwards: each item once */
			for (size_t sum = top; sum >= items[i].doubled; sum--)
				table[row * width + sum] +=
					table[(row - 1) * width + sum - items[i].doubled];
	for (size_t sum = 0; sum < width && picked; sum++)
		table[sum] = table[picked * width + sum];
	return table;
}

/* Twice the smaller tail that begins at `at`. */
static double ways_both_tails(const double *ways, size_t top, size_t at)
{
	double below = 0, above = 0, tail;

	for (size_t sum = 0; sum <= top; sum++) {
		below += sum <= at ? ways[sum] : 0;
		above += sum >= at ? ways[sum] : 0;
	}
	tail = below < above ? below : above;
	return fmin(1, 2 * tail / (below + above - ways[at]));
}

/* The largest whole rank sum above `lowest` whose lower tail is at most `tail`; -1: none. */
static int64_t ways_cut(const double *ways, size_t top, size_t lowest, double tail)
{
	double total = 0, below = 0;
	int64_t cut = -1;

	for (size_t sum = 0; sum <= top; sum++)
		total += ways[sum];
	for (size_t sum = lowest; sum <= top; sum += 2) {
		below += ways[sum];
		if (below > tail * total)
			break;
		cut++;
	}
	return cut;
}

/* Both tails of a sum that lies `distance` from its mean, half a rank closer to be fair. */
static double normal_both_tails(double distance, double variance)
{
	if (distance == 0 || variance <= 0)
		return 1;
	return fmin(1, 2 * normal_cdf(-(fabs(distance) - 0.5) / sqrt(variance)));
}

int signed_rank_test(
	const double *differences, size_t count, struct rank_result *ret_result, struct err *err)
{
	mem_auto struct ranked *items = mem_new(count, sizeof(*items));
	int status = stats_check(differences, count, "differences", err);
	size_t used = 0;
	double ties, doubled, n;

	if (status < 0)
		return status;
	for (size_t i = 0; i < count; i++)
		if (differences[i] != 0)
			items[used++] = (struct ranked){
				.value = fabs(differences[i]),
				.chosen = differences[i] > 0,
			};
	ties = ranked_order(items, used);
	doubled = ranked_sum(items, used);
	n = (double)used;
	*ret_result = (struct rank_result){.used = used, .statistic = doubled / 2, .exact = true};
	if (used <= RANK_TEST_EXACT_LIMIT) {
		size_t top = used * (used + 1);
		mem_auto double *ways = sign_ways(items, used, top);

		ret_result->p = ways_both_tails(ways, top, (size_t)doubled);
		return 0;
	}
	ret_result->exact = false;
	ret_result->p = normal_both_tails(
		doubled / 2 - n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24 - ties / 48);
	return 0;
}

static void ranked_fill(struct ranked *items, const double *values, size_t count, bool chosen)
{
	for (size_t i = 0; i < count; i++)
		items[i] = (struct ranked){.value = values[i], .chosen = chosen};
}

int rank_sum_test(const double *a, size_t a_count, const double *b, size_t b_count,
	struct rank_result *ret_result, struct err *err)
{
	size_t count = a_count + b_count;
	mem_auto struct ranked *items = mem_new(count, sizeof(*items));
	double n = (double)count, product = (double)a_count * (double)b_count, ties, doubled, u;
	int status = stats_check(a, a_count, "first sample", err);

	if (status == 0)
		status = stats_check(b, b_count, "second sample", err);
	if (status < 0)
		return status;
	ranked_fill(items, a, a_count, false);
	ranked_fill(items + a_count, b, b_count, true);
	ties = ranked_order(items, count);
	doubled = ranked_sum(items, count);
	u = doubled / 2 - (double)b_count * ((double)b_count + 1) / 2;
	*ret_result = (struct rank_result){.used = count, .statistic = u, .p = 1, .exact = true};
	if (!a_count || !b_count)
		return 0;
	if (a_count <= RANK_TEST_EXACT_LIMIT && b_count <= RANK_TEST_EXACT_LIMIT) {
		size_t top = count * (count + 1);
		mem_auto double *ways = split_ways(items, count, b_count, top);

		ret_result->p = ways_both_tails(ways, top, (size_t)doubled);
		return 0;
	}
	ret_result->exact = false;
	ret_result->p =
		normal_both_tails(u - product / 2, product / 12 * (n + 1 - ties / (n * (n - 1))));
	return 0;
}

/* The ranks 1 .. count, none tied. */
static struct ranked *ranked_plain(size_t count)
{
	struct ranked *items = mem_new(count, sizeof(*items));

	for (size_t i = 0; i < count; i++)
		items[i].doubled = (uint32_t)(2 * (i + 1));
	return items;
}

static int64_t normal_cut(double mean, double variance, double confidence)
{
	double cut = floor(mean - normal_quantile((1 + confidence) / 2) * sqrt(variance));

	return cut > 0 ? (int64_t)cut : 0;
}

int64_t signed_rank_cut(size_t count, double confidence)
{
	double n = (double)count;
	size_t top = count * (count + 1);
	mem_auto struct ranked *items = NULL;
	mem_auto double *ways = NULL;

	if (count > RANK_TEST_EXACT_LIMIT)
		return normal_cut(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24, confidence);
	items = ranked_plain(count);
	ways = sign_ways(items, count, top);
	return ways_cut(ways, top, 0, (1 - confidence) / 2);
}

int64_t rank_sum_cut(size_t a_count, size_t b_count, double confidence)
{
	double product = (double)a_count * (double)b_count, n = (double)a_count + (double)b_count;
	size_t picked = a_count < b_count ? a_count : b_count, count = a_count + b_count;
	size_t top = count * (count + 1);
	mem_auto struct ranked *items = NULL;
	mem_auto double *ways = NULL;

	if (!picked)
		return -1;
	if (a_count > RANK_TEST_EXACT_LIMIT || b_count > RANK_TEST_EXACT_LIMIT)
		return normal_cut(product / 2, product * (n + 1) / 12, confidence);
	items = ranked_plain(count);
	ways = split_ways(items, count, picked, top);
	return ways_cut(ways, top, picked * (picked + 1), (1 - confidence) / 2);
}

/* One chance, and where it stood. */
struct holm_place {
	double p;
	size_t index;
};

static int holm_compare(const void *a, const void *b)
{
	double x = ((const struct holm_place *)a)->p, y = ((const struct holm_place *)b)->p;

	return (x > y) - (x < y);
}

void holm_adjust(double *p, size_t count)
{
	mem_auto struct holm_place *places = mem_new(count, sizeof(*places));
	size_t tested = 0;
	double least = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(p[i]))
			places[tested++] = (struct holm_place){.p = p[i], .index = i};
	if (tested)
		qsort(places, tested, sizeof(*places), holm_compare);
	for (size_t i = 0; i < tested; i++) {
		least = fmax(least, fmin(1, (double)(tested - i) * places[i].p));
		p[places[i].index] = least;
	}
}
