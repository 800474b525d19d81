/* store.h - the run file: a SQLite database that is readable at every moment of its writing.
 *
 * A new path is written in place, marked partial until store_finish(); where a run already stands,
 * the work goes on in PATH.part and replaces it whole at the end, so the old one is never half
 * gone.  A full disk or a killed tool leaves every row that an earlier store_flush() wrote.
 * Does not: keep the run (borrowed at each call), compute, print.
 * What cannot be written is ERR_OUTPUT, what cannot be read ERR_USAGE.  Threads: one per store.
 * docs/format.md describes the tables, docs/decisions/002-run-file.md says why they are so. */
#pragma once

#include "base/err.h"
#include "base/interrupt.h"
#include "model/run.h"

/* 2: causal experiments; 3: place, fact, span, claim; 4: segments of stacks;
 * 5: time in the run queue */
enum { STORE_VERSION = 5 };
#define STORE_APPLICATION_ID 0x41737359 /* "AssY" in the file's header */

struct store;

/* Create the file.  Refuses to replace a file that is not an assay run, and a file that another
 * tool is writing (-EBUSY). */
int store_create(const char *path, struct store **ret_store, struct err *err);

/* Stop writing when somebody interrupts: ERR_INTERRUPTED, and the transaction was not made. */
void store_watch(struct store *store, struct interrupt (*interrupted)(void));

/* Write the rows that were added to `run` since the last flush, in one transaction.  While somebody
 * reads the file with sqlite3 the rows wait for the next flush; that is no error. */
int store_flush(struct store *store, const struct run *run, struct err *err);

/* Flush, write the final state of the events and of the run (partial or whole), make it durable,
 * move it into place.  `store` stays to be closed. */
int store_finish(struct store *store, const struct run *run, struct err *err);

/* Close without finishing keeps what was flushed, marked partial; a file that never had a flush is
 * removed.  NULL is fine. */
void store_close(struct store *store);
void store_close_pointer(struct store **store);
#define store_auto __attribute__((cleanup(store_close_pointer)))

/* Load a run file, frozen.  A file that is foreign, newer, truncated or corrupt is refused with
 * one sentence; every id in it is checked.  In a partial run a count may belong to an execution
 * that never ended: its `execution` is then 0.  It ends early, refused, when somebody interrupts
 * (NULL: nobody). */
int store_load_until(const char *path, struct interrupt (*interrupted)(void), struct run **ret_run,
	struct err *err);

static inline int store_load(const char *path, struct run **ret_run, struct err *err)
{
	return store_load_until(path, NULL, ret_run, err);
}

/* The same from memory (the fuzz target's way in). */
int store_load_bytes(
	const void *bytes, size_t len, const char *name, struct run **ret_run, struct err *err);
