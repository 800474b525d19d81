/* planted.h - what the programs with a known truth share: the count of their work, and work whose
 * length depends on iterations only. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../whole.h"

/* The first word as a count of 1 to 10^12, `fallback` without one; ends the program otherwise. */
static inline uint64_t count_of(int argc, char **argv, uint64_t fallback)
{
	char *end = NULL;
	double value = argc > 1 ? strtod(argv[1], &end) : (double)fallback;

	if (argc > 2 || (end && *end) || !(value >= 1 && value <= 1e12)) {
		fprintf(stderr, "usage: %s [COUNT]   (%llu)\n", argv[0],
			(unsigned long long)fallback);
		exit(2);
	}
	return (uint64_t)value;
}

/* Macros, not functions: an inlined function would have its own rows in a profile, and the place
 * that matters none.  MIX is the next of a row of numbers without an order; CHURN is work of so
 * many steps, each waiting for the one before. */
#define MIX(x) ((x)*6364136223846793005u + 1442695040888963407u)
#define CHURN(from, steps)                                                                         \
	(__extension__({                                                                           \
		uint64_t churned = (from);                                                         \
                                                                                                   \
		for (uint64_t left = (steps); left; left--)                                        \
			churned = MIX(churned);                                                    \
		__asm__ volatile("" : "+r"(churned));                                              \
		churned;                                                                           \
	}))

static inline int tell(const char *program, uint64_t count, uint64_t sum)
{
	printf("%s: %llu done, checksum %016llx\n", program, (unsigned long long)count,
		(unsigned long long)sum);
	return 0;
}
