/* simulate_parts.h - private to simulate*.c: the caches to simulate, the folder of a simulation. */
#pragma once

#include "base/arena.h"
#include "source/cache_sizes.h"
#include "wire/record.h"

/* What cachegrind is told: it has one L1 for code, one for data, and one last level. */
struct simulate_caches {
	struct cache_size i1, d1, ll;
	const char *which_ll; /* "L3", "L2", "assumed" */
	uint64_t left_out_bytes; /* an L2 between D1 and LL that is not simulated; 0: none */
	bool assumed;		 /* the machine told no sizes at all */
	bool rounded;		 /* a size or its ways were changed to what cachegrind takes */
};

/* Sizes that cachegrind takes: the number of sets is a power of two. */
void simulate_caches_choose(const struct cache_sizes *sizes, struct simulate_caches *ret_caches);

/* "32768,8,64" */
const char *simulate_cache_text(const struct cache_size *cache, struct arena *arena);

/* The note that says what was simulated, and the one that says what was not. */
int simulate_note_caches(const struct simulate_caches *caches, const struct wire_sink *sink);
int simulate_note_limits(bool instructions_only, const struct wire_sink *sink);

/* What valgrind wrote about the run into the logs of `folder`. */
struct simulate_log {
	bool unsupported;	/* it met an instruction that it does not know */
	char instruction[96];	/* what it says about it, "" */
	char complaint[200];	/* its first word about itself ("valgrind: ..."), "" */
};
void simulate_log_read(const char *folder, struct simulate_log *ret_log);

/* Remove the folder and the files in it. */
void simulate_folder_remove(const char *folder);
