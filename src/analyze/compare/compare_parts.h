/* compare_parts.h - the two rules that judge a comparison: ranks, and what few runs show plainly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/shift.h"

/* What all runs of one side and all of the other say together; logarithms, sorted. */
struct plain {
	double p;	    /* of Student's test on both sides' own spread */
	struct shift shift; /* by the same */
};

/* Is B plainly apart from A?  False: it is not, and `*ret_plain` is not touched. */
bool compare_plain_find(const double *a, size_t a_count, const double *b, size_t b_count,
	double confidence, struct plain *ret_plain);
