/* vec.h - a typed growing array.
 *
 *     vec_of(struct row) rows = {0};
 *     vec_push(&rows, (struct row){...});
 *     vec_foreach (struct row, row, &rows) ...
 *     vec_done(&rows);
 *
 * Zero-initialised is ready.  Owns its memory, not what the items point to.  A pointer to an item
 * is valid until the next push. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

#define vec_of(type)                                                                               \
	struct {                                                                                   \
		type *at;                                                                          \
		uint32_t count;                                                                    \
		uint32_t capacity;                                                                 \
	}

/* Make room for one more item; ends the tool when 2^31 items are passed (see mem.h). */
#define vec_grow(vec)                                                                              \
	do {                                                                                       \
		if ((vec)->count == (vec)->capacity)                                               \
			(vec)->at = mem_grow((vec)->at, &(vec)->capacity, sizeof(*(vec)->at));     \
	} while (0)

#define vec_push(vec, ...)                                                                         \
	do {                                                                                       \
		vec_grow(vec);                                                                     \
		(vec)->at[(vec)->count++] = (__VA_ARGS__);                                         \
	} while (0)

#define vec_foreach(type, item, vec)                                                               \
	for (type *item = (vec)->at; item && item < (vec)->at + (vec)->count; item++)

/* `compare` as for qsort(). */
#define vec_sort(vec, compare)                                                                     \
	do {                                                                                       \
		if ((vec)->count)                                                                  \
			qsort((vec)->at, (vec)->count, sizeof(*(vec)->at), compare);               \
	} while (0)

#define vec_done(vec)                                                                              \
	do {                                                                                       \
		free((vec)->at);                                                                   \
		(vec)->at = NULL;                                                                  \
		(vec)->count = (vec)->capacity = 0;                                                \
	} while (0)
