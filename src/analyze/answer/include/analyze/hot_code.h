/* hot_code.h - what a look at the machine code says of the locations of a profile.
 *
 * Does: hold the table.  Does not: read files; who starts the answer does (job/code_look.h),
 * because analysis is pure. Plain data in the caller's arena; both arrays have an entry for each
 * location of the run, by its id. */
#pragma once

#include <stdint.h>

enum {
	HOT_CODE_KNOWN = 1u << 31, /* of `loops`: the code was read */
	HOT_CODE_FRAMES = 31,	   /* frames at a location that are told apart */
};

struct hot_code {
	uint32_t count;		/* locations, and one more for id 0 */
	const uint32_t *loops;	/* HOT_CODE_KNOWN, and bit i: frame i (0 the innermost inlined one)
				   has a loop around the address */
	const uint32_t *callee; /* function row that the call at the address names; 0: unknown */
};
