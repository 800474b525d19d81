/* span.h - address ranges that may nest or overlap, turned into one sorted table.
 *
 * Collect spans in any order, lay them flat once, then ask by binary search.  Where spans cover
 * each other the one that starts later wins, then the shorter, then the one added later: with
 * inlined functions that is the innermost. */
#pragma once

#include <stdint.h>

#include "base/vec.h"

#define SPAN_NONE UINT32_MAX

struct span {
	uint64_t low, high; /* [low, high) */
	uint32_t item;
};

struct span_piece {
	uint64_t low;  /* up to the next piece */
	uint32_t item; /* SPAN_NONE: a gap */
};

struct spans {
	vec_of(struct span) all; /* freed by spans_lay() */
	vec_of(struct span_piece) pieces;
};

void spans_add(struct spans *spans, uint64_t low, uint64_t high, uint32_t item);
void spans_lay(struct spans *spans);
uint32_t spans_find(const struct spans *spans, uint64_t addr);
void spans_done(struct spans *spans);
