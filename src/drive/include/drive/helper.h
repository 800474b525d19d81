/* helper.h - run a helper to its end: git, a build, one run whose output is looked at.
 *
 * It leads its own process group, so that Ctrl-C ends it with all that it started; it gets no
 * terminal.  git and builds get none of git's variables: a hook's GIT_INDEX_FILE would lead them
 * into the user's index.  Does not: time anything (spawner.h does).  Single-threaded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "drive/interrupt.h"

struct helper_options {
	const char *const *argv; /* argv[0] is looked for in PATH unless `path` is given */
	const char *path;	 /* the file to execute; NULL: argv[0] */
	const char *folder;	 /* where it runs; NULL: here */
	const char *setting;	 /* one more "NAME=VALUE" of its environment, or NULL */
	bool without_git;	 /* takes git's variables out of its environment */
	const char *input_path;	 /* NULL: /dev/null */
	int output_fd, error_fd; /* where its words go; -1: /dev/null */
	uint64_t limit_ns;	 /* killed after that; 0: never */
	struct interrupt (*interrupted)(void); /* NULL: not to be interrupted (cleaning up) */
};

enum { HELPER_NOT_STARTED = 127, HELPER_KILLED = 128 /* plus the signal */ };

/* Its exit status, HELPER_KILLED plus a signal, -EINTR when the user stopped it, -ETIME at the
 * limit, or another negative errno. */
int helper_run(const struct helper_options *options, struct err *err);
