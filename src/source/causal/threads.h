/* threads.h - what /proc tells about the threads of a process, without touching them.
 *
 * Owns nothing but the list it fills.  What it tells may be over the moment after. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

typedef vec_of(pid_t) thread_vec;

/* The threads of process `pid`.  0 or a negative errno. */
int threads_list(pid_t pid, thread_vec *ret_threads);

enum thread_activity {
	THREAD_GONE,
	THREAD_RUNS,	/* or waits for a CPU, or is blocked in a fault: not told where */
	THREAD_WAITS,	/* in a system call */
	THREAD_IS_HELD, /* in one that cannot be interrupted */
};

/* What the thread does; the call that it waits in and where in the program it was made, -1 and 0
 * when that is not known. */
enum thread_activity thread_look(pid_t tid, long *ret_call, uint64_t *ret_address);

/* The system call that a thread waits in. */
struct thread_wait {
	long call; /* -1: none, or not known */
	uint64_t arguments[6];
	uint64_t address; /* behind the instruction that made it */
	uint64_t blocks;  /* how often the thread had blocked by then */
};

void thread_wait_look(pid_t tid, struct thread_wait *ret_wait);
uint64_t thread_blocks(pid_t tid);

/* Whether it is one that has done nothing when it says EINTR. */
bool thread_call_can_begin_again(long call);

/* Whether a signal that the thread does not block waits for it. */
bool threads_signal_waits(pid_t tid);

/* A number of /proc/TID/status, base 10 or 16; `fallback` when there is none. */
uint64_t thread_status(pid_t tid, const char *name, int base, uint64_t fallback);

/* The threads in the order in which they are best stopped for a moment: first those that wait in a
 * call that the kernel begins again by itself, then those that run, those in other calls; those
 * that cannot be interrupted are left out. */
void threads_order(thread_vec *threads);
