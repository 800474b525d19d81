/* execution.h - one target that runs, or one that is only watched: its start, signals and end.
 *
 * Does: fork the spawner or find the process to watch, pass Ctrl-C on, emit WIRE_EXECUTION.
 * Does not: wait; the caller sleeps on execution_descriptor() beside what else it listens to.
 * Owns: spawner and descriptor, until execution_close().  Single-threaded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "drive/spawner.h"
#include "source/counters.h"

struct wire_sink;

struct execution_options {
	const char *path; /* the program's file, NULL: only watch */
	char *const *argv;
	const char *folder; /* and the next two: see spawner.h */
	const char *input_path, *output_path;
	bool stdout_to_stderr;
	const struct spawner_variable *variables; /* see spawner.h; NULL: none */
	enum counters_mode mode; /* COUNTERS_CHILDREN: it is about the program itself */
	pid_t id;		 /* with COUNTERS_PROCESS and COUNTERS_THREAD */
	struct interrupt (*interrupted)(void); /* asked when a signal wakes us */
};

struct execution {
	struct execution_options options;
	struct spawner *spawner; /* NULL: only watching */
	int watched;		 /* pidfd of a watched process, -1: none */
	uint32_t number;	 /* 1, 2, 3...; counted by execution_start() */
	uint64_t start_ns;
	unsigned signals_seen;
	bool stopped; /* by the user */
	bool ended;   /* by us: there is enough, or its time is up */
	struct spawner_result result;
};

int execution_open(
	const struct execution_options *options, struct execution *ret_execution, struct err *err);

/* The task that events are opened on: the spawner, or the watched process. */
pid_t execution_id(const struct execution *execution);

int execution_start(struct execution *execution, struct err *err);

/* Readable when the program or the watched process has ended; -1: nothing ends by itself. */
int execution_descriptor(const struct execution *execution);

/* A signal woke us.  The first one goes to the program too, unless the terminal has sent it there
 * already, and it may end in its own way; the second kills it.  A watched process is left alone. */
void execution_pass_on_signals(struct execution *execution);

/* The program has ended, or never started, which is the failure. */
int execution_finish(struct execution *execution, struct err *err);

/* Emit WIRE_EXECUTION.  While somebody else is watched, a program is only the clock and its usage
 * says nothing. */
int execution_emit(const struct execution *execution, const struct wire_sink *sink);

void execution_close(struct execution *execution);
