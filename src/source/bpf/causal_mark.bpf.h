/* causal_mark.bpf.h - the part of causal.bpf.c that sees what sets the pace: wire/causal_mark.h
 * tied to the events of the scheduler.
 *
 * Another program has sent something when its own thread, or a packet from the network, ends a wait
 * that a signal could have ended too (sockets, pipes, a child that ends).  Waits for a disk are not
 * of that kind, nor are those that a thread of the kernel ends. */
#pragma once

#include "causal_interrupts.bpf.h"
#include "causal_walk.bpf.h"

enum { STATE_INTERRUPTIBLE = 1, THREAD_OF_KERNEL = 0x200000 };

static __always_inline bool is_sent(struct task_struct *task, enum wake by)
{
	struct task_struct *waker = (struct task_struct *)bpf_get_current_task();
	struct assay_cpu *cpu = this_cpu();

	if (!(task_state(task) & STATE_INTERRUPTIBLE))
		return false;
	return by == WAKE_OTHERS ? !(BPF_CORE_READ(waker, flags) & THREAD_OF_KERNEL)
				 : cpu && cpu->network > 0;
}

static __always_inline void mark_wake(struct wire_causal_seat *seat, struct task_struct *task,
	enum wake by, struct wire_causal_seat *waker, __u64 now)
{
	if (by == WAKE_TIMER) {
		causal_mark_tick(&seat->mark, now);
		COUNT(ticks, seat->mark.flags & CAUSAL_MARK_CLOCK);
	} else if (by == WAKE_OWN) {
		if (waker)
			causal_mark_hand_on(&seat->mark, &waker->mark);
	} else if (is_sent(task, by)) {
		causal_mark_peer(&seat->mark);
		COUNT(calls, 1);
	}
}

/* The time that the current thread asks nanosleep() for, as a hash that is not 0; 0: another call,
 * or until a moment of the clock. */
static __always_inline __u16 sleep_asked(void)
{
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 call = entry_register(registers, ASSAY_CALL_REGISTER) & 0xffffffff, time[2] = {0}, at;

	if (call == ASSAY_NANOSLEEP)
		at = entry_register(registers, ASSAY_ARGUMENT_REGISTER);
	else if (call == ASSAY_CLOCK_NANOSLEEP &&
		 !entry_register(registers, ASSAY_ARGUMENT_1_REGISTER))
		at = entry_register(registers, ASSAY_ARGUMENT_2_REGISTER);
	else
		return 0;
	if (bpf_probe_read_user(time, sizeof(time), (void *)at) < 0)
		return 0;
	time[0] = time[0] * 1000000000 + time[1];
	return (__u16)(time[0] ^ time[0] >> 16 ^ time[0] >> 32) | 1;
}

/* The current thread blocks.  Only where ticks come at equal distances is it asked what for. */
static __always_inline void mark_sleep(struct wire_causal_seat *seat)
{
	if (seat->mark.flags & CAUSAL_MARK_STEADY)
		causal_mark_sleep(&seat->mark, kernel_can.tell_registers ? sleep_asked() : 0);
}

static __always_inline void mark_visit(struct wire_causal_seat *seat)
{
	__u32 by = causal_mark_visit(&seat->mark);

	COUNT(marked, 1);
	if (by == CAUSAL_MARK_CLOCK)
		COUNT(by_clock, 1);
	else if (by == CAUSAL_MARK_PEER)
		COUNT(by_peer, 1);
}
