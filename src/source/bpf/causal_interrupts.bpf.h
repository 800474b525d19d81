/* causal_interrupts.bpf.h - the part of causal.bpf.c that knows who ends a wait.
 *
 * A wake from an interrupt shows the interrupted thread as the waker, so entries and exits of hard
 * and soft interrupts and of timers are counted per CPU.  The loader attaches exits first and sets
 * the counters to 0 afterwards. */
#pragma once

#include "causal_seats.bpf.h"

enum { SOFTIRQ_NETWORK = 3 }; /* packets that came in */

#define NESTING(name, member, is_network)                                                          \
	SEC("tp_btf/" #name "_entry")                                                              \
	int assay_causal_##name##_entry(__u64 *arguments)                                          \
	{                                                                                          \
		struct assay_cpu *cpu = this_cpu();                                                \
                                                                                                   \
		if (cpu) {                                                                         \
			cpu->member++;                                                             \
			cpu->network += is_network(arguments[0]);                                  \
		}                                                                                  \
		return 0;                                                                          \
	}                                                                                          \
	SEC("tp_btf/" #name "_exit")                                                               \
	int assay_causal_##name##_exit(__u64 *arguments)                                           \
	{                                                                                          \
		struct assay_cpu *cpu = this_cpu();                                                \
                                                                                                   \
		if (cpu && cpu->member > 0)                                                        \
			cpu->member--;                                                             \
		if (cpu && cpu->network > 0)                                                       \
			cpu->network -= is_network(arguments[0]);                                  \
		return 0;                                                                          \
	}

#define NEVER(number) ((void)(number), 0)
#define IS_NETWORK(number) ((__u32)(number) == SOFTIRQ_NETWORK)

NESTING(irq_handler, interrupts, NEVER)
NESTING(softirq, interrupts, IS_NETWORK)
NESTING(hrtimer_expire, timers, NEVER)

enum wake { WAKE_TIMER, WAKE_INTERRUPT, WAKE_OTHERS, WAKE_OWN };

static __always_inline enum wake wake_by(__u32 waker_pid)
{
	struct assay_cpu *cpu = this_cpu();

	if (cpu && cpu->timers > 0)
		return WAKE_TIMER;
	if (cpu && cpu->interrupts > 0)
		return WAKE_INTERRUPT;
	return waker_pid == causal.settings.pid ? WAKE_OWN : WAKE_OTHERS;
}

static __always_inline void wake_count(enum wake by)
{
	if (by == WAKE_TIMER)
		COUNT(timer, 1);
	else if (by == WAKE_INTERRUPT)
		COUNT(irq, 1);
	else if (by == WAKE_OTHERS)
		COUNT(outside, 1);
}
