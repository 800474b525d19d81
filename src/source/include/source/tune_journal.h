/* tune_journal.h - the memory of `assay tune`: one JSON object per line, only ever appended to.
 *
 *   {"event":"intent","path":P,"knob":K,"old":O,"new":N,...}   on disk before P is written
 *   {"event":"done","path":P,"new":N,...}                      what P said when it was read back
 *   {"event":"back","path":P,...}                              it is about to be brought back
 *   {"event":"closed","path":P,"how":H,...}                    reverted, left, or never changed
 *
 * and in each "session", "pid", "time_ns" and, last, "check": a hash of the line up to there.  A
 * path is changed from its intent to its next close; intents in between keep the first old value,
 * unless somebody else had written the file since: then theirs is the one that comes back.  A torn
 * last line is what a full disk leaves, and is not counted; other lines that are not understood or
 * whose check is wrong are, and are skipped: a flipped bit must not become a setting.
 *
 * It lives with the sources because a fingerprint tells what is tuned; drive/tune.h writes it.
 * Owns: its entries and their texts.  The file is outside data: any bytes are harmless. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

enum { TUNE_VALUE_LARGEST = 255 };

struct tune_entry {
	const char *path, *knob;
	const char *old;     /* before our first write */
	const char *written; /* what it has if nobody else touched it */
	const char *before;  /* or this, when a later write of ours was cut short; NULL: no */
	const char *by;	     /* who agreed to it; NULL: not told */
	uint64_t session, pid, time_ns; /* of the first change */
	uint64_t last_session;		/* of the last one */
	const char *outer;		/* what the file said when that session came to it */
	bool active;
	bool confirmed; /* it was read back, and nobody of us is at it */
};

struct tune_journal {
	vec_of(struct tune_entry) entries; /* in the order of their changes */
	struct map active;		   /* path to entry */
	uint32_t skipped;		   /* lines that are not ours */
	bool torn;			   /* the last line has no end */
	struct arena texts;
};

/* Take all lines of a journal's text. */
void tune_journal_read(struct tune_journal *journal, const char *text, size_t len);
void tune_journal_done(struct tune_journal *journal);

/* The open entry of a path, NULL: it is not changed. */
struct tune_entry *tune_journal_find(const struct tune_journal *journal, const char *path);

/* Whether a file that says `now` was last written by us. */
bool tune_entry_is_ours(const struct tune_entry *entry, const char *now);

/* How many paths are changed. */
uint32_t tune_journal_count(const struct tune_journal *journal);

/* Whether a journal can hold this value or path: 1 to 255 bytes of printable ASCII. */
bool tune_text_is_plain(const char *text, size_t len);

/* One line; `knob`, `old` and `by` only with an intent, `how` only with a close. */
struct tune_line {
	const char *event, *path, *knob, *old, *new, *how, *by;
	uint64_t session, pid, time_ns;
};

/* Append it to `out`, check and newline included. */
void tune_journal_line(const struct tune_line *line, struct str *out);

/* Append a line that has no check yet ("{...}") with its check and a newline. */
void tune_journal_seal(const char *line, size_t len, struct str *out);
