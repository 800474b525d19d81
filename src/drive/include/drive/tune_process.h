/* tune_process.h - settings of one program that touch nobody else.
 *
 * Does: give the calling process the processors, layout and priority that the program shall have
 * (they pass through fork and exec), and take them back; hold the processors awake while a
 * descriptor is open.  Does not: write any file of the machine; when the tool dies, nothing is left
 * but the program itself.  Single-threaded. */
#pragma once

#include <sched.h>
#include <stdbool.h>

#include "base/err.h"

/* Zero: nothing. */
struct tune_process_options {
	const char *cpus; /* "2-3": it runs there only; NULL: where it likes */
	bool no_aslr;	  /* the same addresses in each run */
	bool fifo;	  /* SCHED_FIFO 1: before every program that is not real-time */
	bool awake;	  /* no deep idle states: /dev/cpu_dma_latency at 0 us */
};

struct tune_process {
	struct tune_process_options options;
	cpu_set_t cpus;
	int policy, priority, persona; /* ours, as they were */
	int latency;		       /* descriptor, -1: not held */
};

/* Take on the settings; what cannot be is the failure, and nothing is changed then. */
int tune_process_begin(const struct tune_process_options *options, struct tune_process *ret_process,
	struct err *err);

/* The program's parent is forked: be as before. */
void tune_process_restore(struct tune_process *process);

/* Keep the processors awake until tune_process_close(), if that was asked for. */
int tune_process_hold(struct tune_process *process, struct err *err);
void tune_process_close(struct tune_process *process);
