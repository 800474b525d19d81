/* causal.bpf.c - the kernel side of a causal experiment: who is in the line, who waits for whom,
 * who owes a pause.
 *
 * The arithmetic is wire/causal_rule.h; here it is tied to the events of the scheduler.
 *
 * - A sample (cpu-clock, one event per CPU) in the target of the experiment adds to the account of
 *   its thread, weighted with the CPU time the thread used since its last sample, and raises what
 *   all owe.  A thread that owes is asked by a signal to pause; only when the sample found it in
 *   user space, so that no system call of the program ever returns EINTR on our account, and only
 *   where the signal can do no harm (causal_safe.bpf.h).
 *   Time in the code of others counts for the place of the program's own code that called it.
 * - A wake hands the account of the waker on, unless it comes from an interrupt
 *   (causal_interrupts.bpf.h), and with it what set it off (causal_mark.bpf.h).
 * - A CPU that one thread of the program leaves to another is handed on too.  While other programs
 *   have the CPU that a thread could run on, all owe that time (causal_queue.bpf.h).
 *
 * Only the threads of one process; a forked child is another process and is left alone.  All maps,
 * programs and links live in file descriptors of the tool and end with it. */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "causal.shared.h"
#include "causal_mark.bpf.h"
#include "causal_safe.bpf.h"
#include "causal_seats.bpf.h"
#include "causal_wait.bpf.h"
#include "causal_walk.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* ---- samples ---- */

/* Functions that are not static are verified once, not at each call. */
__noinline bool range_has(__u64 addr)
{
	for (__u32 i = 0; i < WIRE_CAUSAL_RANGES && i < causal.settings.ranges; i++)
		if (addr >= causal.settings.range[i].low && addr < causal.settings.range[i].high)
			return true;
	return false;
}

static __noinline bool caller_has(__u64 addr)
{
	for (__u32 i = 0; i < WIRE_CAUSAL_RANGES && i < causal.settings.callers; i++)
		if (addr >= causal.settings.caller[i].low && addr < causal.settings.caller[i].high)
			return true;
	return false;
}

struct sampled {
	__u64 place; /* in the program's own code if it can be told, or where the thread is */
	bool hit;    /* it, or code of others on the way to it, is the target's */
};

/* A place for the stack of this sample, plus one; 0: none is wanted, or all are taken. */
static __always_inline __u32 stack_take(void)
{
	__u32 wanted = causal.settings.stacks, key;

	if (!kernel_can.loop || !wanted || causal.counts.stacks >= wanted)
		return 0;
	key = (__u32)__sync_fetch_and_add(&causal.counts.stacks, 1);
	return key < wanted ? key + 1 : 0;
}

static __always_inline struct assay_causal_stack *stack_at(__u32 place)
{
	__u32 key = place - 1;

	return place ? bpf_map_lookup_elem(&assay_stacks, &key) : 0;
}

/* A walk from the innermost frame out, and what was found on the way. */
struct walking {
	struct wire_causal_walk walk;
	struct sampled sampled;
	__u32 stack; /* see stack_take() */
	__u32 own_at, count;
	bool callees, own;
};

/* 1: the walk ends here. */
static long frame_visit(__u32 i, void *context)
{
	struct walking *w = context;
	struct wire_causal_step *step = step_at(w->walk.ip);
	struct assay_causal_stack *stack = stack_at(w->stack);

	if (stack && i < WIRE_CAUSAL_DEPTH)
		stack->frame[i] = w->walk.ip;
	w->count = i + 1;
	if (!w->own && (!step || step->is_own)) {
		w->sampled.place = w->walk.ip;
		w->own = true;
		w->own_at = i;
	}
	if (w->own ? !stack && (!w->callees || w->sampled.hit) : i + 1 >= WIRE_CAUSAL_FRAMES)
		return 1;
	if (!step || !walk_out(&w->walk, step))
		return 1;
	if (!w->own || w->callees)
		w->sampled.hit = w->sampled.hit || range_has(w->walk.ip);
	return !w->walk.ip;
}

/* To the first frame of the user's own; further only for a target with all it calls, or when whole
 * stacks are kept.  Where the kernel has no loops (before 5.17) it would verify each frame again,
 * and refuse so many. */
static __always_inline struct sampled sample_place(
	struct assay_sample_context *context, __u32 stack)
{
	struct walking w = {.walk = walk_begin(context),
		.stack = stack,
		.callees = kernel_can.loop && causal.settings.callees};
	struct assay_causal_stack *kept = stack_at(stack);

	if (kept)
		kept->weight_ns = 0; /* until it is written to its end */
	w.sampled = (struct sampled){w.walk.ip, w.walk.ip && range_has(w.walk.ip)};
	if (!w.walk.ip)
		return w.sampled;
	if (kernel_can.loop)
		bpf_loop(WIRE_CAUSAL_DEPTH, frame_visit, &w, 0);
	else
		for (__u32 i = 0; i < WIRE_CAUSAL_FRAMES; i++)
			if (frame_visit(i, &w))
				break;
	kept = stack_at(stack);
	if (kept) {
		kept->own = w.own_at;
		kept->count = w.count;
	}
	return w.sampled;
}

/* Only without a speed-up: pauses shift who is seen where. */
static __noinline int spot_count(__u64 ip, __u64 weight)
{
	__u64 *sum;

	if (!ip || causal.settings.speedup_permille)
		return 0;
	sum = bpf_map_lookup_elem(&assay_spots, &ip);
	if (sum)
		__sync_fetch_and_add(sum, weight);
	else if (bpf_map_update_elem(&assay_spots, &ip, &weight, NO_EXIST) < 0)
		COUNT(no_spot, 1);
	return 0;
}

/* A function that calls nobody may have no frame of its own: its return address is then not in the
 * chain, but in a register, or the first word on the stack. */
static __always_inline __u64 leaf_return(struct assay_sample_context *context)
{
#ifdef ASSAY_LR_REGISTER
	return context->registers[ASSAY_LR_REGISTER];
#else
	__u64 at = 0;

	bpf_probe_read_user(&at, sizeof(at), (void *)context->registers[ASSAY_SP_REGISTER]);
	return at;
#endif
}

static __always_inline bool sample_has_caller(struct assay_sample_context *context)
{
	enum { DEPTH = 24 };
	__u64 frames[DEPTH] = {0};

	if (caller_has(leaf_return(context) - 1))
		return true;
	bpf_get_stack(context, frames, sizeof(frames), USER_STACK);
	for (int i = 1; i < DEPTH && frames[i]; i++)
		if (caller_has(frames[i] - 1))
			return true;
	return false;
}

static __always_inline bool sample_in_target(
	struct assay_sample_context *context, const struct sampled *sampled)
{
	return sampled->hit && (!causal.settings.callers || sample_has_caller(context));
}

/* Ask the current thread to pay what it owes. */
static __always_inline void pause_ask(struct wire_causal_board *b, struct wire_causal_seat *seat,
	struct assay_sample_context *context, __u64 now)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	if (causal_debt(&seat->account, b->owed_ns) < CAUSAL_DEBT_MIN_NS)
		return;
	if (is_kernel(context->registers[ASSAY_IP_REGISTER]))
		COUNT(in_kernel, 1);
	else if (is_filtered(task))
		board_seal(b);
	else if (!handler_is_set(task))
		COUNT(unheard, 1);
	else if (signal_in(&task->blocked))
		COUNT(masked, 1);
	else if (!stack_has_room(context))
		COUNT(no_stack, 1);
	else if (!signal_in(&task->pending.signal)) {
		seat->asked_ns = now;
		seat->slack_ns = (__u32)BPF_CORE_READ(task, timer_slack_ns);
		if (bpf_send_signal_thread(causal.settings.signal) == 0)
			COUNT(signals, 1);
	}
}

/* When this CPU was sampled before; 0: not known. */
static __always_inline __u64 cpu_sampled(__u64 id, __u64 now)
{
	struct assay_cpu *cpu = this_cpu();
	__u64 before;

	if (!cpu)
		return 0;
	if (causal.settings.pid)
		cpu_runs(cpu, id && id >> 32 != causal.settings.pid && cpu_is_used());
	queue_look(now);
	before = cpu->sampled_ns;
	cpu->sampled_ns = now;
	return before;
}

/* Samples that were due while this thread had the CPU.  Those of an idle CPU come late, or never,
 * and nothing is missing for that: on 16 CPUs, counted too, they were 38 % of all. */
static __always_inline void lost_count(
	const struct wire_causal_seat *seat, __u64 sampled_ns, __u64 now)
{
	__u64 since = sampled_ns > seat->running_ns ? sampled_ns : seat->running_ns;
	__u64 period = causal.settings.period_ns;

	if (causal.settings.active && period && sampled_ns && since > causal.settings.start_ns &&
		now - since > 2 * period) /* periods vary by a quarter */
		COUNT(lost, (now - since) / period - 1);
}

/* A thread whose first event of an experiment is a wake that finds it still on its CPU never
 * switches in; the sample knows better. */
static __always_inline void seat_runs(struct wire_causal_seat *seat, __u64 now)
{
	queue_leave(seat, now);
	if (seat->running_ns)
		return;
	seat->running_ns = now;
	seat->blocked_ns = 0;
	seat->account.since_ns = 0;
}

/* A number of which the verifier knows nothing any more: each way of coming to one that it tells
 * apart has the walk of the stack verified once more (Linux 6.1: 141,000 instructions in place of
 * 75,000, in an emulated machine 2.6 s to load in place of 1.2). */
__noinline __u64 number_forget(__u64 number)
{
	asm volatile("" : "+r"(number));
	return number;
}

enum { CARRY_PERIODS = 32 };

/* The CPU time this sample stands for.  What is more than one sample may stand for is left to the
 * next one: where a program's rhythm hides a thread from the samples for a while, dropping it would
 * make its code look cheaper than it is (a hand-off of 2.06 ms sampled each 1.03 ms: 6 % of one
 * thread was lost). */
static __always_inline __u64 seat_weight(struct wire_causal_seat *seat, __u64 now)
{
	__u64 cpu = seat->cpu_ns + (seat->running_ns ? now - seat->running_ns : 0);
	__u64 before = seat->account.cpu_ns;
	__u64 weight = causal_weight(&seat->account, cpu, causal.settings.period_ns);

	if (cpu > before + weight) {
		__u64 most = CARRY_PERIODS * causal.settings.period_ns;

		seat->account.cpu_ns = cpu - before - weight < most ? before + weight : cpu - most;
	}
	return weight;
}

SEC("perf_event")
int assay_causal_sample(struct assay_sample_context *context)
{
	__u64 now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid(), weight, sampled_ns;
	struct wire_causal_board *b = board();
	struct assay_causal_stack *kept;
	struct wire_causal_seat *seat;
	struct sampled sampled;
	__u32 stack;

	sampled_ns = cpu_sampled(id, now);
	if (!b || !is_target(id >> 32))
		return 0;
	seat = seat_of((__u32)id, now, 0);
	if (!seat)
		return 0;
	COUNT(samples, 1);
	seat_runs(seat, now);
	lost_count(seat, sampled_ns, now);
	if (seat->account.pause_ns)
		return 0;
	weight = number_forget(seat_weight(seat, now));
	stack = stack_take();
	sampled = sample_place(context, stack);
	kept = stack_at(stack);
	if (kept) {
		kept->tid = (__u32)id;
		kept->weight_ns = weight ? weight : 1;
	}
	spot_count(sampled.place, weight);
	if (!causal.settings.waits && sample_in_target(context, &sampled))
		seat_hit(b, seat, weight);
	pause_ask(b, seat, context, now);
	return 0;
}

/* ---- waits ---- */

enum { STATE_DEAD = 0x80 };

/* A thread leaves its CPU; its seat, if it goes on and an experiment is active. */
static __always_inline struct wire_causal_seat *task_leaves(
	struct task_struct *task, bool preempted, __u64 now)
{
	__u64 state = task_state(task);
	bool blocks = state && !preempted;
	struct wire_causal_seat *seat;

	if (state & STATE_DEAD) {
		seat = seat_search(task->pid);
		if (seat) {
			causal.last_taken_ns = seat_clock(seat, now).taken_ns;
			causal.last_by = causal_mark_by(&seat->mark);
			queue_leave(seat, now);
			seat->tid = 0;
		}
		return 0;
	}
	seat = causal.settings.active ? seat_of(task->pid, now, 0) : seat_search(task->pid);
	if (seat && blocks && !seat->account.pause_ns)
		mark_sleep(seat);
	if (!causal.settings.active) {
		queue_watch(seat, task, !blocks, now);
		return 0;
	}
	if (seat)
		seat_leave(seat, task, now, blocks);
	return seat;
}

static __always_inline void task_enters(struct task_struct *task, const struct assay_cpu *cpu,
	const struct wire_causal_seat *left, __u64 now)
{
	struct wire_causal_seat *seat;

	if (!causal.settings.active) {
		queue_watch(seat_search(task->pid), task, false, now);
		return;
	}
	seat = seat_of(task->pid, now, 1);
	if (seat) {
		pause_check(seat, task);
		seat_enter(seat, cpu, left, now);
	}
}

/* sched_switch(bool preempt, struct task_struct *prev, struct task_struct *next, ...) */
SEC("tp_btf/sched_switch")
int assay_causal_switch(__u64 *arguments)
{
	struct task_struct *from = (struct task_struct *)arguments[1];
	struct task_struct *to = (struct task_struct *)arguments[2];
	int pid = (int)causal.settings.pid;
	struct wire_causal_seat *left = 0;
	struct assay_cpu *cpu = this_cpu();
	__u64 now;

	if (!pid || !cpu)
		return 0;
	cpu_runs(cpu, to->pid && to->tgid != pid && cpu_is_used());
	if (from->tgid != pid && to->tgid != pid) {
		if (!to->pid)
			cpu->left_ns = 0;
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (from->tgid == pid) {
		left = task_leaves(from, arguments[0] & 1, now);
		cpu_leave(cpu, to->pid ? left : 0, now);
	}
	if (to->tgid == pid)
		task_enters(to, cpu, left, now);
	return 0;
}

/* A wait at a chosen place, ended by nobody of the program, would have been shorter. */
static __always_inline void wait_shorten(
	struct wire_causal_board *b, struct wire_causal_seat *seat, __u64 now, bool handed)
{
	if (!seat->chosen || !seat->blocked_ns || now <= seat->blocked_ns)
		return;
	if (handed)
		COUNT(inside, 1);
	else
		seat_hit(b, seat, now - seat->blocked_ns);
}

/* Between experiments. */
static __always_inline void wake_watch(struct task_struct *task, __u64 id, __u64 now)
{
	struct wire_causal_seat *seat = seat_search(task->pid);
	enum wake by = wake_by(id >> 32);

	queue_watch(seat, task, true, now);
	if (seat && !seat->account.pause_ns)
		mark_wake(seat, task, by, by == WAKE_OWN ? seat_search((__u32)id) : 0, now);
}

SEC("tp_btf/sched_waking")
int assay_causal_waking(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)arguments[0];
	__u64 now, id = bpf_get_current_pid_tgid();
	struct wire_causal_seat *seat, *waker;
	struct wire_causal_board *b;
	enum wake by;

	if (!causal.settings.pid || task->tgid != (int)causal.settings.pid)
		return 0;
	now = bpf_ktime_get_ns();
	if (!causal.settings.active) {
		wake_watch(task, id, now);
		return 0;
	}
	b = board();
	seat = seat_of(task->pid, now, 1);
	if (!b || !seat)
		return 0;
	queue_look(now);
	if (!seat->running_ns && pause_is_over(b, seat, now))
		queue_enter(seat, task, now);
	if (seat->account.pause_ns)
		return 0;
	by = wake_by(id >> 32);
	wake_count(by);
	waker = by == WAKE_OWN ? seat_of((__u32)id, now, 0) : 0;
	mark_wake(seat, task, by, waker, now);
	if (waker) {
		COUNT(handed, 1);
		handoff_begin(waker, seat->tid, now);
		causal_hand_on(&seat->account, seat_clock(waker, now), now, slack_most());
	}
	wait_shorten(b, seat, now, by == WAKE_OWN);
	causal_wait(&seat->account, now);
	seat->blocked_ns = 0;
	seat->chosen = 0;
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int assay_causal_new(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)arguments[0];
	__u64 now, id = bpf_get_current_pid_tgid();
	struct wire_causal_seat *seat, *parent;

	if (!is_target(task->tgid) || !is_target(id >> 32))
		return 0;
	now = bpf_ktime_get_ns();
	parent = seat_of((__u32)id, now, 0);
	seat = seat_of(task->pid, now, 1);
	if (!parent || !seat)
		return 0;
	seat->account.taken_ns = parent->account.taken_ns;
	causal_mark_hand_on(&seat->mark, &parent->mark);
	seat->blocked_ns = 0;
	causal_wait(&seat->account, now);
	queue_enter(seat, task, now);
	return 0;
}

/* ---- waits at a chosen place (only loaded when asked for: Linux 5.15) ---- */

/* A system call is made by the C library, which keeps no frame pointers: the return address into
 * the program stands somewhere near the top of the stack, or in its register.  A stale one there is
 * taken for it. */
static __always_inline bool stack_in_target(void)
{
	enum { WORDS = 40 };
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 words[WORDS] = {0}, sp = 0, ip = 0;

	bpf_probe_read_kernel(&sp, sizeof(sp), &registers->words[ASSAY_SP_REGISTER]);
	bpf_probe_read_kernel(&ip, sizeof(ip), &registers->words[ASSAY_IP_REGISTER]);
	if (range_has(ip))
		return true;
#ifdef ASSAY_LR_REGISTER
	bpf_probe_read_kernel(&ip, sizeof(ip), &registers->words[ASSAY_LR_REGISTER]);
	if (range_has(ip - 1))
		return true;
#endif
	bpf_probe_read_user(words, sizeof(words), (void *)sp);
	for (int i = 0; i < WORDS; i++)
		if (words[i] && range_has(words[i] - 1))
			return true;
	return false;
}

SEC("tp_btf/sched_switch")
int assay_causal_choose(__u64 *arguments)
{
	struct task_struct *from = (struct task_struct *)arguments[1];
	struct wire_causal_seat *seat;

	if (!causal.settings.waits || !is_target(from->tgid))
		return 0;
	seat = seat_search(from->pid);
	if (seat && seat->blocked_ns && !seat->account.pause_ns)
		seat->chosen = stack_in_target();
	return 0;
}

/* ---- progress points that the program knows nothing of ---- */

static __always_inline void visit(__u64 point)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct wire_causal_seat *seat;

	if (point >= WIRE_CAUSAL_PROBED || id >> 32 != causal.settings.pid)
		return;
	__sync_fetch_and_add(&causal.visits[point], 1);
	seat = causal.settings.active ? seat_search((__u32)id) : 0;
	if (seat)
		mark_visit(seat);
}

SEC("uprobe")
int assay_causal_uprobe(void *context)
{
	visit(bpf_get_attach_cookie(context));
	return 0;
}

/* syscalls:sys_exit_*: eight bytes of the tracepoint's own, the number, the result. */
struct assay_syscall_exit {
	__u64 common;
	__s64 number, result;
};

SEC("tracepoint")
int assay_causal_syscall(struct assay_syscall_exit *context)
{
	if (context->result >= 0)
		visit(bpf_get_attach_cookie(context));
	return 0;
}
