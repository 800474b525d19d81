/* causal_queue.bpf.h - the part of causal.bpf.c that knows how much of a wait for a CPU was other
 * programs'.
 *
 * At each moment some threads of the program stand in a run queue, and some of the CPUs that it may
 * use run other programs.  If those CPUs were free, so many of the threads would not wait: that
 * share of a wait is stolen, whoever happened to be on the CPU before (with a CPU for each thread
 * also a wait behind a thread of the program's own is the others' doing).  The share is summed up
 * over time, once for all threads; each takes the difference between the ends of its wait.
 *
 * Whether a CPU runs another program is known from its last switch, and from the sample for one
 * that has not switched since we look. */
#pragma once

#include "causal_seats.bpf.h"

static __always_inline bool cpu_is_used(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return cpu >= ASSAY_CAUSAL_CPUS || causal.settings.cpus[cpu / 64] >> cpu % 64 & 1;
}

/* Sum up to now, before a count changes. */
static __always_inline void queue_pass(__u64 now)
{
	struct assay_causal_queue *queue = &causal.queue;
	__u64 at = *(volatile __u64 *)&queue->at_ns, passed = now - at;
	__s32 theirs = *(volatile __s32 *)&queue->theirs;
	__s32 waiting = *(volatile __s32 *)&queue->waiting;

	if (now <= at || __sync_val_compare_and_swap(&queue->at_ns, at, now) != at || theirs <= 0 ||
		waiting <= 0)
		return;
	if (theirs < waiting)
		passed = passed * (__u32)theirs / (__u32)waiting;
	__sync_fetch_and_add(&queue->share_ns, passed);
}

/* What this CPU runs from now on. */
static __always_inline void cpu_runs(struct assay_cpu *cpu, bool theirs)
{
	if (cpu->theirs == theirs)
		return;
	queue_pass(bpf_ktime_get_ns());
	cpu->theirs = theirs;
	__sync_fetch_and_add(&causal.queue.theirs, theirs ? 1 : -1);
}

static __always_inline void queue_enter(struct wire_causal_seat *seat, __u64 now)
{
	if (seat->queued)
		return;
	queue_pass(now);
	__sync_fetch_and_add(&causal.queue.waiting, 1);
	seat->queued = 1;
	seat->share_ns = causal.queue.share_ns;
}

/* How much of the wait that ends here was the others'. */
static __always_inline __u64 queue_leave(struct wire_causal_seat *seat, __u64 now)
{
	__u64 share;

	if (!seat->queued)
		return 0;
	queue_pass(now);
	__sync_fetch_and_add(&causal.queue.waiting, -1);
	seat->queued = 0;
	share = causal.queue.share_ns;
	return share > seat->share_ns ? share - seat->share_ns : 0;
}

/* Between experiments only the queue is kept, and the marks: who waits when one begins is known
 * then. */
static __always_inline void queue_watch(struct wire_causal_seat *seat, bool waits, __u64 now)
{
	if (seat && waits)
		queue_enter(seat, now);
	else if (seat)
		queue_leave(seat, now);
}
