/* causal_queue.bpf.h - the part of causal.bpf.c that knows how much of a wait for a CPU was other
 * programs', and lets the program stand still meanwhile.
 *
 * At each moment some threads of the program stand in a run queue, and some of the CPUs that it may
 * use run other programs.  If those CPUs were free, so many of the threads would not wait: that
 * share of a wait is stolen, whoever happened to be on the CPU before (with a CPU for each thread
 * also a wait behind a thread of the program's own is the others' doing).  The share is summed up
 * over time, once for all threads; each takes the difference between the ends of its wait as a
 * pause.  All owe it too: otherwise they would run on, and the robbed thread find what they did.
 * A thread that the program itself put behind its others is not robbed, or one helper of low
 * priority would keep all of it from running.
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

/* Between experiments too: the two sums grow together, so that one can begin at any moment.
 * `stolen_ns` is raised first: whoever reads it last never sees too little of it. */
static __always_inline void owed_add(__u64 stolen)
{
	struct wire_causal_board *b = board();

	if (!b)
		return;
	__sync_fetch_and_add(&b->stolen_ns, stolen);
	__sync_fetch_and_add(&b->owed_ns, stolen);
}

/* Sum up to now, before a count changes.  Not static: verified once, not at each call. */
__noinline int queue_pass(__u64 now)
{
	struct assay_causal_queue *queue = &causal.queue;
	__u64 at = *(volatile __u64 *)&queue->at_ns, share;
	__s32 theirs = *(volatile __s32 *)&queue->theirs;
	__s32 waiting = *(volatile __s32 *)&queue->waiting;

	if (now <= at || __sync_val_compare_and_swap(&queue->at_ns, at, now) != at || theirs <= 0 ||
		waiting <= 0)
		return 0;
	share = causal_share(now - at, (__u32)theirs, (__u32)waiting, causal.settings.cpu_count);
	__sync_fetch_and_add(&queue->share_ns, share);
	owed_add(share);
	return 0;
}

/* While a thread is robbed and nothing else happens, the others learn of it at their samples. */
static __always_inline void queue_look(__u64 now)
{
	if (causal.queue.theirs > 0 && causal.queue.waiting > 0)
		queue_pass(now);
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

/* Behind the first thread of its program by priority. */
static __always_inline bool task_is_behind(struct task_struct *task)
{
	enum { IDLE_POLICY = 5 };
	struct task_struct *leader = task->group_leader;

	return task->static_prio > leader->static_prio ||
	       (task->policy == IDLE_POLICY && leader->policy != IDLE_POLICY);
}

/* A thread that is switched out while it is woken comes here twice at once: counted once. */
static __always_inline void queue_enter(
	struct wire_causal_seat *seat, struct task_struct *task, __u64 now)
{
	if (seat->queued || task_is_behind(task))
		return;
	queue_pass(now);
	seat->share_ns = causal.queue.share_ns;
	if (__sync_val_compare_and_swap(&seat->queued, 0, 1) == 0)
		__sync_fetch_and_add(&causal.queue.waiting, 1);
}

/* How much of the wait that ends here was the others'. */
static __always_inline __u64 queue_leave(struct wire_causal_seat *seat, __u64 now)
{
	__u64 share;

	if (!seat->queued || __sync_val_compare_and_swap(&seat->queued, 1, 0) != 1)
		return 0;
	queue_pass(now);
	__sync_fetch_and_add(&causal.queue.waiting, -1);
	share = causal.queue.share_ns;
	return share > seat->share_ns ? share - seat->share_ns : 0;
}

/* Between experiments only the queue is kept, and the marks: who waits when one begins is known
 * then. */
static __always_inline void queue_watch(
	struct wire_causal_seat *seat, struct task_struct *task, bool waits, __u64 now)
{
	if (seat && waits)
		queue_enter(seat, task, now);
	else if (seat)
		queue_leave(seat, now);
}
