/* ingest.h - records and samples in, rows out.
 *
 * Does: check each record, intern its texts, append its row; keep the mappings of every process
 * with their time, unwind samples, intern locations and stacks, put samples in order of time; name
 * the locations at the end.  Does not: print, compute.
 * Owns: mappings, images and unwind tables until ingest_done(); the run outlives it.  A record that
 * is not well formed is counted and dropped, never half taken. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/quota.h"
#include "wire/record.h"

struct run;
struct profile;

struct ingest {
	struct run *run;
	uint64_t malformed;
	struct profile *profile; /* made when the first sample or mapping comes */
	/* Added to the ids of events and executions: rows that an earlier source left. */
	uint32_t event_base, execution_base;
	struct quota *quota; /* of the file that the records come from; NULL: of none */
};

struct ingest_naming {
	const struct ingest *ingest; /* where the run comes from, NULL: from its file */
	const char *symfs;	     /* see code/names.h */
	bool debuginfod;
	bool without_inlines;
	/* Called now and then with what is done of how much; may be NULL. */
	void (*progress)(void *context, uint32_t done, uint32_t of);
	void *context;
	struct interrupt (*interrupted)(void); /* ends it early; the rest stays without names */
};

/* The sink that appends to `ingest->run`. */
struct wire_sink ingest_sink(struct ingest *ingest);

/* Another source follows into the same run: its events and executions count from 1 again. */
void ingest_next_source(struct ingest *ingest);

/* All samples are in: append what still waits for its turn, set the qualities that ingest counts
 * (samples, truncated_stacks, broken_stacks, unknown_addresses...). */
void ingest_end(struct ingest *ingest);

/* Name every location of the run that has no name yet.  Also on a run that was loaded before it was
 * named.  Modules whose file is missing or was replaced get a note each. */
void ingest_name(struct run *run, const struct ingest_naming *naming);

void ingest_done(struct ingest *ingest);
