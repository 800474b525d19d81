/* phase.h - run one phase of the main job: assay itself as a child, watched, limited and stopped.
 *
 * The child leads its own process group and has no terminal.  It is asked to stop with SIGTERM,
 * which each command of assay passes on to its target; a second one makes it kill the target; what
 * is left of the group at last is killed whole.  When we are killed, the kernel kills the child at
 * once: a command of assay that dies so leaves its target running as it was, to its own end.
 * Why it failed it writes into a file in memory, whose descriptor PHASE_FAILURE names: the sentence
 * on one line, the way out on the next.  Its stderr is the target's too, so it is not looked at.
 * Single-threaded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/interrupt.h"

/* A number.  The child takes it out of its environment and closes it on exec, so that the target
 * sees neither. */
#define PHASE_FAILURE "ASSAY_FAILURE"

struct phase_options {
	const char *path;	 /* the file to execute */
	const char *const *argv; /* its words, NULL-terminated */
	const char *setting;	 /* one more "NAME=VALUE" of its environment, or NULL */
	const char *input_path;	 /* NULL: /dev/null */
	const char *output_path, *error_path; /* made anew; NULL: /dev/null */
	uint64_t limit_ns;		      /* then it is asked to stop; 0: never */
	struct interrupt (*interrupted)(void);
	void (*progress)(void *context, uint64_t elapsed_ns); /* a few times a second; or NULL */
	void (*watch)(void *context, pid_t pid); /* of the child, twenty times a second; or NULL */
	void *context;
};

struct phase_result {
	int status; /* exit status, or 128 plus the signal that ended it */
	uint64_t wall_ns;
	bool limited;	    /* it was asked to stop at the limit */
	bool interrupted;   /* the user stopped it */
	bool killed;	    /* it did not stop when asked */
	struct err failure; /* as the child told it; .code 0: it told none */
};

/* 0 when it was started and has ended, however; a negative errno when it could not be started. */
int phase_run(
	const struct phase_options *options, struct phase_result *ret_result, struct err *err);
