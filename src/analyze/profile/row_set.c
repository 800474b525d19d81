/* row_set.c - see row_set.h. */
#include "row_set.h"

#include <stdlib.h>

#include "base/mem.h"

void row_set_init(struct row_set *set, uint32_t rows)
{
	*set = (struct row_set){.words = rows / 64 + 1};
	set->bits = mem_new(set->words, sizeof(*set->bits));
}

void row_set_done(struct row_set *set)
{
	free(set->bits);
	free(set->before);
	*set = (struct row_set){0};
}

uint32_t row_set_count(struct row_set *set)
{
	uint32_t count = 0;

	if (!set->before)
		set->before = mem_new(set->words, sizeof(*set->before));
	for (uint32_t i = 0; i < set->words; i++) {
		set->before[i] = count;
		count += (uint32_t)__builtin_popcountll(set->bits[i]);
	}
	return count;
}
