/* remote.h - one thread of another process, stopped for a moment and made to do system calls.
 *
 * Does: stop it (ptrace, without a signal), have it do system calls, write words into its memory,
 * let it go on exactly where it was: registers, signal mask and a system call that was under way
 * are as before.  Does not: choose the thread or the calls.
 * Owns: the thread is traced from remote_stop() to remote_release(), or until this process ends.
 * Should it be killed in between, the thread goes on by itself, because it is always in one of two
 * states: with its own registers, or in the rescue code (registers.h), which ends the call under
 * way, does the steps that were told last, and gives the thread its registers back.
 * Threads: one.  x86-64 and aarch64 (registers.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "registers.h"

enum { REMOTE_STEPS_MOST = 12, REMOTE_LIST_BYTES = 2 * REMOTE_STEPS_MOST * 40 };

struct remote {
	pid_t tid;
	uint64_t stopped_ns; /* since when */
	uint64_t mask;	     /* of signals, as it was */
	bool traced;
	int again; /* how a call of its own that was under way is to end, see registers.h */
	struct rescue_plan plan; /* `at` 0: the thread has its own registers */
	uint64_t rescue_bytes;
	uint64_t list;	  /* address of REMOTE_LIST_BYTES of its memory for the steps */
	bool second_half; /* of the list is in use; a new one is written to the other */
	struct user_regs_struct saved;
	struct registers_more saved_more;
};

/* Stop thread `tid`.  0; -ESRCH it ended, -EPERM not permitted, -ETIMEDOUT it sleeps where it
 * cannot be stopped, -EAGAIN it is in a restartable sequence or may not be touched now, -ENOTSUP it
 * has its system calls dispatched to itself.  After a failure it is not traced, except -ETIMEDOUT:
 * then until this process ends. */
int remote_stop(struct remote *remote, pid_t tid);

/* Where it was when it was stopped. */
uint64_t remote_address(const struct remote *remote);

/* Put the rescue code into executable memory that nothing uses (slack.h), and the thread into it.
 * To be done before the first call.  0, -ENOSPC, or another negative errno: it still has its own
 * registers. */
int remote_prepare(struct remote *remote, uint64_t at, uint64_t bytes);

/* Make it do a system call; its result, a negative errno included.  -ESRCH: it is gone.  What a
 * mmap(2) mapped is unmapped again if this process is killed before the next steps are told. */
long remote_call(struct remote *remote, long number, const uint64_t arguments[6]);

/* What it is to do if this process is killed from now on, in this order; needs `list`.  From one
 * list to the next in one moment.  0 or a negative errno. */
int remote_steps(struct remote *remote, const struct rescue_step *steps, unsigned count);

/* Have it do the first `count` of the steps now, each of them once whatever happens to us; the
 * others stay.  0, or the first failure. */
int remote_do(struct remote *remote, unsigned count);

/* Words into and out of its memory, whatever the page's protection; `len` is a multiple of 8. */
int remote_write(const struct remote *remote, uint64_t addr, const void *bytes, size_t len);
int remote_read(const struct remote *remote, uint64_t addr, void *ret_bytes, size_t len);

/* Let it go on; the steps are not done.  0 or -ESRCH. */
int remote_release(struct remote *remote);
