/* intern.c - rows that are the same are the same row.
 *
 * The tables hold ids only; a candidate is compared with its row in the run, so nothing is stored
 * twice.  About 30 ns per look-up: it happens once per frame of every sample.
 *
 * A stack that is new adds its frames one behind the other, so the first callee of most stacks is
 * the next row, and needs no table: only later callees are in it.  21 million stacks of a million
 * chains that share nothing (bench/large.py) have 1 million entries there. */
#include <stdlib.h>

#include "base/mem.h"
#include "profile.h"

/* A row with its place in the table. */
enum { LOCATION_BYTES = 48, STACK_BYTES = 24 };

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t hash = (a ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;

	hash = (hash ^ (hash >> 32) ^ b) * 0xc4ceb9fe1a85ec53;
	return hash ^ (hash >> 29);
}

static uint64_t location_hash(const struct location_row *row)
{
	return mix(row->addr ^ (uint64_t)row->frame << 40, (uint64_t)row->module << 8 | row->flags);
}

static uint64_t stack_hash(const struct stack_row *row)
{
	return mix((uint64_t)row->parent << 32 | row->location, 7);
}

void id_table_done(struct id_table *table)
{
	free(table->slots);
	*table = (struct id_table){0};
}

/* Twice the capacity; `hash` tells where the row of an id belongs. */
static void id_table_grow(
	struct id_table *table, const struct run *run, uint64_t (*hash)(const struct run *, row_id))
{
	struct id_table old = *table;

	table->capacity = old.capacity ? old.capacity * 2 : 1024;
	table->slots = mem_new(table->capacity, sizeof(*table->slots));
	for (uint32_t i = 0; i < old.capacity; i++) {
		uint32_t at;

		if (!old.slots[i])
			continue;
		at = (uint32_t)hash(run, old.slots[i]) & (table->capacity - 1);
		while (table->slots[at])
			at = (at + 1) & (table->capacity - 1);
		table->slots[at] = old.slots[i];
	}
	free(old.slots);
}

static uint64_t location_hash_of(const struct run *run, row_id id)
{
	return location_hash(&run->locations.at[id - 1]);
}

static uint64_t stack_hash_of(const struct run *run, row_id id)
{
	return stack_hash(&run->stacks.at[id - 1]);
}

row_id location_intern(struct profile *profile, const struct location_row *row)
{
	struct id_table *table = &profile->locations;
	struct run *run = profile->run;
	uint32_t at;

	if (table->count * 2 >= table->capacity)
		id_table_grow(table, run, location_hash_of);
	for (at = (uint32_t)location_hash(row) & (table->capacity - 1); table->slots[at];
		at = (at + 1) & (table->capacity - 1)) {
		const struct location_row *known = &run->locations.at[table->slots[at] - 1];

		if (known->addr == row->addr && known->module == row->module &&
			known->flags == row->flags && known->frame == row->frame)
			return table->slots[at];
		quota_step(profile->quota, 1); /* addresses can be made to collide */
	}
	table->count++;
	quota_take(profile->quota, LOCATION_BYTES);
	return table->slots[at] = run_add_location(run, row);
}

row_id stack_intern(struct profile *profile, const struct stack_row *row)
{
	struct id_table *table = &profile->stacks;
	struct run *run = profile->run;
	const struct stack_row *behind;
	uint32_t at;

	if (row->parent == run->stacks.count) {
		quota_take(profile->quota, sizeof(*row));
		return run_add_stack(run, row);
	}
	behind = &run->stacks.at[row->parent];
	if (behind->parent == row->parent && behind->location == row->location)
		return row->parent + 1;
	if (table->count * 2 >= table->capacity)
		id_table_grow(table, run, stack_hash_of);
	for (at = (uint32_t)stack_hash(row) & (table->capacity - 1); table->slots[at];
		at = (at + 1) & (table->capacity - 1)) {
		const struct stack_row *known = &run->stacks.at[table->slots[at] - 1];

		if (known->parent == row->parent && known->location == row->location)
			return table->slots[at];
		quota_step(profile->quota, 1);
	}
	table->count++;
	quota_take(profile->quota, STACK_BYTES);
	return table->slots[at] = run_add_stack(run, row);
}
