/* causal_release.h - who gave a lock, a condition or a semaphore free last, and where its clock
 * stood: the wake edges of the engine that works from inside the target.
 *
 * The kernel knows who wakes whom; inside the program only the object is known.  So a thread that
 * releases one leaves a note under its address, and a thread that had to wait reads it.  The table
 * is small and forgets: notes of two objects may share a place, and a note that another thread is
 * just writing is left out.  A reader takes only a note made after it began to wait; if there is
 * none the waker is not known.  No locks, no libc: it stands in the lock paths of programs. */
#pragma once

#include "wire/causal_rule.h"

enum { CAUSAL_RELEASES = 4096 }; /* a power of two */

struct causal_release {
	__u64 turn; /* odd: is being written */
	__u64 object, taken_ns, at_ns;
};

static inline struct causal_release *causal_release_place(
	struct causal_release *table, __u64 object)
{
	return &table[(object * 0x9e3779b97f4a7c15ULL) >> 52 & (CAUSAL_RELEASES - 1)];
}

/* `object` is given free at at_ns by a thread whose account stands at taken_ns. */
static inline void causal_release_note(
	struct causal_release *table, __u64 object, __u64 taken_ns, __u64 at_ns)
{
	struct causal_release *note = causal_release_place(table, object);
	__u64 turn = __atomic_load_n(&note->turn, __ATOMIC_RELAXED);

	if (turn & 1 || !__atomic_compare_exchange_n(&note->turn, &turn, turn + 1, 0,
				__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&note->object, object, __ATOMIC_RELAXED);
	__atomic_store_n(&note->taken_ns, taken_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&note->at_ns, at_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&note->turn, turn + 2, __ATOMIC_RELEASE);
}

/* Whether someone gave `object` free at since_ns or later, and where its account stood. */
static inline int causal_release_find(
	struct causal_release *table, __u64 object, __u64 since_ns, __u64 *ret_taken_ns)
{
	struct causal_release *note = causal_release_place(table, object);
	__u64 turn = __atomic_load_n(&note->turn, __ATOMIC_ACQUIRE);
	__u64 whose = __atomic_load_n(&note->object, __ATOMIC_RELAXED);
	__u64 taken = __atomic_load_n(&note->taken_ns, __ATOMIC_RELAXED);
	__u64 at = __atomic_load_n(&note->at_ns, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (turn & 1 || turn != __atomic_load_n(&note->turn, __ATOMIC_RELAXED) || whose != object ||
		at < since_ns)
		return 0;
	*ret_taken_ns = taken;
	return 1;
}

/* A wait whose waker is not known, by coz's rule: what the line bought while it waited is forgiven,
 * never more than is owed. */
static inline void causal_forgive(struct causal_account *a, __u64 owed_then_ns, __u64 owed_ns)
{
	__u64 gained = owed_ns > owed_then_ns ? owed_ns - owed_then_ns : 0;
	__u64 debt = causal_debt(a, owed_ns);

	a->taken_ns += gained < debt ? gained : debt;
	a->since_ns = 0;
}
