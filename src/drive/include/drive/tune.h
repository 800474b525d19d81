/* tune.h - change settings of the machine, and bring them back.
 *
 * Does: look at knobs (files of /sys and /proc/sys), write them, keep a journal of what was there,
 * restore it.  Does not: ask for consent, choose the knobs (job does both), or write any file that
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
#include "source/tune_journal.h"

/* One knob as it is wished for; data/knobs.txt explains the texts. */
struct tune_knob {
	const char *name, *pattern, *want;
	const char *offered; /* NULL: the file itself says, or nothing does */
	const char *held;    /* the knob that resets this one; NULL: none is known to */
	const char *unless;  /* "VALUE SENTENCE": left alone while it says that; NULL: never */
	const char *refusal; /* why some of its files take nothing; NULL: they should */
	const char *absent;  /* why a machine may lack it; NULL: nothing is known */
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
	TUNE_DIFFERS,  /* is not as a snapshot says */
	TUNE_STATES,
};

/* One file. */
struct tune_item {
	uint32_t knob; /* index in the knobs, UINT32_MAX: none of them (an old journal) */
	enum tune_state state;
	bool chosen;	    /* tune_apply() changes it; set by the caller */
	bool held;	    /* tune_apply() keeps it as it is, though another knob resets it */
	const char *path;   /* without the root; the pattern when absent */
	const char *now;    /* NULL: not readable */
	const char *old;    /* what tune_revert() brings back; NULL: nothing was written */
	const char *want;   /* NULL: not known */
	const char *reason; /* of a state that needs one, else NULL */
	const char *by;	    /* who agreed to the change; NULL: not told, or there is none */
	uint64_t time_ns;   /* when it was made; 0: there is none */
};

struct tune_options {
	const char *root; /* "" or the folder of another tree of /sys, /proc and /var */
	const struct tune_knob *knobs;
	uint32_t knob_count;
	const char *cpus; /* those that are measured on, for knobs that want "!cpus"; NULL: none */
	const char *by;	  /* who agrees to changes, for the journal; NULL: not told */
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

/* "BOOT:SESSION" of the last change, NULL: nothing is changed.  After tune_status(). */
const char *tune_journal_id(struct tune *tune);

/* Fill `items` with what a snapshot (drive/tune_snapshot.h) has, as TUNE_SET or TUNE_DIFFERS.
 * Reads only files that match a knob. */
struct tune_snapshot;
void tune_expect(struct tune *tune, const struct tune_snapshot *snapshot);

/* Become the one holder until tune_close(); makes the journal's folder.  -EBUSY: somebody else is.
 */
int tune_lock(struct tune *tune, struct err *err);

/* Write the chosen items of tune_look(); each one's state then says what came of it.  The journal
 * of all of them is on disk before the first is written; when it cannot be, that is the failure and
 * nothing was changed.  Needs the lock. */
int tune_apply(struct tune *tune, struct err *err);

/* Fill `items` with what is changed now, last change first, and bring the old values back; only
 * changes of our own session, or all.  Needs the lock. */
int tune_revert(struct tune *tune, bool own_only, struct err *err);

/* tune_apply(), the program (opened, not started), tune_revert(), with a guardian process that does
 * the last when we die.  `applied` is called once the machine is tuned.  Needs the lock. */
int tune_run(struct tune *tune, struct execution *execution, void (*applied)(void *context),
	void *context, struct err *err);

const char *tune_state_name(enum tune_state state);
