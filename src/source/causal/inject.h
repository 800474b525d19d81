/* inject.h - put the handler of causal experiments into a process that runs, and take it out again.
 *
 * Does: have one thread map the code and the shared memory and set the handler; later set the old
 * handler back and unmap, once no thread is inside.  All other threads run on meanwhile.
 * Does not: check whether the process may be touched (causal_check.c does).
 * Killed half-way, it leaves a process that takes all out again by itself (remote.h).  What a tool
 * left that was killed later is taken out by the next one that puts something in.
 * To be called in a process of its own: a thread that would not stop is traced until its end.
 * Owns: nothing.  What was put in is described by the struct, and lives in the process. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* As the kernel's rt_sigaction() takes it. */
struct inject_action {
	uint64_t handler, flags, leave, mask;
};

struct injection {
	pid_t pid;   /* 0: nothing is put in */
	pid_t owner; /* for whom; once it has ended, nothing more is put in */
	uint64_t code, code_bytes;
	uint64_t board, board_bytes, seats, seats_bytes;
	uint64_t handler; /* address */
	uint64_t owner_start;
	uint32_t signal;	  /* that nobody had a use for */
	struct inject_action old; /* what was set for it */
	uint64_t stop_ns;	  /* the one thread was stopped for so long */
};

/* `injection` has the pid, the owner and the sizes; the rest is filled in.  After a failure the
 * process is as before. */
int inject_put(struct injection *injection, int board_fd, int seats_fd, struct err *err);

/* Nobody may send the signal any more.  -EBUSY when a thread stayed inside: the handler is off and
 * only memory is left behind. */
int inject_take_out(const struct injection *injection, struct err *err);
