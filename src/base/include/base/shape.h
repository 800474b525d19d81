/* shape.h - what a single number hides: wild values and two modes.
 *
 * Pure; values finite.  These are hints for a reader, not tests: nothing is ever left out because
 * of them without being shown. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum outlier_class {
	OUTLIER_NONE = 0, /* within 3 robust deviations of the median */
	OUTLIER_FAR,	  /* beyond 3: one in 370 of normal noise */
	OUTLIER_EXTREME,  /* beyond 10: never noise of the same kind */
};

/* `sigma` as of stats_robust_sigma_sorted(); 0 means that all other values are equal. */
enum outlier_class outlier_class_of(double value, double median, double sigma);

struct shape_valley {
	bool found;
	double at;	    /* between the modes */
	double lower_share; /* of the values below */
	double depth;	    /* density of the lower peak over that of the valley */
};

/* Do the values come in two heaps?  Never found below 20 values, nor where more than half of the
 * values repeat (a coarse clock). */
struct shape_valley shape_valley_find(const double *sorted, size_t count);
