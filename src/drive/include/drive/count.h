/* count.h - run a target, or watch one, while events are counted.
 *
 * Does: start the target as often as asked, read the counters after each execution and at each
 * interval, pass everything on as records.  Does not: decide what is shown.
 * Keeps the promise of Ctrl-C: the execution that was interrupted is emitted and marked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "source/counters.h"
#include "source/event.h"

struct wire_sink;

struct count_options {
	const char *path; /* the program's file, NULL: only watch */
	char *const *argv;
	const char *folder; /* and the next two: see spawner.h */
	const char *input_path, *output_path;
	bool stdout_to_stderr;
	enum counters_mode mode; /* COUNTERS_CHILDREN: count the program itself */
	pid_t id;		 /* with COUNTERS_PROCESS and COUNTERS_THREAD */
	uint32_t repeat;	 /* 0 means 1 */
	uint64_t interval_ns;	 /* 0: none */
	bool watch_proc; /* read /proc meanwhile (proc_watch.h); not with the whole machine */
	/* Read this often without emitting, 0: never.  Intel's perf-metrics are fractions of 8 bit
	 * that the kernel turns into counts at each read. */
	uint64_t refresh_ns;
	bool judged; /* the caller knows which counters lie and has marked them in the list */
	struct interrupt (*interrupted)(void); /* asked when a signal wakes us */
	/* Called after each execution and interval, when its records are through; a negative return
	 * ends the counting. */
	int (*each)(void *context, uint32_t execution, uint64_t at_ns, struct err *err);
	void *context;
};

/* Count.  0 when all executions were done, 1 when the user stopped it, or a negative errno; what
 * was emitted before stays valid in each case. */
int count_target(const struct count_options *options, struct event_list *events,
	const struct wire_sink *sink, struct err *err);
