/* remote.h - one thread of another process, stopped for a moment and made to do system calls.
 *
 * Does: stop it (ptrace, without a signal), have it execute system calls at an instruction that its
 * process has anyway, write words into its memory, let it go on exactly where it was: registers,
 * signal mask and a system call that was under way are as before, and no user code of ours has run.
 * Does not: choose the thread or the calls.
 * Owns: the thread is traced from remote_stop() to remote_release(), or until this process ends. If
 * it ended in between the thread would go on with our registers, so all of this is done in a
 * process of its own that nobody kills (causal_attach.c).  Threads: one.  x86-64 and aarch64
 * (registers.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "registers.h"

struct remote {
	pid_t tid;
	uint64_t gate;	     /* address of a system call instruction */
	uint64_t stopped_ns; /* since when */
	uint64_t mask;	     /* of signals, as it was */
	bool traced;
	int again; /* how a call of its own that was under way is to end, see registers.h */
	struct user_regs_struct saved;
	struct registers_more saved_more;
};

/* The address of a system call instruction in process `pid`; 0: none was found. */
uint64_t remote_gate(pid_t pid);

/* Stop thread `tid`.  0; -ESRCH it ended, -EPERM not permitted, -ETIMEDOUT it sleeps where it
 * cannot be stopped, -EAGAIN it is in a restartable sequence or may not be touched now, -ENOTSUP it
 * has its system calls dispatched to itself.  After a failure it is not traced, except -ETIMEDOUT:
 * then until this process ends. */
int remote_stop(struct remote *remote, pid_t tid, uint64_t gate);

/* Where it was when it was stopped. */
uint64_t remote_address(const struct remote *remote);

/* Make it do a system call; its result, a negative errno included.  -ESRCH: it is gone. */
long remote_call(struct remote *remote, long number, const uint64_t arguments[6]);

/* Words into and out of its memory, whatever the page's protection; `len` is a multiple of 8. */
int remote_write(const struct remote *remote, uint64_t addr, const void *bytes, size_t len);
int remote_read(const struct remote *remote, uint64_t addr, void *ret_bytes, size_t len);

/* Let it go on.  0 or -ESRCH. */
int remote_release(struct remote *remote);
