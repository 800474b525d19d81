/* causal_safe.bpf.h - the part of causal.bpf.c that knows when a signal would harm its thread, and
 * when the program is about to sandbox itself.
 *
 * A thread is asked to pause only where nothing can come of it: the handler is ours, no filter of
 * system calls looks at what the handler calls (rt_sigreturn among them), and the stack that the
 * kernel puts the frame of the signal on has room for it.  The current thread, in user space: what
 * is seen here holds until the signal is taken. */
#pragma once

#include "causal_seats.bpf.h"

enum { SECCOMP_FILTER = 2, STACK_AUTODISARM = 1 << 31, RLIMIT_OF_STACK = 3 };
enum { MAPPING_WRITE = 2, MAPPING_GROWS_DOWN = 0x100 };
enum { RED_ZONE = 128, PAGE = 4096, STACK_PAGES = 8 };
/* What the kernel keeps free below the first stack, whatever its limit is raised to later. */
#define STACK_GAP (100ULL << 20)

/* ---- the handler ---- */

/* Whether the handler that would take the signal now is the runtime's. */
static __always_inline bool handler_is_set(struct task_struct *task)
{
	struct sighand_struct *hands = BPF_CORE_READ(task, sighand);
	__u32 index = causal.settings.signal - 1;
	__u64 handler = 0;

	if (!hands || index >= 64)
		return false;
	bpf_probe_read_kernel(&handler, sizeof(handler),
		(char *)hands + bpf_core_field_offset(struct sighand_struct, action) +
			(__u64)index * bpf_core_type_size(struct k_sigaction) +
			bpf_core_field_offset(struct k_sigaction, sa) +
			bpf_core_field_offset(struct sigaction, sa_handler));
	return handler && handler == causal.settings.handler;
}

static __always_inline bool signal_in(const sigset_t *set)
{
	__u64 bits = 0;

	bpf_probe_read_kernel(&bits, sizeof(bits), set);
	return bits >> ((causal.settings.signal - 1) & 63) & 1;
}

/* ---- filters of system calls ---- */

/* Those that the tool is under itself let through what it does. */
static __always_inline bool is_filtered(struct task_struct *task)
{
	__u32 mode;

	if (!bpf_core_field_exists(task->seccomp.mode))
		return false;
	mode = (__u32)BPF_CORE_READ(task, seccomp.mode);
	if (!mode)
		return false;
	return mode != SECCOMP_FILTER || !bpf_core_field_exists(task->seccomp.filter_count) ||
	       (__u32)BPF_CORE_READ(task, seccomp.filter_count.counter) != causal.settings.filters;
}

/* Nobody is asked to pause any more, and who does makes no other call. */
static __always_inline void board_seal(struct wire_causal_board *b)
{
	causal.settings.signal = 0;
	COUNT(filtered, 1);
	__sync_lock_test_and_set(&b->sealed, WIRE_SEAL_SANDBOX);
}

/* ---- stacks ---- */

struct stack_pages {
	__u64 low, high; /* the frame lies between */
	__u64 limit;	 /* of a stack that grows */
	__u32 is_there;
};

static long mapping_look(
	struct task_struct *task, struct vm_area_struct *mapping, struct stack_pages *room)
{
	__u64 start = BPF_CORE_READ(mapping, vm_start), end = BPF_CORE_READ(mapping, vm_end);
	__u64 flags = BPF_CORE_READ(mapping, vm_flags);
	__u64 most = room->limit < STACK_GAP ? room->limit : STACK_GAP;

	(void)task;
	if (!(flags & MAPPING_WRITE) || room->high > end)
		return 0;
	room->is_there = room->low >= start ||
			 (flags & MAPPING_GROWS_DOWN && end - room->low + PAGE <= most);
	return 0;
}

/* Without a look at the mappings: only what has been written to before is known to be there. */
static __always_inline bool pages_are_there(const struct stack_pages *room)
{
	__u8 byte;

	for (int i = 0; i < STACK_PAGES; i++) {
		__u64 at = room->low + (__u64)i * PAGE;

		if (at < room->high && bpf_probe_read_user(&byte, 1, (void *)at) < 0)
			return false;
	}
	return bpf_probe_read_user(&byte, 1, (void *)(room->high - 1)) == 0;
}

/* Whether the frame of a signal fits where the kernel would put it now: on the alternate stack if
 * the program has set one, which may be tiny, or below the stack pointer, which may be near the end
 * of its stack.  What cannot be seen: the end of a stack without a guard page in a larger mapping.
 */
static __noinline bool stack_has_room(struct assay_sample_context *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 sp = context->registers[ASSAY_SP_REGISTER], need = causal.settings.stack_bytes;
	__u64 base = BPF_CORE_READ(task, sas_ss_sp), size = BPF_CORE_READ(task, sas_ss_size);
	bool on = sp > base && sp - base <= size &&
		  !(BPF_CORE_READ(task, sas_ss_flags) & STACK_AUTODISARM);
	struct stack_pages room = {.high = size && !on ? base + size : sp - RED_ZONE};

	room.low = room.high - need;
	if (room.low > room.high ||
		(size && room.low < base && room.high > base && room.high <= base + size))
		return false;
	if (!kernel_can.find_mappings)
		return pages_are_there(&room);
	room.limit = BPF_CORE_READ(task, signal, rlim[RLIMIT_OF_STACK].rlim_cur);
	bpf_find_vma(task, room.high - 1, mapping_look, &room, 0);
	return room.is_there;
}

/* ---- a sandbox that begins ---- */

enum { SEAL_WAIT_NS = 10000000, SEAL_LOOKS = 1 << 20 };

static long seal_look(__u32 index, const __u64 *until)
{
	struct wire_causal_board *b = board();

	(void)index;
	return !b || !*(volatile __u32 *)&b->inside || bpf_ktime_get_ns() > *until;
}

/* A filter for all threads came while this one slept in its pause. */
static __always_inline void pause_check(
	const struct wire_causal_seat *seat, struct task_struct *task)
{
	struct wire_causal_board *b = seat->account.pause_ns && is_filtered(task) ? board() : 0;

	if (b)
		board_seal(b);
}

/* The filter is not there yet: those who pause are waited for, because also how they leave the
 * handler may be forbidden then. */
static __always_inline int seal(void)
{
	struct wire_causal_board *b = board();
	__u64 until = bpf_ktime_get_ns() + SEAL_WAIT_NS;

	if (!b || !causal.settings.pid ||
		(__u32)(bpf_get_current_pid_tgid() >> 32) != causal.settings.pid)
		return 0;
	board_seal(b);
	bpf_loop(SEAL_LOOKS, seal_look, &until, 0);
	return 0;
}

SEC("fentry/prctl_set_seccomp")
int assay_causal_seal_prctl(__u64 *arguments)
{
	(void)arguments;
	return seal();
}

/* seccomp(operation, ...): others than to set a mode are questions. */
SEC("fentry/" ASSAY_SECCOMP_CALL)
int assay_causal_seal_call(__u64 *arguments)
{
	struct pt_regs *registers = (struct pt_regs *)arguments[0];
	__u64 operation = 0;

	bpf_probe_read_kernel(
		&operation, sizeof(operation), &registers->words[ASSAY_ARGUMENT_REGISTER]);
	return (__u32)operation <= 1 ? seal() : 0;
}
