/* knob.h - the settings of data/knobs.txt, and the rows that `assay tune` shows.
 *
 * Does: read the table, find names in it.  Does not: look at the machine (drive/tune.h does).
 * Owns: the book its texts; a view its array, not what the rows point to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

/* One knob; data/knobs.txt explains the members. */
struct knob {
	const char *name, *group, *path, *want, *why, *risk;
	const char *offered, *held, *unless, *refusal, *absent; /* NULL: not told */
	bool only;						/* never without being named */
};

struct knob_book {
	vec_of(struct knob) knobs;
	struct arena texts;
};

int knob_book_load(struct knob_book *book, struct err *err);
void knob_book_done(struct knob_book *book);
#define knob_book_auto __attribute__((cleanup(knob_book_done)))

/* 0 when `name` is a knob or a group, else usage with the nearest one. */
int knob_check_name(const struct knob_book *book, const char *name, struct err *err);

/* One file of one knob, as drive left it. */
struct knob_row {
	const struct knob *knob;	     /* NULL: not in the table (an old journal) */
	const char *path, *now, *old, *want; /* NULL: not known */
	const char *state;		     /* as tune_state_name() calls it */
	const char *reason;		     /* NULL: the state says it all */
	bool optional;			     /* not part of what was asked for */
	const char *by;			     /* who agreed to the change; NULL: not told */
	uint64_t time_ns;		     /* when it was made; 0: there is none */
};

/* What the machine does beside: one reading, or one process. */
struct knob_noise {
	const char *name, *value, *why;
	bool loud; /* more than a quiet machine has */
};

struct knob_busy {
	uint32_t pid;
	const char *name;
	double cpus; /* processors that it uses, 1.0 is one */
};

/* What `run` gave the program alone. */
struct knob_process {
	const char *cpus; /* NULL: not asked for */
	bool no_aslr, fifo, awake;
};

struct knob_view {
	const char *action;  /* plan, apply, run, revert, status */
	const char *next;    /* the command worth running, NULL: none */
	const char *journal; /* where it is, or would be */
	vec_of(struct knob_row) rows;
	uint32_t void_changes; /* of an earlier boot */
	bool ran;	       /* run: the program */
	int exit_status, signal;
	struct knob_view *reverted; /* run: what came of the way back, else NULL */
	struct knob_process process;
	const char *journal_id;		 /* of what is changed now, NULL: nothing is */
	const char *expected;		 /* status: the snapshot that was compared, NULL: none */
	bool snapshot;			 /* status: the rows are what every knob says */
	vec_of(struct knob_noise) noise; /* plan */
	vec_of(struct knob_busy) busy;	 /* plan: busiest first */
	double busy_seconds;		 /* how long they were watched; 0: they were not */
};

/* How many rows of what was asked for are in this state. */
uint32_t knob_view_count(const struct knob_view *view, const char *state);

/* Whether two rows tell the same but for their path: shown as one. */
bool knob_row_is_like(const struct knob_row *a, const struct knob_row *b);
