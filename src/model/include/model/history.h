/* history.h - what commands took over time: one line of JSON per command and measurement.
 *
 * Does: read and append `.assay/history.ndjson`, a plain file that change point tools read too.  It
 * lives beside the store because it is the other file that assay keeps for itself: writer and
 * reader of the format are in one place.
 * A line is appended with one write to a file opened O_APPEND, so measurements that end at the same
 * time do not mix.  A line that cannot be understood is counted and skipped: one torn line must not
 * cost the years before it.
 * Does not: compute (analyze/gate_history.h).  Owns: a history owns its rows and texts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct history_row {
	uint64_t time_ns;	 /* CLOCK_REALTIME */
	const char *by;		 /* the assay command: "bench" */
	const char *command;	 /* what was measured, quoted for a shell */
	const char *fingerprint; /* key; "" when it was not taken */
	const char *git;	 /* commit; "" when there is none */
	uint64_t runs;
	/* Medians and p95; NAN: not measured. */
	double wall_ns, wall_p95_ns, cpu_ns, cpu_p95_ns, max_rss_bytes;
};

struct history {
	struct arena texts;
	vec_of(struct history_row) rows; /* as in the file, oldest first */
	uint32_t skipped;		 /* lines that are none */
};

/* Add the rows of a text. */
void history_read(struct history *history, const char *text, size_t len);

/* Add those of a file.  A file that is not there is an empty history. */
int history_load(struct history *history, const char *path, struct err *err);
void history_done(struct history *history);
#define history_auto __attribute__((cleanup(history_done)))

/* The row as one line, with its newline. */
void history_line(const struct history_row *row, struct str *out);

/* Append rows to the file, which is made when it is missing. */
int history_append(const char *path, const struct history_row *rows, size_t count, struct err *err);
