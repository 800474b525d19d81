/* registers_x86_64.c - see registers.h.
 *
 * The kernel decides at the end of the stop whether a call is begun again, and sees that from the
 * registers: they only have to be given back. */
#include "registers.h"

#include <errno.h>
#include <sys/ptrace.h>

const unsigned char registers_gate[GATE_BYTES] = {0x0f, 0x05}; /* syscall */

int registers_get(pid_t tid, struct user_regs_struct *ret_registers)
{
	return ptrace(PTRACE_GETREGS, tid, 0, ret_registers) < 0 ? -errno : 0;
}

int registers_set(pid_t tid, const struct user_regs_struct *registers)
{
	return ptrace(PTRACE_SETREGS, tid, 0, registers) < 0 ? -errno : 0;
}

int registers_more_get(pid_t tid, struct registers_more *ret_more)
{
	(void)tid;
	*ret_more = (struct registers_more){0};
	return 0;
}

int registers_more_set(pid_t tid, const struct registers_more *more)
{
	(void)tid;
	(void)more;
	return 0;
}

uint64_t registers_address(const struct user_regs_struct *registers)
{
	return registers->rip;
}

void registers_call(
	struct user_regs_struct *registers, uint64_t gate, long number, const uint64_t arguments[6])
{
	registers->rip = gate;
	registers->orig_rax = (unsigned long long)-1; /* nothing is to be begun again */
	registers->rax = (unsigned long long)number;
	if (!arguments)
		return;
	registers->rdi = arguments[0];
	registers->rsi = arguments[1];
	registers->rdx = arguments[2];
	registers->r10 = arguments[3];
	registers->r8 = arguments[4];
	registers->r9 = arguments[5];
}

long registers_result(const struct user_regs_struct *registers)
{
	return (long)registers->rax;
}

/* Some calls (epoll_wait, a receive with a timeout...) answer an interruption with EINTR.  They
 * have done nothing then, so the kernel is to begin them again, unless a handler runs before. */
int registers_resume(struct user_regs_struct *registers, pid_t tid, const struct thread_wait *wait,
	bool interrupted)
{
	enum { AGAIN_UNHANDLED = -514 }; /* the kernel's ERESTARTNOHAND */

	(void)tid;
	(void)wait;
	if (!interrupted && (long)registers->rax == -EINTR &&
		thread_call_can_begin_again((long)registers->orig_rax))
		registers->rax = (unsigned long long)AGAIN_UNHANDLED;
	return 0;
}

/* Never needed: registers_resume() has always done all. */
void registers_end_call(struct user_regs_struct *registers, int how)
{
	registers->rax = (unsigned long long)how;
}
