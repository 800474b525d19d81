/* causal_mark.h - what sets the pace of the program: a clock, another program, or itself.
 *
 * Experiments slow the program down and look at what it gets done.  Where its progress waits for
 * the ticks of a clock, or for what another program sends, that says nothing: neither is slowed
 * down with it.  So a thread that such an event has woken is marked, hands its mark on to those it
 * wakes, and the visits of the progress points that marked threads make are counted.
 *
 * Included by the kernel-side program and by the simulator (tests/causal-model); no loops, no libc,
 * no memory of its own. */
#pragma once

#ifndef __bpf__ /* there kernel_types.h has them */
#include <linux/types.h>
#endif

enum {
	CAUSAL_MARK_CLOCK = 1, /* set off by a timer that ticks at equal distances */
	CAUSAL_MARK_PEER = 2,  /* set off by another program */
	CAUSAL_MARK_SET = 3,
	CAUSAL_MARK_STEADY = 4, /* its last two ticks had equal distances */
	CAUSAL_MARK_ASKED = 8,	/* what it asked for when it went to sleep is known */
	CAUSAL_MARK_FIXED = 16, /* ...and is what it asked for the time before */
};

/* One event sets off so many visits at most: a thread that is busy for longer than that keeps
 * itself busy.  One that serves others is at 90 % of its time busy for ten requests on average. */
enum { CAUSAL_MARK_VISITS = 16 };

/* Ticks from one timer to the next, when some are missed. */
enum { CAUSAL_MARK_MISSED = 4 };

struct causal_mark {
	__u32 tick_us;	   /* its last timer, cut off */
	__u32 distance_us; /* from one to the next, usually */
	__u16 asked;	   /* a hash of the time it asked to sleep for; 0: not such a sleep */
	__u8 flags;	   /* CAUSAL_MARK_* */
	__u8 left;	   /* visits that the mark counts for */
};

static inline void causal_mark_put(struct causal_mark *m, __u32 flags)
{
	m->flags = (__u8)((m->flags & ~CAUSAL_MARK_SET) | flags);
	m->left = CAUSAL_MARK_VISITS;
}

/* It goes to sleep, having asked for a time; 0: it did not, or for a moment of the clock.  Always
 * the same time has equal distances if the work between has, but then faster work does bring the
 * next tick nearer. */
static inline void causal_mark_sleep(struct causal_mark *m, __u16 asked)
{
	m->flags &= (__u8)~CAUSAL_MARK_FIXED;
	if (asked && asked == m->asked)
		m->flags |= CAUSAL_MARK_FIXED;
	m->flags |= CAUSAL_MARK_ASKED;
	m->asked = asked;
}

/* Whether a timer comes at the distance of those before it, or at a small multiple: a thread that
 * had no CPU in time misses a tick. */
static inline int causal_mark_is_steady(const struct causal_mark *m, __u32 distance_us)
{
	__u32 usual = m->distance_us, ticks = usual ? (distance_us + usual / 2) / usual : 0;
	__u32 at = ticks * usual, apart = distance_us > at ? distance_us - at : at - distance_us;

	return ticks > 0 && ticks <= CAUSAL_MARK_MISSED && apart < usual / 10;
}

/* A timer wakes it.  Ticks at equal distances, whatever the work between them took, are a pace that
 * the clock sets. */
static inline void causal_mark_tick(struct causal_mark *m, __u64 now_ns)
{
	__u32 now_us = (__u32)(now_ns / 1000), distance = now_us - m->tick_us;
	int steady = causal_mark_is_steady(m, distance);

	if (steady && (m->flags & CAUSAL_MARK_ASKED) && !(m->flags & CAUSAL_MARK_FIXED))
		causal_mark_put(m, CAUSAL_MARK_CLOCK);
	else
		m->flags &= (__u8)~CAUSAL_MARK_CLOCK;
	if (steady) {
		m->flags |= CAUSAL_MARK_STEADY;
		if (distance < m->distance_us + m->distance_us / 2)
			m->distance_us = (7 * m->distance_us + distance) / 8;
	} else {
		m->flags &= (__u8) ~(CAUSAL_MARK_STEADY | CAUSAL_MARK_ASKED | CAUSAL_MARK_FIXED);
		m->distance_us = distance;
	}
	m->tick_us = now_us;
}

/* Another program wakes it. */
static inline void causal_mark_peer(struct causal_mark *m)
{
	causal_mark_put(m, CAUSAL_MARK_PEER);
}

/* What set off what it does now: CAUSAL_MARK_CLOCK, CAUSAL_MARK_PEER or 0. */
static inline __u32 causal_mark_by(const struct causal_mark *m)
{
	return m->left ? m->flags & CAUSAL_MARK_SET : 0;
}

/* A thread of the program wakes it. */
static inline void causal_mark_hand_on(struct causal_mark *m, const struct causal_mark *waker)
{
	causal_mark_put(m, causal_mark_by(waker));
}

/* It visits a progress point: what set that off. */
static inline __u32 causal_mark_visit(struct causal_mark *m)
{
	__u32 by = causal_mark_by(m);

	if (m->left)
		m->left--;
	return by;
}
