/* source_text.h - the lines of a source file, found again where it stands now.
 *
 * Does: try the recorded path, prefixes and substitutions; read, split into lines.
 * Does not: know what a line costs.  Only regular files are opened: the path comes out of debug
 * information, and a program may name a device or a pipe there.
 * Owns: everything is in the caller's arena. */
#pragma once

#include <stdint.h>

#include "base/arena.h"

enum { SOURCE_RULES = 16 };

/* Where to look, in this order, before the recorded path itself. */
struct source_rules {
	/* "DIR": DIR/recorded/path, then with leading folders taken away one by one.
	 * "FROM=TO": a recorded path that starts with FROM starts with TO. */
	const char *at[SOURCE_RULES];
	unsigned count;
};

struct source_text {
	const char *path;	  /* where it was found; NULL: nowhere */
	const char *const *lines; /* line N is lines[N - 1], without its newline */
	uint32_t line_count;
	uint64_t modified_ns; /* CLOCK_REALTIME */
	const char *missing;  /* why there is no text, NULL when there is */
};

/* Never fails: a file that is not there says so in `missing`. */
void source_text_read(const char *recorded, const struct source_rules *rules, struct arena *arena,
	struct source_text *ret_text);
