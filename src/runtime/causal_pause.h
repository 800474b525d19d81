/* causal_pause.h - how a thread pays what it owes, inside a signal handler.
 *
 * Shared by the preloaded runtime (causal.c) and by the code that is put into a running process
 * (causal_blob.c), which has no libc: whoever includes this defines the five functions below.
 * Nothing here allocates, locks, calls out or has memory of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/causal.h"

static uint64_t pause_now_ns(void);
static void pause_sleep_until(uint64_t until_ns); /* may return early */
static int pause_slack_get(void);
static void pause_slack_set(int slack);
static uint32_t pause_tid(void);

/* The last of a pause is spun: a sleep ends 20 to 100 us late, and what is too much is a credit
 * that hides the next debts. */
enum { PAUSE_SPIN_NS = 60000, PAUSE_SLICE_NS = 2000000 };

static inline uint32_t load32(const __u32 *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static inline uint64_t load64(const __u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* The calling thread's seat in the running experiment, or NULL. */
static struct wire_causal_seat *pause_seat(
	const struct wire_causal_board *board, struct wire_causal_seat *seats)
{
	uint32_t tid = pause_tid();

	for (uint32_t probe = 0; probe < WIRE_CAUSAL_PROBES; probe++) {
		struct wire_causal_seat *seat = &seats[wire_causal_place(tid, probe)];

		if (load32(&seat->tid) == tid)
			return load32(&seat->epoch) == load32(&board->epoch) ? seat : NULL;
	}
	return NULL;
}

static bool pause_is_on(
	const struct wire_causal_board *board, const struct wire_causal_seat *seat, uint32_t epoch)
{
	return load32(&board->active) && load32(&board->epoch) == epoch &&
	       load32(&seat->epoch) == epoch;
}

/* Wait until the debt is paid, in slices: it may grow meanwhile, and the experiment may end.
 * Returns the time slept, not spun. */
static uint64_t pause_wait(
	const struct wire_causal_board *board, const struct wire_causal_seat *seat, uint32_t epoch)
{
	uint64_t begun = pause_now_ns(), slept = 0, now = begun;

	while (pause_is_on(board, seat, epoch) && now - begun < WIRE_CAUSAL_PAUSE_MAX_NS) {
		/* Read anew each time: a preemption in a pause halts it, and the kernel side moves
		 * its beginning. */
		uint64_t debt = causal_debt(&seat->account, load64(&board->owed_ns));
		uint64_t until = load64(&seat->account.pause_ns) + debt;

		if (now >= until)
			break;
		if (until - now > PAUSE_SPIN_NS) {
			uint64_t left = until - now - PAUSE_SPIN_NS, before = now;

			pause_sleep_until(now + (left < PAUSE_SLICE_NS ? left : PAUSE_SLICE_NS));
			now = pause_now_ns();
			slept += now - before;
		} else
			now = pause_now_ns();
	}
	return slept;
}

/* Pause for what the calling thread owes, from the sample that asked. */
static void pause_pay(struct wire_causal_board *board, struct wire_causal_seat *seat)
{
	uint32_t epoch = load32(&seat->epoch);
	uint64_t now = pause_now_ns(), from = seat->asked_ns, slept;
	int slack;

	if (!pause_is_on(board, seat, epoch) || seat->account.pause_ns ||
		causal_debt(&seat->account, load64(&board->owed_ns)) == 0)
		return;
	if (!from || from > now || now - from > WIRE_CAUSAL_PAUSE_MAX_NS)
		from = now;
	causal_pause_begin(&seat->account, from);
	slack = pause_slack_get();
	pause_slack_set(1);
	slept = pause_wait(board, seat, epoch);
	if (slack > 0)
		pause_slack_set(slack);
	now = pause_now_ns();
	seat->asked_ns = 0;
	if (pause_is_on(board, seat, epoch))
		causal_pause_end(&seat->account, now, now - from - slept);
	seat->account.pause_ns = 0;
	__atomic_fetch_add(&board->pauses, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&board->paused_ns, now - from, __ATOMIC_RELAXED);
}

/* What the handler does where somebody else asks. */
static void pause_thread(struct wire_causal_board *board, struct wire_causal_seat *seats)
{
	struct wire_causal_seat *seat = pause_seat(board, seats);

	if (seat)
		pause_pay(board, seat);
}
