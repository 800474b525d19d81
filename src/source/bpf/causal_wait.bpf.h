/* causal_wait.bpf.h - the part of causal.bpf.c that keeps the account of a thread that leaves its
 * CPU and gets one again. */
#pragma once

#include "causal_queue.bpf.h"

/* Where the clock of a thread stands that leaves something to another: a pause that has not been
 * booked yet counts. */
static __always_inline struct causal_clock seat_clock(
	const struct wire_causal_seat *seat, __u64 now)
{
	__u64 pause = seat->account.pause_ns;

	return (struct causal_clock){
		.taken_ns = seat->account.taken_ns + (pause && now > pause ? now - pause : 0),
		.stolen_ns = seat->account.stolen_ns,
	};
}

static __always_inline __u64 slack_most(void)
{
	return CAUSAL_SLACK_PERIODS * causal.settings.period_ns;
}

/* ---- hand-offs ----
 *
 * A thread that wakes another and then waits for its answer can lose its CPU between the two, to
 * another program or to the very thread it woke.  The answer then comes while it stands in the run
 * queue: nobody wakes it, and its clock would leave out all that the other did meanwhile.  So a
 * thread that leaves its CPU right after a wake is taken to wait for the thread it woke, unless it
 * is known to go on working after most of its wakes. */

enum { HANDOFF_US = 100, HANDOFF_LIKELY = 4, HANDOFF_SURE = 8 };

static __always_inline bool handoff_is_young(const struct wire_causal_seat *seat, __u64 now)
{
	return (__u32)(now / 1000) - seat->woke_us < HANDOFF_US;
}

static __always_inline void handoff_begin(struct wire_causal_seat *seat, __u32 woken, __u64 now)
{
	if (seat->woke && !handoff_is_young(seat, now))
		seat->hands_off /= 2; /* it went on working after the last one */
	seat->woke = woken;
	seat->woke_us = (__u32)(now / 1000);
}

static __always_inline void handoff_leave(struct wire_causal_seat *seat, __u64 now, bool blocks)
{
	bool young = seat->woke && handoff_is_young(seat, now);

	if (young && blocks)
		seat->hands_off += seat->hands_off < HANDOFF_SURE;
	else if (seat->woke && !young)
		seat->hands_off /= 2;
	if (blocks || !young)
		seat->woke = 0;
}

/* It has a CPU again.  If the other waits since, it has answered before that. */
static __always_inline void handoff_enter(struct wire_causal_seat *seat, __u64 now)
{
	struct wire_causal_seat *other = seat_search(seat->woke);
	__u64 answered = other && other->epoch == seat->epoch ? other->blocked_ns : 0;

	seat->woke_us = (__u32)(now / 1000);
	if (answered <= seat->account.since_ns || answered > now)
		return;
	seat->woke = 0;
	if (seat->hands_off < HANDOFF_LIKELY)
		return;
	causal_hand_on(&seat->account, seat_clock(other, now), answered, slack_most());
	causal_wait(&seat->account, answered);
}

/* ---- on and off a CPU ---- */

/* CPU time that its pause has burned since it has this CPU. */
static __always_inline __u64 pause_spun(const struct wire_causal_seat *seat, __u64 now)
{
	__u64 pause = seat->account.pause_ns;
	__u64 from = seat->running_ns > pause ? seat->running_ns : pause;

	return pause && seat->running_ns && now > from ? now - from : 0;
}

static __always_inline void seat_leave(
	struct wire_causal_seat *seat, struct task_struct *task, __u64 now, bool blocks)
{
	__u64 spun = pause_spun(seat, now);

	if (seat->running_ns && now > seat->running_ns) {
		seat->cpu_ns += now - seat->running_ns;
		COUNT(ran_ns, now - seat->running_ns);
	}
	seat->running_ns = 0;
	if (seat->account.pause_ns && blocks) {
		seat->account.cpu_ns += spun;
		return; /* it sleeps, as it should */
	}
	if (seat->account.pause_ns) {
		causal_pause_end(&seat->account, now, spun);
		seat->halted = 1;
	}
	causal_wait(&seat->account, now);
	handoff_leave(seat, now, blocks);
	seat->blocked_ns = blocks ? now : 0;
	seat->chosen = 0;
	if (blocks)
		queue_leave(seat, now); /* woken before it was off its CPU */
	else
		queue_enter(seat, task, now);
}

/* A pause of which no more is left than is spun: its thread waits for a CPU like any other.  With
 * more left it is not robbed of the CPU that it does not want yet; if it were, threads that pause
 * would stop each other for good. */
static __always_inline bool pause_is_over(
	const struct wire_causal_board *b, const struct wire_causal_seat *seat, __u64 now)
{
	const struct causal_account *account = &seat->account;

	return !account->pause_ns || account->pause_ns + causal_debt(account, b->owed_ns) <=
					     now + CAUSAL_PAUSE_SPIN_NS + seat->slack_ns;
}

/* `seat` leaves this CPU, to whatever comes next but idleness. */
static __always_inline void cpu_leave(
	struct assay_cpu *cpu, const struct wire_causal_seat *seat, __u64 now)
{
	cpu->left_ns = seat ? now : 0;
	if (!seat)
		return;
	cpu->left = seat_clock(seat, now);
	cpu->left_share_ns = causal.queue.share_ns;
}

/* Who of the program left this CPU to a thread that waits since then: at once (`left`), or to other
 * programs first, whose time is everybody's delay. */
static __always_inline bool cpu_giver(const struct assay_cpu *cpu,
	const struct wire_causal_seat *left, __u64 since, __u64 now, struct causal_clock *ret_clock)
{
	if (left) {
		*ret_clock = seat_clock(left, now);
		return true;
	}
	*ret_clock = cpu->left;
	ret_clock->taken_ns += causal.queue.share_ns - cpu->left_share_ns;
	return cpu->left_ns > since;
}

static __always_inline void seat_enter(struct wire_causal_seat *seat, const struct assay_cpu *cpu,
	const struct wire_causal_seat *left, __u64 now)
{
	__u64 since = seat->account.since_ns, stolen = queue_leave(seat, now), before;
	struct causal_clock giver;

	seat->running_ns = now;
	seat->blocked_ns = 0;
	if (seat->account.pause_ns)
		return; /* its wait is part of the pause */
	if (since && now > since) {
		if (seat->woke)
			handoff_enter(seat, now);
		before = seat->account.stolen_ns;
		causal_stolen(&seat->account, stolen, now);
		causal_order(&seat->account, seat->account.stolen_ns - before);
		COUNT(queued_ns, now - since);
		if (cpu_giver(cpu, left, since, now, &giver) &&
			causal_wait_is_own(&seat->account, now - since, now))
			causal_hand_on(&seat->account, giver, now, slack_most());
	}
	seat->account.since_ns = 0;
	if (seat->halted)
		causal_pause_begin(&seat->account, now);
	seat->halted = 0;
}
