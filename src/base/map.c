/* map.c - open addressing with linear probing, at most 5/8 full.  Keys are never removed: nothing
 * in a run is ever taken back.
 *
 * Keys come from outside (symbols, texts of a run file).  Slots are chosen by a hash with a random
 * seed, because keys made to collide would turn the table into a list: map_hash() is public and
 * stable, and a million texts with one FNV-1a hash are an afternoon's work. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

struct map_slot {
	const char *key; /* NULL: free */
	uint32_t len;
	uint32_t value;
	uint64_t hash;
};

uint64_t map_hash(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * 0x100000001b3;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93;
	return hash ^ (hash >> 32);
}

static uint64_t map_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t map_place(const struct map *map, const void *key, size_t len)
{
	const unsigned char *at = key;
	uint64_t hash = map->seed ^ len, word;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = map_fold(hash ^ word, 0x9e3779b97f4a7c15);
	}
	word = 0;
	if (len)
		memcpy(&word, at, len);
	return map_fold(hash ^ word, 0xd6e8feb86659fd93 ^ map->seed);
}

static struct map_slot *map_find(const struct map *map, const void *key, size_t len, uint64_t hash)
{
	uint32_t mask = map->capacity - 1;

	for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
		struct map_slot *slot = &map->slots[i];

		if (!slot->key)
			return slot;
		if (slot->hash == hash && slot->len == len && memcmp(slot->key, key, len) == 0)
			return slot;
	}
}

static void map_grow(struct map *map)
{
	struct map_slot *old = map->slots;
	uint32_t old_capacity = map->capacity;

	if (!old_capacity && getrandom(&map->seed, sizeof(map->seed), GRND_NONBLOCK) < 0)
		map->seed = (uintptr_t)map; /* early at boot: the address has to do */
	map->capacity = old_capacity ? old_capacity * 2 : 16;
	map->slots = mem_new(map->capacity, sizeof(*map->slots));
	for (uint32_t i = 0; i < old_capacity; i++)
		if (old[i].key)
			*map_find(map, old[i].key, old[i].len, old[i].hash) = old[i];
	free(old);
}

bool map_get(const struct map *map, const void *key, size_t len, uint32_t *ret_value)
{
	const struct map_slot *slot;

	if (!map->capacity)
		return false;
	slot = map_find(map, key, len, map_place(map, key, len));
	if (!slot->key)
		return false;
	*ret_value = slot->value;
	return true;
}

void map_put(struct map *map, const void *key, size_t len, uint32_t value)
{
	struct map_slot *slot;
	uint64_t hash;

	if ((uint64_t)map->count * 8 >= (uint64_t)map->capacity * 5)
		map_grow(map);
	hash = map_place(map, key, len);
	slot = map_find(map, key, len, hash);
	if (!slot->key) {
		slot->key = arena_text(&map->keys, key, len);
		slot->len = (uint32_t)len;
		slot->hash = hash;
		map->count++;
	}
	slot->value = value;
}

bool map_add(struct map *map, const void *key, size_t len, uint32_t value, uint32_t *ret_value)
{
	if (map_get(map, key, len, ret_value))
		return false;
	map_put(map, key, len, value);
	*ret_value = value;
	return true;
}

void map_done(struct map *map)
{
	free(map->slots);
	arena_done(&map->keys);
	*map = (struct map){0};
}
