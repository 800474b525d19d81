/* registers.h - what differs between x86-64 and aarch64 when a stopped thread is made to do a
 * system call: which registers hold it, and how a call that was under way is begun again.
 *
 * One of registers_x86_64.c and registers_aarch64.c is built.  Owns nothing; reads and writes the
 * registers of threads that the caller traces (remote.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "threads.h"

/* The instruction of a system call. */
#if defined(__x86_64__)
enum { GATE_BYTES = 2, GATE_ALIGNMENT = 1 };
#elif defined(__aarch64__)
enum { GATE_BYTES = 4, GATE_ALIGNMENT = 4 };
#endif
extern const unsigned char registers_gate[GATE_BYTES];

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

/* A system call at the instruction at `gate`, and what it returned.  `arguments` NULL: those that
 * stand there. */
void registers_call(struct user_regs_struct *registers, uint64_t gate, long number,
	const uint64_t arguments[6]);
long registers_result(const struct user_regs_struct *registers);

/* The thread was stopped in the call `wait` (which may not be known) and has these registers. Where
 * the call has to be begun again and the kernel would not do it by itself, set them so.
 * `interrupted`: a signal of the program's own is there, so an EINTR is its due.
 * Returns 0 when it is enough to give the thread its registers back; else how the call is to end
 * (-ERESTART...) when the kernel is to decide anew whether it is begun again. */
int registers_resume(struct user_regs_struct *registers, pid_t tid, const struct thread_wait *wait,
	bool interrupted);

/* The same registers at the end of a call that ends so. */
void registers_end_call(struct user_regs_struct *registers, int how);
