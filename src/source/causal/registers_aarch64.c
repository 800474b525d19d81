/* registers_aarch64.c - see registers.h.
 *
 * Here the kernel prepares a call that is begun again before the stop: the thread then stands at
 * its instruction with its arguments, and neither the first argument of a call that answered EINTR
 * can be seen any more, nor that a call was to go on for the time that is left, or to answer EINTR
 * should a signal come.  So the call is known from a look at the thread before it was stopped; and
 * that it was stopped in that very wait, from how often it has blocked.  The decision is given back
 * to the kernel: a call of ours with the same first argument ends as the thread's own did.
 *
 * The rescue code goes back by rt_sigreturn(2), because all registers are the thread's and none is
 * left to jump with.  A wait that it begins again lasts its whole time, not what is left of it. */
#include "registers.h"

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

enum { GATE_BYTES = 4 };

/* x19: bytes that the call maps; x20, x21: steps.  Behind it the frame of a signal. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".global rescue_code\n"
	"rescue_code:\n"
	"	svc	#0\n"
	"	cbz	x19, rescue_steps\n"
	"	cmn	x0, #4095\n"
	"	b.hs	rescue_steps\n"
	"	mov	x1, x19\n"
	"	mov	x8, #215\n" /* munmap */
	"	svc	#0\n"
	"rescue_steps:\n"
	"	cmp	x20, x21\n"
	"	b.eq	2f\n"
	"	ldr	x0, [x20, #8]\n"
	"	ldr	w9, [x20, #4]\n"
	"	cbz	w9, 1f\n"
	"	ldrsw	x0, [x0]\n"
	"1:	ldp	x1, x2, [x20, #16]\n"
	"	ldr	x3, [x20, #32]\n"
	"	ldr	w8, [x20]\n"
	"	add	x20, x20, #40\n"
	"	svc	#0\n"
	"	b	rescue_steps\n"
	"2:	adr	x9, rescue_frame\n"
	"	mov	sp, x9\n"
	"	mov	x8, #139\n" /* rt_sigreturn */
	"	svc	#0\n"
	"	.balign 16\n"
	"rescue_frame:\n"
	".global rescue_code_bytes\n"
	"rescue_code_bytes:\n"
	"	.long	rescue_frame - rescue_code\n"
	".global rescue_steps_offset\n"
	"rescue_steps_offset:\n"
	"	.long	rescue_steps - rescue_code\n"
	".popsection\n");
extern const uint32_t rescue_steps_offset;

_Static_assert(sizeof(struct rescue_step) == 40, "as the code has it");

/* The kernel's frame of a signal, up to the records that may follow. */
struct frame_record {
	uint32_t magic, size;
};

struct frame_numbers { /* floating point */
	struct frame_record head;
	uint32_t status, control;
	__uint128_t registers[32];
};

struct frame {
	unsigned char info[128];
	uint64_t flags, link;
	uint64_t stack;
	uint32_t stack_flags, pad;
	uint64_t stack_bytes;
	uint64_t mask, more_mask[15];
	uint64_t fault __attribute__((aligned(16)));
	uint64_t registers[31], sp, pc, state;
	struct frame_numbers numbers __attribute__((aligned(16)));
};

struct frame_vectors { /* of SVE */
	struct frame_record head;
	uint16_t len, flags, reserved[2];
};

enum {
	NUMBERS_MAGIC = 0x46508001,
	VECTORS_MAGIC = 0x53564501,
	RECORDS_MOST_BYTES = 4096,
	STACK_UNCHANGED = 0x7fff /* flags that the kernel refuses, and then leaves all as it is */
};

_Static_assert(offsetof(struct frame, fault) == 128 + 176, "as the kernel has it");
_Static_assert(offsetof(struct frame, numbers) == 128 + 176 + 288, "as the kernel has it");
_Static_assert(sizeof(struct frame_numbers) == 528, "as the kernel has it");

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

static void rescue_set(
	struct user_regs_struct *registers, const struct rescue_plan *plan, uint32_t offset)
{
	registers->pc = plan->at + offset;
	registers->pstate &= ~LANDING_BITS;
	registers->regs[19] = plan->map_bytes;
	registers->regs[20] = plan->from;
	registers->regs[21] = plan->to;
}

void rescue_wait(struct user_regs_struct *registers, const struct rescue_plan *plan)
{
	rescue_set(registers, plan, rescue_steps_offset);
}

void rescue_call(struct user_regs_struct *registers, const struct rescue_plan *plan, long number,
	const uint64_t arguments[6])
{
	rescue_set(registers, plan, 0);
	registers->regs[8] = (uint64_t)number;
	for (unsigned i = 0; arguments && i < 6; i++)
		registers->regs[i] = arguments[i];
}

/* The vectors behind the frame, where the kernel takes them; it has space for those up to 96 bytes
 * long.  Returns the bytes they take. */
static size_t frame_vectors_add(const struct registers_more *more, unsigned char *ret_bytes)
{
	struct vectors_head from;
	struct frame_vectors to = {{VECTORS_MAGIC, 0}, 0, 0, {0}};
	size_t bytes, len;

	if (!more->vectors_len)
		return 0;
	memcpy(&from, more->vectors, sizeof(from));
	bytes = (size_t)from.len / 16 * 546; /* 32 vectors, 16 predicates of an eighth, one more */
	len = (sizeof(to) + bytes + 15) / 16 * 16;
	if (sizeof(struct frame_numbers) + len + sizeof(to) > RECORDS_MOST_BYTES ||
		sizeof(from) + bytes > more->vectors_len)
		return 0;
	to.head.size = (uint32_t)len;
	to.len = from.len;
	memcpy(ret_bytes, &to, sizeof(to));
	memcpy(ret_bytes + sizeof(to), more->vectors + sizeof(from), bytes);
	return len;
}

int rescue_make(pid_t tid, const struct user_regs_struct *saved, const struct registers_more *more,
	uint64_t mask, unsigned char *ret_bytes)
{
	struct user_fpsimd_struct numbers;
	struct iovec to = {&numbers, sizeof(numbers)};
	struct frame frame = {.stack_flags = STACK_UNCHANGED,
		.mask = mask,
		.sp = saved->sp,
		.pc = saved->pc,
		.state = saved->pstate,
		.numbers.head = {NUMBERS_MAGIC, sizeof(frame.numbers)}};
	size_t len = rescue_code_bytes;

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &to) < 0)
		return -errno;
	memcpy(frame.registers, saved->regs, sizeof(frame.registers));
	memcpy(frame.numbers.registers, numbers.vregs, sizeof(numbers.vregs));
	frame.numbers.status = numbers.fpsr;
	frame.numbers.control = numbers.fpcr;
	memset(ret_bytes, 0, RESCUE_MOST_BYTES);
	memcpy(ret_bytes, rescue_code, rescue_code_bytes);
	memcpy(ret_bytes + len, &frame, sizeof(frame));
	len += sizeof(frame);
	len += frame_vectors_add(more, ret_bytes + len);
	return (int)(len + 16); /* a record of zeros is the last */
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
