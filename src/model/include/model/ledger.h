/* ledger.h - what was found about each explanation over time: one line of JSON per explanation and
 * run.
 *
 * Does: read and append `assay-out/ledger.ndjson`.  It lives beside the store for the same reason
 * as history.h: writer and reader of the format are in one place, and it has the same rules: a line
 * is appended with one write, a line that cannot be understood is counted and skipped. Does not:
 * judge (analyze/hypothesis.h), compare (analyze/ledger_history.h). Owns: a ledger owns its rows
 * and texts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#define LEDGER_FILE "ledger.ndjson"

/* An input of the verdict. */
struct ledger_number {
	const char *name;
	double value; /* NAN: not known */
};

struct ledger_entry {
	uint64_t time_ns;	 /* CLOCK_REALTIME, of the run */
	const char *run_id;	 /* its folder: never empty */
	const char *fingerprint; /* key; "" when it was not taken */
	const char *target;	 /* the command line: never empty */
	const char *hypothesis;	 /* never empty */
	const char *verdict;	 /* "supports"...: never empty */
	const char *why;
	double share; /* NAN: not known */
	bool noisy;
	const struct ledger_number *numbers;
	uint32_t number_count;
};

struct ledger {
	struct arena texts;
	vec_of(struct ledger_entry) rows; /* as in the file, oldest first */
	uint32_t skipped;		  /* lines that are none */
};

/* Add the rows of a text. */
void ledger_read(struct ledger *ledger, const char *text, size_t len);

/* Add those of a file.  A file that is not there is an empty ledger. */
int ledger_load(struct ledger *ledger, const char *path, struct err *err);
void ledger_done(struct ledger *ledger);
#define ledger_auto __attribute__((cleanup(ledger_done)))

/* The row as one line, with its newline. */
void ledger_line(const struct ledger_entry *entry, struct str *out);

/* Append rows to the file, which is made when it is missing. */
int ledger_append(
	const char *path, const struct ledger_entry *entries, size_t count, struct err *err);
