/* places.h - the way back: which code of a module a source line or a function stands for.
 *
 * A line is all code whose innermost frame in scope is that line: its copies in every function it
 * was inlined into, and what was inlined there from files that are not in scope (a library's
 * template belongs to the line that uses it).  A function is all its code, clones (.cold, .part,
 * ...) and inlined copies included, with everything inlined into it; not what it calls.
 * Walks every unit that mentions the file (or, for a function, every unit): once per question. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "code/names.h"
#include "code/scope.h"

struct place_range {
	uint64_t low, high; /* [low, high), in the ELF's addresses */
};

struct place {
	vec_of(struct place_range) ranges; /* by address, apart from each other */
	vec_of(uint64_t) entries;	   /* where each copy begins */
	const char *file;		   /* of a line: the whole path; the book's */
	uint32_t nearest_line; /* of that file with code, when the line itself has none */
	uint32_t copies;       /* functions the code is inlined into, or the one it stands in */
};

/* The code of FILE:LINE; `file` is the end of a path.  False: no code (see nearest_line). */
bool place_of_line(struct names *names, const struct scope *scope, const char *file, uint32_t line,
	struct place *ret_place);

/* The code of a function: its whole name, or the end of it from a :: on, with or without the
 * parameters.  False: no such function. */
bool place_of_function(struct names *names, const char *function, struct place *ret_place);

void place_done(struct place *place);

/* All code that a line in scope stands at, without asking what was inlined where: the line tables
 * only.  False: there is none. */
bool place_of_scope(struct names *names, const struct scope *scope, struct place *ret_place);

/* The frame a sample counts for: the innermost in scope of what names_find() found, or -1. */
int place_frame(const struct scope *scope, const struct names_frame *frames, unsigned count);
