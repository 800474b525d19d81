/* sorted.h - arrays that are sorted by a number in each item. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many of the first items have at most this `key`; each has it as a uint64_t at `offset`. */
static inline uint32_t sorted_upto(
	const void *items, uint32_t count, size_t item_bytes, size_t offset, uint64_t key)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t its;

		memcpy(&its, (const char *)items + middle * item_bytes + offset, sizeof(its));
		if (its <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same with the name of the member, which must be a uint64_t; the last of those items is the
 * one before that index. */
#define array_upto(items, count, member, key)                                                      \
	_Generic((items)->member, uint64_t                                                         \
		 : sorted_upto)(                                                                   \
		items, count, sizeof(*(items)), offsetof(__typeof__(*(items)), member), key)
#define vec_upto(vec, member, key) array_upto((vec)->at, (vec)->count, member, key)

/* For qsort() and bsearch(): the order of items that begin with a uint64_t. */
static inline int sorted_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}
