/* causal_cheap.h - where a probe costs least and is visited as often.
 *
 * The kernel does some instructions itself for a probe (pushes, jumps, calls, nops); all others it
 * lets run elsewhere, one step, with a second trap: 0.6 against 13 us a visit in a virtual machine.
 * Does: find one of the first kind in the same block of code.  Does not: place anything. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "code/image.h"
#include "code/names.h"
#include "source/causal.h"

/* Where to probe for `addr` of a function: the offset in the file, and whether it is cheap.  False:
 * it is not in the file. */
bool causal_cheap_point(const struct image *image, const struct names_frame *function,
	uint64_t addr, struct causal_point *point);
