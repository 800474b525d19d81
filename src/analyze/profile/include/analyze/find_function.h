/* find_function.h - the one function of a run that somebody means.
 *
 * Does: match a name or an address, suggest the nearest.  Does not: choose between two.
 * A function may have several rows: where it stands itself (it has an address), and its inlined
 * copies (they have none).  The row that stands is the answer; where there is none, the copies are.
 * Owns: the list is in the caller's arena. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct run;

struct function_found {
	uint32_t *rows;	   /* ids of function rows that are this function */
	uint32_t count;	   /* at least 1 */
	uint32_t *inlined; /* ids of its inlined copies, when it also stands by itself */
	uint32_t inlined_count;
	uint32_t best; /* the row with the address, or the first copy */
};

/* `text` is a name as label_book_find() takes it, or an address in the function ("0x1139").
 * `module` is the end of a path, or NULL for any.  -EINVAL, with the nearest name or the
 * candidates, when it is none or more than one. */
int function_find(const struct run *run, const char *text, const char *module, struct arena *arena,
	struct function_found *ret_found, struct err *err);
