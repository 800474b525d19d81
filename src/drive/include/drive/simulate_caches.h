/* simulate_caches.h - which caches cachegrind is told to simulate; part of simulate.h, apart for
 * tests.
 *
 * Does: choose from what the machine has, round to what cachegrind takes, say so.  Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "source/cache_sizes.h"
#include "wire/record.h"

/* What cachegrind is told: it has one L1 for code, one for data, and one last level. */
struct simulate_caches {
	struct cache_size i1, d1, ll;
	const char *which_ll;	 /* "L3", "L2", "assumed" */
	uint64_t left_out_bytes; /* an L2 between D1 and LL that is not simulated; 0: none */
	bool assumed;		 /* the machine told no sizes at all */
	bool rounded;		 /* a size or its ways were changed to what cachegrind takes */
};

/* Sizes that cachegrind takes: the number of sets is a power of two.  `l2_is_last`: where there is
 * an L2, it is the last level. */
void simulate_caches_choose(
	const struct cache_sizes *sizes, bool l2_is_last, struct simulate_caches *ret_caches);

/* "32768,8,64" */
const char *simulate_cache_text(const struct cache_size *cache, struct arena *arena);

/* The note that says what was simulated, and the one that says what was not. */
int simulate_note_caches(const struct simulate_caches *caches, const struct wire_sink *sink);
int simulate_note_limits(bool instructions_only, const struct wire_sink *sink);
