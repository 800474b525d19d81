/* causal_pause.h - how a thread pays what it owes, inside a signal handler.
 *
 * Shared by the preloaded runtime (causal.c) and by the code that is put into a running process
 * (causal_blob.c), which has no libc: whoever includes this defines the three functions below.
 * Nothing here allocates, locks, calls out or has memory of its own.
 *
 * Each of the three may be a system call, which a filter that the program sets meanwhile kills for.
 * Whoever sees that coming seals the board first and waits until nobody is inside; so the seal is
 * looked at before each of them, and behind it the handler only returns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/causal.h"

static uint64_t pause_now_ns(void);
static void pause_sleep_until(uint64_t until_ns); /* may return early */
static uint32_t pause_tid(void);

/* The last of a pause is spun (CAUSAL_PAUSE_SPIN_NS): a sleep ends 20 to 100 us late, and what is
 * too much is a credit that hides the next debts.  The slack of the thread's timers comes before
 * that: to set it to 1 and back would be two more calls, and a thread that may make none any more
 * would keep the 1. */
enum { PAUSE_SLICE_NS = 2000000 };

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

/* The time, or 0: it may not be asked for any more. */
static uint64_t pause_time(const struct wire_causal_board *board)
{
	return load32(&board->sealed) ? 0 : pause_now_ns();
}

/* What the thread owes, without what was stolen since the board's stolen_ns stood at `since_ns`
 * (UINT64_MAX: all counts). */
static uint64_t pause_debt(const struct wire_causal_board *board,
	const struct wire_causal_seat *seat, uint64_t since_ns)
{
	uint64_t debt = causal_debt(&seat->account, load64(&board->owed_ns));
	uint64_t stolen = load64(&board->stolen_ns);
	uint64_t more = stolen > since_ns ? stolen - since_ns : 0;

	return debt > more ? debt - more : 0;
}

/* Wait until the debt is paid, in slices: it may grow meanwhile, and the experiment may end.  What
 * other programs steal while the last of it is spun is left for the next pause: it would go on as
 * long as the thread keeps the CPU that a robbed one waits for.  Returns the time slept, not spun.
 */
static uint64_t pause_wait(
	const struct wire_causal_board *board, const struct wire_causal_seat *seat, uint32_t epoch)
{
	uint64_t begun = pause_time(board), slept = 0, now = begun, stolen = UINT64_MAX;
	uint64_t spin = CAUSAL_PAUSE_SPIN_NS + (uint64_t)seat->slack_ns;

	while (now && pause_is_on(board, seat, epoch) && now - begun < WIRE_CAUSAL_PAUSE_MAX_NS) {
		/* Read anew each time: a preemption in a pause halts it, and the kernel side moves
		 * its beginning. */
		uint64_t debt = pause_debt(board, seat, stolen), before = now;
		uint64_t until = load64(&seat->account.pause_ns) + debt;

		if (now >= until)
			break;
		if (until - now > spin && !load32(&board->sealed)) {
			uint64_t left = until - now - spin;

			pause_sleep_until(now + (left < PAUSE_SLICE_NS ? left : PAUSE_SLICE_NS));
			now = pause_time(board);
			slept += now > before ? now - before : 0;
		} else {
			if (stolen == UINT64_MAX)
				stolen = load64(&board->stolen_ns);
			now = pause_time(board);
		}
	}
	return slept;
}

/* CPU time that the pause burned since the thread got its CPU: the kernel side, which knows when
 * that was, has booked what was before it. */
static uint64_t pause_spun(
	const struct wire_causal_seat *seat, uint64_t from, uint64_t now, uint64_t slept)
{
	uint64_t running = load64(&seat->running_ns);

	if (!running)
		return now - from - slept;
	from = running > from ? running : from;
	return now > from ? now - from : 0;
}

/* Pause for what the calling thread owes, from the sample that asked, or from when it got a CPU
 * again: how long it had none since then is booked already. */
static void pause_pay(struct wire_causal_board *board, struct wire_causal_seat *seat)
{
	uint32_t epoch = load32(&seat->epoch);
	uint64_t now = pause_time(board), from = seat->asked_ns, slept;
	uint64_t running = load64(&seat->running_ns);

	if (!now || !pause_is_on(board, seat, epoch) || seat->account.pause_ns ||
		causal_debt(&seat->account, load64(&board->owed_ns)) == 0)
		return;
	if (!from || from > now || now - from > WIRE_CAUSAL_PAUSE_MAX_NS)
		from = now;
	if (running > from && running <= now)
		from = running;
	causal_pause_begin(&seat->account, from);
	slept = pause_wait(board, seat, epoch);
	now = pause_time(board);
	seat->asked_ns = 0;
	if (now && pause_is_on(board, seat, epoch))
		causal_pause_end(&seat->account, now, pause_spun(seat, from, now, slept));
	seat->account.pause_ns = 0;
	__atomic_fetch_add(&board->pauses, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&board->paused_ns, now > from ? now - from : 0, __ATOMIC_RELAXED);
}

/* Who seals waits for those inside: they are counted before they look. */
static void pause_enter(struct wire_causal_board *board)
{
	__atomic_fetch_add(&board->heard, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&board->inside, 1, __ATOMIC_SEQ_CST);
}

static void pause_leave(struct wire_causal_board *board)
{
	__atomic_fetch_sub(&board->inside, 1, __ATOMIC_SEQ_CST);
}

/* What the handler does where somebody else asks. */
static inline void pause_thread(struct wire_causal_board *board, struct wire_causal_seat *seats)
{
	struct wire_causal_seat *seat;

	pause_enter(board);
	seat = load32(&board->sealed) ? NULL : pause_seat(board, seats);
	if (seat)
		pause_pay(board, seat);
	pause_leave(board);
}
