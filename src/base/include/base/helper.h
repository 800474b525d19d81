/* helper.h - run another program to its end: git, a build, a phase of the main job.
 *
 * It leads its own process group, so that Ctrl-C ends it with all that it started; it gets no
 * terminal.  Does not: time anything (drive/spawner.h does), read what it prints, except for
 * helper_ask().  Single-threaded. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/interrupt.h"

struct helper_options {
	const char *const *argv; /* argv[0] is looked for in PATH unless `path` is given */
	const char *path;	 /* the file to execute; NULL: argv[0] */
	const char *folder;	 /* where it runs; NULL: here */
	const char *const
		*settings; /* "NAME=VALUE" more in its environment, up to a NULL; or NULL */
	const char *const *without;	       /* names that are taken out of it, the same */
	const char *input_path;		       /* NULL: /dev/null */
	int output_fd, error_fd;	       /* where its words go; -1: /dev/null */
	int death_signal;		       /* that it gets when we are killed; 0: SIGTERM */
	uint64_t limit_ns;		       /* killed after that; 0: never */
	struct interrupt (*interrupted)(void); /* NULL: not to be interrupted (cleaning up) */
};

enum { HELPER_NOT_STARTED = 127, HELPER_KILLED = 128 /* plus the signal */ };

/* Its exit status, HELPER_KILLED plus a signal, -EINTR when the user stopped it, -ETIME at the
 * limit, or another negative errno. */
int helper_run(const struct helper_options *options, struct err *err);

/* What argv[0], found in PATH, prints within two seconds: cut to `capacity` - 1 bytes.  As
 * helper_run(). */
int helper_ask(
	const char *const *argv, const char *const *settings, char *ret_output, size_t capacity);

/* The two ends of helper_run(), for who waits in another way.  Limit and interrupts are then the
 * caller's. */
struct helper {
	pid_t pid;   /* and of its group */
	int watched; /* readable when it has ended; closed by helper_end() */
};

/* 0, or a negative errno. */
int helper_start(const struct helper_options *options, struct helper *ret_helper, struct err *err);
/* Wait for its end.  Its exit status, or HELPER_KILLED plus a signal. */
int helper_end(struct helper *helper);
