/* tune.h - change settings of the machine, and bring them back.
 *
 * Does: look at knobs (files of /sys and /proc/sys), write them, keep a journal of what was there,
 * restore it.  Does not: ask for consent, choose the knobs (cli does both), or write any file that
 * matches no knob it was given, whatever the journal says.
 *
 * The promise: before a knob is written, its old value is on disk.  So `kill -9` at any moment
 * loses nothing: tune_revert() restores every knob that still has the value written here, and
 * leaves alone what somebody else has changed since.
 *
 * Owns: its texts, journal and lock until tune_close(); borrows the knobs.  Single-threaded; one
 * holder at a time by a file lock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "drive/execution.h"
#include "drive/tune_journal.h"

/* One knob as it is wished for; data/knobs.txt explains the texts. */
struct tune_knob {
	const char *name, *pattern, *want;
	const char *offered; /* NULL: the file itself says, or nothing does */
};

enum tune_state {
	TUNE_ABSENT,	  /* this machine has no such file */
	TUNE_SET,	  /* is as wanted */
	TUNE_CHANGE,	  /* would be changed */
	TUNE_UNSUPPORTED, /* the file does not take that value */
	TUNE_DENIED,	  /* may not be read or written by us */
	TUNE_APPLIED,
	TUNE_FAILED,   /* the kernel refused, or did not keep the value */
	TUNE_ACTIVE,   /* written earlier, still so */
	TUNE_REVERTED, /* the old value is back */
	TUNE_LEFT,     /* somebody else has changed it since: not touched */
	TUNE_STUCK,    /* the old value could not be written */
	TUNE_STATES,
};

/* One file. */
struct tune_item {
	uint32_t knob; /* index in the knobs, UINT32_MAX: none of them (an old journal) */
	enum tune_state state;
	bool chosen;	    /* tune_apply() changes it; set by the caller */
	const char *path;   /* without the root; the pattern when absent */
	const char *now;    /* NULL: not readable */
	const char *old;    /* what tune_revert() brings back; NULL: nothing was written */
	const char *want;   /* NULL: not known */
	const char *reason; /* of a state that needs one, else NULL */
};

struct tune_options {
	const char *root; /* "" or the folder of another tree of /sys, /proc and /var */
	const struct tune_knob *knobs;
	uint32_t knob_count;
};

struct tune {
	struct tune_options options;
	struct arena texts;
	vec_of(struct tune_item) items;
	struct tune_journal journal; /* as last read */
	const char *journal_path;    /* of this boot */
	uint64_t session;	     /* ours, in the journal */
	uint32_t void_changes;	     /* of earlier boots: they ended with it */
	int folder;		     /* holds the lock, -1: not locked */
	int file;		     /* the journal, for appending; -1: not open */
};

int tune_open(struct tune *ret_tune, const struct tune_options *options, struct err *err);
void tune_close(struct tune *tune);
#define tune_auto __attribute__((cleanup(tune_close)))

/* Fill `items` with every knob of this machine, in the order of the knobs.  Writes nothing. */
void tune_look(struct tune *tune);

/* Fill `items` with what the journal says is changed now.  Writes nothing. */
int tune_status(struct tune *tune, struct err *err);

/* Become the one holder until tune_close(); makes the journal's folder.  -EBUSY: somebody else is.
 */
int tune_lock(struct tune *tune, struct err *err);

/* Write the chosen items of tune_look(); each one's state then says what came of it.  Fails only
 * when the journal cannot be written: what was not journaled is not changed.  Needs the lock. */
int tune_apply(struct tune *tune, struct err *err);

/* Fill `items` with what is changed now, last change first, and bring the old values back; only
 * changes of our own session, or all.  Needs the lock. */
int tune_revert(struct tune *tune, bool own_only, struct err *err);

/* tune_apply(), the program (opened, not started), tune_revert(), with a guardian process that does
 * the last when we die.  `applied` is called once the machine is tuned.  Needs the lock. */
int tune_run(struct tune *tune, struct execution *execution, void (*applied)(void *context),
	void *context, struct err *err);

const char *tune_state_name(enum tune_state state);
