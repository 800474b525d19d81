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

static __always_inline void seat_leave(struct wire_causal_seat *seat, __u64 now, bool blocks)
{
	if (seat->running_ns && now > seat->running_ns) {
		seat->cpu_ns += now - seat->running_ns;
		COUNT(ran_ns, now - seat->running_ns);
	}
	seat->running_ns = 0;
	if (seat->account.pause_ns && blocks)
		return; /* it sleeps, as it should */
	if (seat->account.pause_ns) {
		causal_pause_end(&seat->account, now, 0);
		seat->halted = 1;
	}
	causal_wait(&seat->account, now);
	handoff_leave(seat, now, blocks);
	seat->blocked_ns = blocks ? now : 0;
	seat->chosen = 0;
	if (blocks)
		queue_leave(seat, now); /* woken before it was off its CPU */
	else
		queue_enter(seat, now);
}

/* A sleeping pause has ended, but the thread had to wait for a CPU that others had. */
static __always_inline void pause_delay(struct wire_causal_seat *seat, __u64 stolen, __u64 now)
{
	__u64 paused = now > seat->account.pause_ns ? now - seat->account.pause_ns : 0;

	if (stolen > paused)
		stolen = paused;
	seat->account.pause_ns += stolen;
	seat->account.stolen_ns += stolen;
	COUNT(stolen_ns, stolen);
}

static __always_inline void seat_enter(
	struct wire_causal_seat *seat, struct wire_causal_seat *left, __u64 now)
{
	__u64 since = seat->account.since_ns, stolen = queue_leave(seat, now), before;

	seat->running_ns = now;
	seat->blocked_ns = 0;
	if (seat->account.pause_ns) {
		pause_delay(seat, stolen, now);
		return;
	}
	if (since && now > since) {
		if (seat->woke)
			handoff_enter(seat, now);
		before = seat->account.stolen_ns;
		causal_stolen(&seat->account, stolen, now);
		COUNT(queued_ns, now - since);
		COUNT(stolen_ns, seat->account.stolen_ns - before);
		if (left && causal_wait_is_own(&seat->account, now - since, now))
			causal_hand_on(&seat->account, seat_clock(left, now), now, slack_most());
	}
	seat->account.since_ns = 0;
	if (seat->halted)
		causal_pause_begin(&seat->account, now);
	seat->halted = 0;
}
