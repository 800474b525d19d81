/* record.h - run a target, or watch one, while it is sampled.
 *
 * Does: start the target, pass the rings' content on while it runs, stop when it ends, say what the
 * recording itself cost and what was lost.  Does not: keep anything; the sink does.
 * Keeps the promise of Ctrl-C: what was sampled until then is handed over. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "source/event.h"
#include "source/sampler.h"

struct wire_sink;

struct record_options {
	const char *path; /* the program's file, NULL: only watch */
	char *const *argv;
	bool stdout_to_stderr;
	enum counters_mode mode; /* COUNTERS_CHILDREN: the program itself is sampled */
	pid_t id;		 /* with COUNTERS_PROCESS */
	uint64_t rate_hz, period;
	enum sampler_stack stack;
	uint64_t branches; /* see sampler.h, and the next one */
	bool accesses;
	uint64_t delay_ns;    /* no samples before that; 0: from the first instruction on */
	uint64_t duration_ns; /* no samples after that (from the delay on); 0: until the end */
	struct interrupt (*interrupted)(void);
	/* Called about ten times a second and at the end; a negative return ends the recording. */
	int (*each)(void *context, const struct sampler_facts *facts, struct err *err);
	void *context;
};

/* Record.  0 when the target ended, 1 when the user stopped it, or a negative errno; what was
 * handed over before stays valid in each case.  After `duration_ns` a program runs on to its end
 * without being sampled; a watch ends there. */
int record_target(const struct record_options *options, struct event_list *events,
	const struct wire_sink *sink, struct err *err);
