/* map.h - a hash table from a byte string to a 32-bit number (an id, an index).
 *
 * Owns copies of its keys.  Zero-initialised is ready.  A number as key is its bytes:
 * map_put(&map, &addr, sizeof(addr), id). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct map_slot;

struct map {
	struct map_slot *slots;
	uint32_t count;
	uint32_t capacity; /* a power of two, or 0 */
	uint64_t seed;	   /* of the slots, random */
	struct arena keys;
};

/* True and *ret_value set when the key is there. */
bool map_get(const struct map *map, const void *key, size_t len, uint32_t *ret_value);

/* Add the key or replace its value. */
void map_put(struct map *map, const void *key, size_t len, uint32_t value);

/* The value of the key, which is `value` when it was not there; true: it was not. */
bool map_add(struct map *map, const void *key, size_t len, uint32_t value, uint32_t *ret_value);

void map_done(struct map *map);

/* 64-bit hash of bytes (FNV-1a with a final mix): stable across machines and versions. */
uint64_t map_hash(const void *bytes, size_t len);
