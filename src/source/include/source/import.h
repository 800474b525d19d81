/* import.h - other people's result files as records.
 *
 * Does: find out from its content what a file is, and emit what it holds.  Does not: trust it.
 * Owns: nothing that outlives the call.  What could not be used is counted by reason, never dropped
 * in silence; what stands before a damage is kept; a file of which nothing can be used is an error.
 * Samples are borrowed from the file: they live for the call that hands them over. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/quota.h"
#include "wire/record.h"

enum import_skip {
	IMPORT_FOREIGN,	  /* a line of something else, as when stderr was shared */
	IMPORT_MALFORMED, /* a line of this format that cannot be read */
	IMPORT_METRIC,	  /* a number that the tool derived itself; assay derives its own */
	IMPORT_RANGE,	  /* a value that is negative or too large */
	IMPORT_TOO_MANY,  /* an event beyond the 4,096 that are kept */
	IMPORT_TRUNCATED, /* the last line, cut off */
	/* Of recordings: */
	IMPORT_SAMPLE_MALFORMED, /* a sample whose parts do not fit into it */
	IMPORT_SAMPLE_NO_EVENT,	 /* a sample of an event that the file does not describe */
	IMPORT_SAMPLE_EMPTY,	 /* a sample that weighs nothing in the chosen unit */
	IMPORT_STACK_32,	 /* user stack of a 32-bit process; the sample itself is kept */
	IMPORT_RECORD_MALFORMED, /* any other record that cannot be read */
	IMPORT_RECORD_UNKNOWN,	 /* of a type newer than this program */
	IMPORT_AUX,		 /* traces of the CPU: Intel PT, CoreSight, SPE */
	IMPORT_SWITCH,
	IMPORT_NAMESPACE,
	IMPORT_CGROUP,
	IMPORT_KSYMBOL,
	IMPORT_BPF,
	IMPORT_TEXT_POKE,
	IMPORT_DATA_MAP, /* a mapping that cannot hold code */
	IMPORT_READ,	 /* a count that perf record read at the end of a thread */
	IMPORT_SKIPS,
};

/* IMPORT_BENCHMARK: executions of commands.  IMPORT_SPANS: what a program says of itself. */
enum import_holds {
	IMPORT_COUNTS,
	IMPORT_PROFILE,
	IMPORT_BENCHMARK,
	IMPORT_EXPERIMENTS,
	IMPORT_SPANS,
};

struct import_report {
	const char *kind; /* "perf-stat-json" */
	enum import_holds holds;
	uint64_t lines;		       /* that held something; 0: not a file of lines */
	uint64_t samples;	       /* handed over */
	uint64_t commands, executions; /* handed over */
	uint64_t skipped[IMPORT_SKIPS];
	const char *reached; /* while it is read: where in the bytes; a reader of samples sets it */
	struct quota *quota; /* while it is read */
	bool stopped;	     /* the quota was spent; what came before is there */
	char damage[160];    /* what is broken, from there on nothing was read; "": nothing */
};

/* Read the file ("-" is stdin; what is no plain file may have 1 GiB) and emit its records, on a
 * quota of its size whose `interrupted` the caller has set; ERR_INTERRUPTED when that says so.
 * Ctrl-C at a terminal while a pipe is read is for who writes into it: what comes until its end is
 * taken, and quota->seen counts it.  An error of the sink is returned as it is. */
int import_file(const char *path, struct quota *quota, const struct wire_sink *sink,
	struct import_report *ret_report, struct err *err);

/* The same from memory; `name` is for the sentence.  Nobody interrupts. */
int import_bytes(const char *bytes, size_t len, const char *name, const struct wire_sink *sink,
	struct import_report *ret_report, struct err *err);

/* "foreign_lines": the key in `skipped{}`. */
const char *import_skip_name(enum import_skip skip);
