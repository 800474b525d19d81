/* queue_watch.h - how long a run waited for a CPU: private to the spawner.
 *
 * The kernel keeps for each thread how long it ran and how long it stood in a run queue
 * (/proc/PID/schedstat).  Of a program that has ended, but was not waited for, the first thread can
 * still be asked.  The starter waits too, from the end of the run until it has a CPU to notice it.
 * What the kernel does not tell is not in the result. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct spawner_result;

struct queue_watch {
	int own;	      /* descriptor of our own file, -1: there is none */
	uint64_t own_wait_ns; /* when the run had been started */
};

void queue_watch_open(struct queue_watch *watch);

/* The run has been started: from here on our own wait for a CPU can delay the notice of its end. */
void queue_watch_begin(struct queue_watch *watch);

/* It has ended, `pid` is a zombie and wall_ns is known: fill in queue_ns, and whether all CPU time
 * was of its first thread. */
void queue_watch_end(const struct queue_watch *watch, pid_t pid, struct spawner_result *result);
