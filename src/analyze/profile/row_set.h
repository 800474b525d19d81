/* row_set.h - some rows of a table, and the how-manieth of them one is; private to the folder.
 *
 * A bit for each row: what only a few rows have is kept in an array of that many, not in one as
 * long as the table.  Owns its bits, until row_set_done(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/rows.h"

struct row_set {
	uint64_t *bits;	  /* by the row's id */
	uint32_t *before; /* members below each word of `bits`; NULL until row_set_count() */
	uint32_t words;
};

/* Of a table with `rows` rows; empty. */
void row_set_init(struct row_set *set, uint32_t rows);
void row_set_done(struct row_set *set);
#define row_set_auto __attribute__((cleanup(row_set_done)))

/* How many there are.  After this row_set_rank() is right, until one is added. */
uint32_t row_set_count(struct row_set *set);

static inline void row_set_add(struct row_set *set, row_id id)
{
	set->bits[id / 64] |= UINT64_C(1) << id % 64;
}

static inline bool row_set_has(const struct row_set *set, row_id id)
{
	return set->bits[id / 64] >> id % 64 & 1;
}

/* The number of members below `id`: the index of a member. */
static inline uint32_t row_set_rank(const struct row_set *set, row_id id)
{
	uint64_t below = set->bits[id / 64] & ((UINT64_C(1) << id % 64) - 1);

	return set->before[id / 64] + (uint32_t)__builtin_popcountll(below);
}
