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
