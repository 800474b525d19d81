/* registers_x86_64.c - see registers.h.
 *
 * The kernel decides at the end of the stop whether a call is begun again, and sees that from the
 * registers: they only have to be given back.  The rescue code cannot leave that to the kernel; it
 * begins the call again itself, a wait for the time that is left by restart_syscall(2), which takes
 * no arguments.  (Not by rt_sigreturn(2): that makes the kernel forget the time.)  System calls
 * leave the vectors alone, so nobody has to save them. */
#include "registers.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* How the kernel ends a call that is interrupted before it has done anything; its own numbers. */
enum { AGAIN = -512, AGAIN_ALWAYS = -513, AGAIN_UNHANDLED = -514, AGAIN_FOR_THE_REST = -516 };

/* What stands behind the code, in its order. */
struct rescue_data {
	uint64_t flags, sp, mask;
	uint64_t bx, cx, dx, si, di, bp, r8, r9, r10, r11, r12, r13, r14, r15, ax, ip;
};

/* rbx: bytes that the call maps; r12, r13: steps.  The flags come first, because what follows them
 * does not change any; the stack is the thread's own again before its signals can come. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".global rescue_code\n"
	"rescue_code:\n"
	"	syscall\n"
	"	testq	%rbx, %rbx\n"
	"	jz	rescue_steps\n"
	"	cmpq	$-4095, %rax\n"
	"	jae	rescue_steps\n"
	"	movq	%rax, %rdi\n"
	"	movq	%rbx, %rsi\n"
	"	movl	$11, %eax\n" /* munmap */
	"	syscall\n"
	"rescue_steps:\n"
	"	cmpq	%r13, %r12\n"
	"	je	2f\n"
	"	movq	8(%r12), %rdi\n"
	"	cmpl	$0, 4(%r12)\n"
	"	je	1f\n"
	"	movslq	(%rdi), %rdi\n"
	"1:	movq	16(%r12), %rsi\n"
	"	movq	24(%r12), %rdx\n"
	"	movq	32(%r12), %r10\n"
	"	movl	(%r12), %eax\n"
	"	addq	$40, %r12\n"
	"	syscall\n"
	"	jmp	rescue_steps\n"
	"2:	leaq	rescue_data(%rip), %rsp\n"
	"	popfq\n"
	"	movq	rescue_data+8(%rip), %rsp\n"
	"	movl	$14, %eax\n" /* rt_sigprocmask */
	"	movl	$2, %edi\n"
	"	leaq	rescue_data+16(%rip), %rsi\n"
	"	movl	$0, %edx\n"
	"	movl	$8, %r10d\n"
	"	syscall\n"
	"	movq	rescue_data+24(%rip), %rbx\n"
	"	movq	rescue_data+32(%rip), %rcx\n"
	"	movq	rescue_data+40(%rip), %rdx\n"
	"	movq	rescue_data+48(%rip), %rsi\n"
	"	movq	rescue_data+56(%rip), %rdi\n"
	"	movq	rescue_data+64(%rip), %rbp\n"
	"	movq	rescue_data+72(%rip), %r8\n"
	"	movq	rescue_data+80(%rip), %r9\n"
	"	movq	rescue_data+88(%rip), %r10\n"
	"	movq	rescue_data+96(%rip), %r11\n"
	"	movq	rescue_data+104(%rip), %r12\n"
	"	movq	rescue_data+112(%rip), %r13\n"
	"	movq	rescue_data+120(%rip), %r14\n"
	"	movq	rescue_data+128(%rip), %r15\n"
	"	movq	rescue_data+136(%rip), %rax\n"
	"	notrack jmp *rescue_data+144(%rip)\n"
	".balign 8, 0xcc\n"
	"rescue_data:\n"
	"	.zero	152\n"
	".global rescue_code_bytes\n"
	"rescue_code_bytes:\n"
	"	.long	rescue_data - rescue_code\n"
	".global rescue_steps_offset\n"
	"rescue_steps_offset:\n"
	"	.long	rescue_steps - rescue_code\n"
	".popsection\n");
extern const uint32_t rescue_steps_offset;

_Static_assert(sizeof(struct rescue_data) == 152, "as the code has it");
_Static_assert(sizeof(struct rescue_step) == 40, "as the code has it");

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

/* As the kernel would: the thread is at the call's instruction again. */
static void call_begin_again(const struct user_regs_struct *saved, struct rescue_data *data)
{
	enum { GATE_BYTES = 2 };
	long how = (long)saved->rax;
	bool again = how == AGAIN || how == AGAIN_ALWAYS || how == AGAIN_UNHANDLED ||
		     how == AGAIN_FOR_THE_REST;

	if ((long)saved->orig_rax < 0 || !again)
		return;
	data->ax = how == AGAIN_FOR_THE_REST ? SYS_restart_syscall : saved->orig_rax;
	data->ip -= GATE_BYTES;
}

int rescue_make(pid_t tid, const struct user_regs_struct *saved, const struct registers_more *more,
	uint64_t mask, unsigned char *ret_bytes)
{
	struct rescue_data data = {saved->eflags, saved->rsp, mask, saved->rbx, saved->rcx,
		saved->rdx, saved->rsi, saved->rdi, saved->rbp, saved->r8, saved->r9, saved->r10,
		saved->r11, saved->r12, saved->r13, saved->r14, saved->r15, saved->rax, saved->rip};

	(void)tid;
	(void)more;
	call_begin_again(saved, &data);
	memcpy(ret_bytes, rescue_code, rescue_code_bytes);
	memcpy(ret_bytes + rescue_code_bytes, &data, sizeof(data));
	return (int)(rescue_code_bytes + sizeof(data));
}

static void rescue_set(
	struct user_regs_struct *registers, const struct rescue_plan *plan, uint32_t offset)
{
	registers->rip = plan->at + offset;
	registers->orig_rax = (unsigned long long)-1; /* nothing is to be begun again */
	registers->rbx = plan->map_bytes;
	registers->r12 = plan->from;
	registers->r13 = plan->to;
}

void rescue_wait(struct user_regs_struct *registers, const struct rescue_plan *plan)
{
	rescue_set(registers, plan, rescue_steps_offset);
}

void rescue_call(struct user_regs_struct *registers, const struct rescue_plan *plan, long number,
	const uint64_t arguments[6])
{
	rescue_set(registers, plan, 0);
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
