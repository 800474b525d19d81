/* registers_aarch64.c - see registers.h.
 *
 * Here the kernel prepares a call that is begun again before the stop: the thread then stands at
 * its instruction with its arguments, and neither the first argument of a call that answered EINTR
 * can be seen any more, nor that a call was to go on for the time that is left, or to answer EINTR
 * should a signal come.  So the call is known from a look at the thread before it was stopped; and
 * that it was stopped in that very wait, from how often it has blocked.  The decision is given back
 * to the kernel: a call of ours with the same first argument ends as the thread's own did. */
#include "registers.h"

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

const unsigned char registers_gate[GATE_BYTES] = {0x01, 0x00, 0x00, 0xd4}; /* svc #0 */

/* Where an indirect jump may land is checked in guarded pages; ours is none. */
#define LANDING_BITS 0xc00ULL

/* Since Linux 4.15 and 5.19; libc's headers may be older. */
#define VECTORS 0x405
#define STREAMING_VECTORS 0x40b

/* The head of both. */
struct vectors_head {
	uint32_t size, max_size;
	uint16_t len, max_len, flags, reserved;
};

enum { VECTORS_IN_USE = 1 };

int registers_get(pid_t tid, struct user_regs_struct *ret_registers)
{
	struct iovec to = {ret_registers, sizeof(*ret_registers)};

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &to) < 0 ? -errno : 0;
}

int registers_set(pid_t tid, const struct user_regs_struct *registers)
{
	struct user_regs_struct copy = *registers;
	struct iovec from = {&copy, sizeof(copy)};

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &from) < 0 ? -errno : 0;
}

static bool vectors_get(pid_t tid, unsigned kind, void *ret_bytes, size_t *len)
{
	struct iovec to = {ret_bytes, *len};
	struct vectors_head head;

	if (ptrace(PTRACE_GETREGSET, tid, kind, &to) < 0 || to.iov_len < sizeof(head))
		return false; /* no such registers on this machine */
	memcpy(&head, ret_bytes, sizeof(head));
	*len = head.size;
	return head.flags & VECTORS_IN_USE;
}

/* In streaming mode, which a system call ends, a thread is not touched. */
int registers_more_get(pid_t tid, struct registers_more *ret_more)
{
	size_t len = sizeof(ret_more->vectors);

	ret_more->vectors_len = 0;
	if (vectors_get(tid, STREAMING_VECTORS, ret_more->vectors, &len))
		return -EAGAIN;
	len = sizeof(ret_more->vectors);
	if (!vectors_get(tid, VECTORS, ret_more->vectors, &len))
		return 0;
	if (len > sizeof(ret_more->vectors))
		return -EAGAIN;
	ret_more->vectors_len = (uint32_t)len;
	return 0;
}

int registers_more_set(pid_t tid, const struct registers_more *more)
{
	struct registers_more copy = *more;
	struct iovec from = {copy.vectors, copy.vectors_len};

	if (!more->vectors_len)
		return 0;
	return ptrace(PTRACE_SETREGSET, tid, VECTORS, &from) < 0 ? -errno : 0;
}

uint64_t registers_address(const struct user_regs_struct *registers)
{
	return registers->pc;
}

void registers_call(
	struct user_regs_struct *registers, uint64_t gate, long number, const uint64_t arguments[6])
{
	registers->pc = gate;
	registers->pstate &= ~LANDING_BITS;
	registers->regs[8] = (uint64_t)number;
	for (unsigned i = 0; arguments && i < 6; i++)
		registers->regs[i] = arguments[i];
}

long registers_result(const struct user_regs_struct *registers)
{
	return (long)registers->regs[0];
}

/* How the kernel ends a call that is interrupted before it has done anything; its own numbers. */
enum {
	AGAIN = -512,		  /* begun again, unless a handler without SA_RESTART runs */
	AGAIN_ALWAYS = -513,	  /* also then */
	AGAIN_UNHANDLED = -514,	  /* unless a handler runs */
	AGAIN_FOR_THE_REST = -516 /* the same, and for the time that is left */
};

static int futex_ends(const struct thread_wait *wait)
{
	int command = (int)wait->arguments[1] & FUTEX_CMD_MASK;

	if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
		return AGAIN_ALWAYS;
	return wait->arguments[3] ? AGAIN_FOR_THE_REST : AGAIN;
}

static int call_ends(const struct thread_wait *wait)
{
	switch (wait->call) {
	case SYS_futex:
		return futex_ends(wait);
	case SYS_clock_nanosleep:
		return wait->arguments[1] & TIMER_ABSTIME ? AGAIN_UNHANDLED : AGAIN_FOR_THE_REST;
	case SYS_nanosleep:
	case SYS_restart_syscall:
		return AGAIN_FOR_THE_REST;
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_rt_sigsuspend:
		return AGAIN_UNHANDLED;
	default:
		return AGAIN;
	}
}

int registers_resume(struct user_regs_struct *registers, pid_t tid, const struct thread_wait *wait,
	bool interrupted)
{
	/* Blocked once more since then: in the stop. */
	if (wait->call < 0 || (long)registers->regs[8] != wait->call ||
		thread_blocks(tid) != wait->blocks + 1)
		return 0;
	if (registers->pc == wait->address - GATE_BYTES)
		return call_ends(wait);
	if (registers->pc != wait->address || (long)registers->regs[0] != -EINTR || interrupted ||
		!thread_call_can_begin_again(wait->call))
		return 0;
	registers->regs[0] = wait->arguments[0];
	registers->pc -= GATE_BYTES;
	return AGAIN_UNHANDLED;
}

void registers_end_call(struct user_regs_struct *registers, int how)
{
	registers->regs[0] = (uint64_t)(int64_t)how;
	registers->pc += GATE_BYTES;
}
