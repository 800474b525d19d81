/* registers.h - what differs between x86-64 and aarch64 when a stopped thread is made to do system
 * calls: which registers hold one, how a call that was under way is begun again, and the code that
 * brings the thread back by itself should nobody be there any more to give it its registers.
 *
 * One of registers_x86_64.c and registers_aarch64.c is built.  Owns nothing; reads and writes the
 * registers of threads that the caller traces (remote.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "threads.h"

/* What a system call made in the place of the thread's own code would not leave alone, beside the
 * general registers. */
struct registers_more {
#if defined(__aarch64__)
	/* The vectors of SVE, which a system call cuts down to their first 128 bits: up to 2048 of
	 * them in each of 32, the predicates, and what stands before and behind. */
	unsigned char vectors[9216];
	uint32_t vectors_len; /* 0: not in use */
#else
	char none;
#endif
};

/* 0 or a negative errno; more_get() has -EAGAIN for a state that cannot be given back. */
int registers_get(pid_t tid, struct user_regs_struct *ret_registers);
int registers_set(pid_t tid, const struct user_regs_struct *registers);
int registers_more_get(pid_t tid, struct registers_more *ret_more);
int registers_more_set(pid_t tid, const struct registers_more *more);

/* Where the thread is. */
uint64_t registers_address(const struct user_regs_struct *registers);

/* ---- the rescue code ----
 *
 * A system call instruction; behind it, what a thread does that was let go there: unmap what the
 * call mapped, do a list of steps, give itself its signal mask and registers, and go on. Then the
 * mask and the registers themselves.  It runs wherever it stands, and writes nothing. */

enum { RESCUE_ALIGNMENT = 16, RESCUE_MOST_BYTES = 12288 };

/* A step is a system call; `indirect`: the first argument is the address of an int that is it. */
struct rescue_step {
	uint32_t number, indirect;
	uint64_t arguments[4];
};

extern const unsigned char rescue_code[];
extern const uint32_t rescue_code_bytes;

/* The code for a thread with these registers and this mask, as it is to stand in its process.
 * Returns the length, a multiple of 8 and at most RESCUE_MOST_BYTES, or a negative errno. */
int rescue_make(pid_t tid, const struct user_regs_struct *saved, const struct registers_more *more,
	uint64_t mask, unsigned char *ret_bytes);

/* Which steps it then does, `from` up to `to`; and how much a call under way maps, or 0. */
struct rescue_plan {
	uint64_t at, from, to, map_bytes;
};

/* At the call, which has these arguments (NULL: those that stand there), or at the first step. */
void rescue_call(struct user_regs_struct *registers, const struct rescue_plan *plan, long number,
	const uint64_t arguments[6]);
void rescue_wait(struct user_regs_struct *registers, const struct rescue_plan *plan);
long registers_result(const struct user_regs_struct *registers);

/* ---- a call that was under way ---- */

/* The thread was stopped in the call `wait` (which may not be known) and has these registers. Where
 * the call has to be begun again and the kernel would not do it by itself, set them so.
 * `interrupted`: a signal of the program's own is there, so an EINTR is its due.
 * Returns 0 when it is enough to give the thread its registers back; else how the call is to end
 * (-ERESTART...) when the kernel is to decide anew whether it is begun again. */
int registers_resume(struct user_regs_struct *registers, pid_t tid, const struct thread_wait *wait,
	bool interrupted);

/* The same registers at the end of a call that ends so. */
void registers_end_call(struct user_regs_struct *registers, int how);
