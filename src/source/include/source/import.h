/* import.h - other people's result files as records.
 *
 * Does: find out from its content what a file is, and emit what it holds.  Does not: trust it.
 * Owns: nothing that outlives the call.  What could not be used is counted by reason, never dropped
 * in silence; a file of which nothing can be used is an error. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/record.h"

enum import_skip {
	IMPORT_FOREIGN,	  /* a line of something else, as when stderr was shared */
	IMPORT_MALFORMED, /* a line of this format that cannot be read */
	IMPORT_METRIC,	  /* a number that the tool derived itself; assay derives its own */
	IMPORT_RANGE,	  /* a value that is negative or too large */
	IMPORT_TOO_MANY,  /* an event beyond the 4,096 that are kept */
	IMPORT_TRUNCATED, /* the last line, cut off */
	IMPORT_SKIPS,
};

struct import_report {
	const char *kind; /* "perf-stat-json" */
	uint64_t lines;	  /* that held something */
	uint64_t skipped[IMPORT_SKIPS];
};

/* Read the file (at most 256 MiB; "-" is stdin) and emit its records.  An error of the sink is
 * returned as it is. */
int import_file(const char *path, const struct wire_sink *sink, struct import_report *ret_report,
	struct err *err);

/* The same from memory; `name` is for the sentence. */
int import_bytes(const char *bytes, size_t len, const char *name, const struct wire_sink *sink,
	struct import_report *ret_report, struct err *err);

/* "foreign_lines": the key in `skipped{}`. */
const char *import_skip_name(enum import_skip skip);
