/* revisions.h - two revisions of a git repository, each checked out and built in a folder of its
 * own.
 *
 * Each is a detached `git worktree` below $TMPDIR.  The user's tree, index, HEAD and branches are
 * only read; his hooks do not run.  The revision "." or "WORKTREE" is the tree as it stands: its
 * files, new ones included and ignored ones not, become a commit that no branch knows.
 * Cleans up: revisions_close() removes folders and worktrees; what a killed tool left behind goes
 * when the next one starts, if nobody holds it and its name is ours.
 * Owns: folders, worktrees and a lock on them.  Single-threaded. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/str.h"

enum { REVISIONS = 2 };

struct revisions_options {
	const char *names[REVISIONS]; /* as git understands them, or "." */
	const char *build;	      /* for `sh -c` in each folder; NULL: nothing to build */
	struct interrupt (*interrupted)(void);
	void (*progress)(void *context, const char *doing, const char *name); /* may be NULL */
	void *context;
};

struct revision {
	const char *name;
	char commit[65];     /* hexadecimal */
	const char *folder;  /* to run in: the same place below the top as the user's */
	bool as_it_stands;   /* the tree with its changes, not a commit of a branch */
	bool has_submodules; /* which are empty in the folder */
};

struct revisions;

/* Check out and build both.  When the build fails `ret_log` gets the last lines of its output and
 * the whole output is kept in a file that the hint names. */
int revisions_open(const struct revisions_options *options, struct revisions **ret_revisions,
	struct str *ret_log, struct err *err);

const struct revision *revisions_at(const struct revisions *revisions, unsigned index);

/* NULL is fine. */
void revisions_close(struct revisions *revisions);
