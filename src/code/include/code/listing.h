/* listing.h - the instructions of one function, read again from its file, and their source lines.
 *
 * Does: open the file, make sure that it is the one that was recorded, decode, join the line table
 * and the names of call targets.  Does not: know samples.
 * Owns: everything is in the caller's arena; the file is closed before it returns. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "code/disassemble.h"

struct listing_options {
	const char *path;
	const char *build_id; /* hex, as recorded; "": not known, then any file is taken */
	const char *symfs;    /* look below this folder first, or NULL */
	uint64_t addr, size_bytes;
	bool intel;
};

/* From this address on, up to the next row, the code belongs to this line; line 0: to none. */
struct listing_line {
	uint64_t addr;
	const char *file;
	uint32_t line;
};

struct listing {
	struct instruction *instructions;
	uint32_t instruction_count;
	struct listing_line *lines;
	uint32_t line_count;
	/* Why there are no instructions, and the way out; NULL when there are. */
	const char *missing, *hint;
};

/* Never fails: a file that is gone, replaced or not understood says so in `missing`. */
void listing_make(
	const struct listing_options *options, struct arena *arena, struct listing *ret_listing);
