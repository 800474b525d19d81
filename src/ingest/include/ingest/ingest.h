/* ingest.h - records in, rows out.
 *
 * Does: check each record, intern its texts, append its row.  Does not: print, compute.
 * Owns nothing; the run outlives the ingest.  A record that is not well formed is counted and
 * dropped, never half taken. */
#pragma once

#include <stdint.h>

#include "wire/record.h"

struct run;

struct ingest {
	struct run *run;
	uint64_t malformed;
};

/* The sink that appends to `ingest->run`. */
struct wire_sink ingest_sink(struct ingest *ingest);
