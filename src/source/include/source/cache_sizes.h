/* cache_sizes.h - the caches of the first CPU, as numbers.
 *
 * Does: read sysfs.  Does not: guess: what the machine does not tell is 0.  (The fingerprint has
 * the same as words.)  Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cache_size {
	uint64_t size_bytes; /* 0: there is none, or it is not told */
	uint32_t ways;	     /* 0: not told */
	uint32_t line_bytes; /* 0: not told */
};

struct cache_sizes {
	struct cache_size l1i, l1d, l2, l3;
};

/* `folder` is normally CACHE_FOLDER. */
#define CACHE_FOLDER "/sys/devices/system/cpu/cpu0/cache"
void cache_sizes_read(const char *folder, struct cache_sizes *ret_sizes);

/* The largest power of two that is not above `value`; 0 of 0. */
uint64_t cache_power_below(uint64_t value);
