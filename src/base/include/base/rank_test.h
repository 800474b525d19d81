/* rank_test.h - do two series differ, asked of the ranks alone.
 *
 * Does: Wilcoxon's signed rank test for pairs, the rank sum test (Mann and Whitney) for two
 * separate samples, Holm's correction for several tests.  Two-sided always.  Up to 25 pairs (25
 * values a side) the chance is counted exactly over all signs (all splits), ties included; beyond,
 * it is read from the normal distribution with tie and continuity correction.
 * Does not: say how large the difference is (shift.h), nor what it means.
 * Owns: nothing.  Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define RANK_TEST_EXACT_LIMIT 25

struct rank_result {
	size_t used;	  /* pairs that differ, or values of both samples */
	double statistic; /* sum of the ranks of positive differences; or U of b: pairs with b > a
			   */
	double p;	  /* 1 where nothing can be said */
	bool exact;
};

/* Paired: are the differences centred on 0?  Zeros are dropped.  -EINVAL for a value that is not
 * finite. */
int signed_rank_test(
	const double *differences, size_t count, struct rank_result *ret_result, struct err *err);

/* Two separate samples: does one tend to be larger?  statistic / (a_count * b_count) is the chance
 * that b is larger, ties counted half.  -EINVAL for a value that is not finite. */
int rank_sum_test(const double *a, size_t a_count, const double *b, size_t b_count,
	struct rank_result *ret_result, struct err *err);

/* How many ordered averages (differences) to give up on each side of an interval with at least
 * `confidence`: index of its lower bound.  -1: even the widest does not reach it. */
int64_t signed_rank_cut(size_t count, double confidence);
int64_t rank_sum_cut(size_t a_count, size_t b_count, double confidence);

/* Holm's correction in place: with the adjusted chances compared to alpha, the chance of even one
 * false alarm among all `count` tests is at most alpha.  NAN counts as not tested. */
void holm_adjust(double *p, size_t count);
