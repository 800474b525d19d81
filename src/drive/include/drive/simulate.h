/* simulate.h - run a target in valgrind's model of a CPU, where there is no PMU or exact counts are
 * wanted.
 *
 * Does: start the program under cachegrind (for calls and loops: callgrind) with the cache sizes of
 * this machine, wait, read what it wrote, pass it on: WIRE_EVENT (all of them
 * WIRE_EVENT_SIMULATED), WIRE_EXECUTION, one WIRE_COUNT per event and execution, WIRE_PLACE per
 * line (of the first execution), and WIRE_NOTEs that say which caches were simulated and what was
 * not.  Does not: time the program (a simulated run's wall time says nothing), judge, print. The
 * program keeps its stdin, stdout, stderr, folder and exit status; addresses are not randomised, so
 * that counts repeat.  Scratch is below $TMPDIR and removed, by the next simulation of the same
 * user if this one is killed.  Processes that it starts are simulated too and their counts added.
 * Single-threaded; one at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "source/event.h"

struct wire_sink;

/* Slower than without, as seen on programs that compute (docs/decisions/016-simulated.md). */
enum {
	SIMULATE_SLOWER_LEAST = 20,
	SIMULATE_SLOWER_MOST = 75,
	SIMULATE_INSTRUCTIONS_LEAST = 5, /* without caches and branches */
	SIMULATE_INSTRUCTIONS_MOST = 40,
	SIMULATE_CALLS_LEAST = 20, /* with calls and loops, without caches */
	SIMULATE_CALLS_MOST = 120,
};

struct simulate_options {
	const char *path; /* the program's file */
	char *const *argv;
	const char *input_path; /* see spawner.h */
	bool stdout_to_stderr;
	bool l2_is_last;    /* the last level is this machine's L2, not its L3 */
	uint32_t repeat;    /* 0 means 1 */
	uint64_t limit_ns;  /* of one run; 0: none.  What was simulated until then is kept */
	uint64_t delay_ns;  /* calls and loops: of real time until counting begins; 0: none */
	uint64_t native_ns; /* what a run takes without the simulator; 0: not known */
	struct interrupt (*interrupted)(void);
	/* What it will cost, before the first run; may be NULL. */
	void (*tell)(void *context, const char *text);
	/* About once a second while it runs; may be NULL. */
	void (*progress)(void *context, uint32_t execution, uint64_t elapsed_ns);
	/* Called after each execution, when its records are through; a negative return ends it. */
	int (*each)(void *context, uint32_t execution, struct err *err);
	void *context;
};

/* 0 when valgrind is here, else -ENOENT (ERR_UNAVAILABLE) with the way to get it. */
int simulate_available(struct err *err);

/* Simulate.  `events` NULL: all that can be simulated, under the names of source/cachegrind.h; else
 * those, in their order, and what cannot be simulated gets a status and a reason.
 * 0 when all executions were done, 1 when the user stopped it, or a negative errno; what was
 * emitted before stays valid.  An execution that was cut is marked WIRE_EXECUTION_TIMED_OUT or
 * _INTERRUPTED: its counts are of a part, so only rates can be made from them. */
int simulate_target(const struct simulate_options *options, const struct event_list *events,
	const struct wire_sink *sink, struct err *err);
