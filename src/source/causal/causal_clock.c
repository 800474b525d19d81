/* causal_clock.c - how far the clocks of a program fell behind the real one during an experiment.
 *
 * As long as no other program takes part: the growth of the largest account among threads that run,
 * or wait for a CPU, or pause.  "What all owe" alone would leave out the delay taken too much (a
 * pause that ended late), which wakes have handed on to threads that never owe anything.  A blocked
 * thread's account says nothing: it is set right when it is woken.
 *
 * Beside other programs pauses end late by as much as those take, by chance and for one thread at a
 * time, so what all owe is the better measure: it has what was stolen from any of them
 * (docs/decisions/028). */
#include <sched.h>
#include <string.h>

#include "causal_parts.h"

/* More than 1 / STOLEN_PART of an experiment stolen: other programs take part. */
enum { STOLEN_PART = 200, SUMS_TRIES = 8 };

/* A copy of a seat; false: nobody's in this experiment.  Nearly all of the 32768 are nobody's, and
 * their numbers are all that is read of them. */
bool causal_seat_read(
	const struct causal *causal, uint32_t index, struct wire_causal_seat *ret_seat)
{
	ret_seat->tid = causal_load32(&causal->seats[index].tid);
	if (!ret_seat->tid)
		return false;
	causal_copy(ret_seat, &causal->seats[index], sizeof(*ret_seat));
	return ret_seat->tid && ret_seat->epoch == causal->epoch;
}

/* ---- what other programs stole ---- */

/* The share of queue time that is the others' since the kernel side summed it up, which it does
 * when a count changes and at samples. */
static uint64_t share_open(const struct causal *causal, uint64_t now)
{
	struct assay_causal_queue queue;

	causal_copy(&queue, &causal->kernel->queue, sizeof(queue));
	if (now <= queue.at_ns || queue.theirs <= 0 || queue.waiting <= 0)
		return 0;
	return causal_share(now - queue.at_ns, (uint32_t)queue.theirs, (uint32_t)queue.waiting,
		causal_load32(&causal->kernel->settings.cpu_count));
}

uint64_t causal_clock_owed(const struct causal *causal, uint64_t now)
{
	return causal_load64(&causal->board->owed_ns) + share_open(causal, now);
}

/* What all owe and what a thread that always waits would have lost, at the same moment: a thread
 * takes of the second what all owe of the first. */
static void sums_read(struct causal *causal)
{
	struct assay_causal_settings *settings = &causal->kernel->settings;
	const struct assay_causal_queue *queue = &causal->kernel->queue;
	uint64_t owed, share, open;
	unsigned tries = 0;

	do {
		share = causal_load64(&queue->share_ns);
		open = share_open(causal, settings->start_ns);
		owed = causal_load64(&causal->board->owed_ns);
	} while ((share != causal_load64(&queue->share_ns) ||
			 owed != causal_load64(&causal->board->owed_ns)) &&
		 ++tries < SUMS_TRIES);
	settings->share_start_ns = share + open;
	settings->owed_start_ns = owed + open;
}

void causal_clock_begin(struct causal *causal)
{
	struct assay_causal_settings *settings = &causal->kernel->settings;
	union {
		cpu_set_t set;
		uint64_t words[sizeof(cpu_set_t) / 8];
	} allowed;

	_Static_assert(sizeof(allowed) == sizeof(settings->cpus), "1024 CPUs");
	if (sched_getaffinity(causal->pid, sizeof(allowed), &allowed.set) < 0)
		memset(&allowed, 0xff, sizeof(allowed));
	memcpy(settings->cpus, allowed.words, sizeof(allowed));
	settings->cpu_count = (uint32_t)CPU_COUNT(&allowed.set);
	sums_read(causal);
}

/* ---- both ends of an experiment ---- */

/* The furthest clock of the program: of the threads that do not block, if there are any.  When it
 * has ended, of the thread that did last: what it still owed is no delay that it took. */
uint64_t causal_clock_furthest(const struct causal *causal, uint64_t now)
{
	uint64_t runs = 0, any = causal_clock_owed(causal, now);
	uint64_t last = causal_load64(&causal->kernel->last_taken_ns);
	uint32_t seats = 0;

	for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++) {
		struct wire_causal_seat seat;
		uint64_t pause, taken;

		if (!causal_seat_read(causal, i, &seat))
			continue;
		seats++;
		pause = seat.account.pause_ns;
		taken = seat.account.taken_ns;
		if (pause && now > pause && now - pause < WIRE_CAUSAL_PAUSE_MAX_NS)
			taken += now - pause;
		if (!seat.blocked_ns && taken > runs)
			runs = taken;
	}
	if (!seats && last)
		return last;
	return runs > any ? runs : any;
}

/* What the kernel side adds only when it ends: the wait for a CPU or the run that goes on now. */
void causal_clock_spans_add(const struct causal *causal, struct causal_snapshot *snapshot)
{
	for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++) {
		struct wire_causal_seat seat;
		uint64_t now = snapshot->now_ns, since;

		if (!causal_seat_read(causal, i, &seat))
			continue;
		snapshot->seats++;
		since = seat.account.since_ns;
		if (seat.running_ns && now > seat.running_ns)
			snapshot->counts.ran_ns += now - seat.running_ns;
		else if (since && !seat.blocked_ns && now > since)
			snapshot->counts.queued_ns += now - since;
	}
}

uint64_t causal_clock_delay(const struct causal *causal)
{
	const struct causal_snapshot *a = &causal->before, *b = &causal->after;
	uint64_t stolen = b->stolen_ns > a->stolen_ns ? b->stolen_ns - a->stolen_ns : 0;
	bool alone = stolen <= (b->now_ns - a->now_ns) / STOLEN_PART;
	uint64_t from = alone || !b->seats ? a->taken_ns : a->owed_ns;
	uint64_t to = alone || !b->seats ? b->taken_ns : b->owed_ns;

	return to > from ? to - from : 0;
}
