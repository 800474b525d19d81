/* causal_clock.c - how far the clocks of a program fell behind the real one during an experiment.
 *
 * As long as no other program takes part: the growth of the largest account among threads that run,
 * or wait for a CPU, or pause.  "What all owe" alone would leave out the delay taken too much (a
 * pause that ended late), which wakes have handed on to threads that never owe anything.  A blocked
 * thread's account says nothing: it is set right when it is woken.
 *
 * What others stole is not the same for all threads: each makes its progress in its own time, and
 * the rates add up.  So then it is a mean over the threads, weighted with the visits of progress
 * points that each made, or, where only the program counts those, with the CPU time that each used
 * (simulated: docs/decisions/028). */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "causal_parts.h"

/* Whatever was stolen, at least this part of an experiment was the program's own; and less than
 * this part of it, over all threads, is not worth the noise of a mean. */
enum { LEAST_PART = 50, STOLEN_PART = 200 };

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

/* The furthest clock of the program: of the threads that do not block, if there are any.  When it
 * has ended, of the thread that did last: what it still owed is no delay that it took. */
uint64_t causal_clock_furthest(const struct causal *causal, uint64_t now)
{
	uint64_t runs = 0, any = causal_load64(&causal->board->owed_ns);
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
		since = seat.account.since_ns;
		if (seat.running_ns && now > seat.running_ns)
			snapshot->counts.ran_ns += now - seat.running_ns;
		else if (since && !seat.blocked_ns && now > since)
			snapshot->counts.queued_ns += now - since;
	}
}

/* ---- what other programs stole ---- */

/* The share of queue time that is the others', up to now: the kernel side sums it up to the last
 * change of a count. */
static uint64_t queue_share(const struct causal *causal, uint64_t now)
{
	struct assay_causal_queue queue;
	uint64_t passed;

	causal_copy(&queue, &causal->kernel->queue, sizeof(queue));
	if (now <= queue.at_ns || queue.theirs <= 0 || queue.waiting <= 0)
		return queue.share_ns;
	passed = now - queue.at_ns;
	if (queue.theirs < queue.waiting)
		passed = passed * (uint64_t)queue.theirs / (uint64_t)queue.waiting;
	return queue.share_ns + passed;
}

void causal_clock_begin(struct causal *causal)
{
	union {
		cpu_set_t set;
		uint64_t words[sizeof(cpu_set_t) / 8];
	} allowed;

	_Static_assert(sizeof(allowed) == sizeof(causal->kernel->settings.cpus), "1024 CPUs");
	if (sched_getaffinity(causal->pid, sizeof(allowed), &allowed.set) < 0)
		memset(&allowed, 0xff, sizeof(allowed));
	memcpy(causal->kernel->settings.cpus, allowed.words, sizeof(allowed));
	causal->kernel->settings.share_start_ns =
		queue_share(causal, causal->kernel->settings.start_ns);
}

/* What a thread in the run queue has lost so far, which is booked when it gets a CPU. */
static uint64_t open_share(
	const struct causal *causal, const struct wire_causal_seat *seat, uint64_t now)
{
	uint64_t share = queue_share(causal, now), since = seat->account.since_ns;

	if (!seat->queued || !since || now <= since || share <= seat->share_ns)
		return 0;
	return share - seat->share_ns < now - since ? share - seat->share_ns : now - since;
}

static struct causal_thread thread_of(
	const struct causal *causal, const struct wire_causal_seat *seat, uint64_t now)
{
	struct causal_thread thread = {.tid = seat->tid, .visits = seat->visits};
	uint64_t pause = seat->account.pause_ns;

	thread.behind_ns = (double)seat->account.taken_ns + (double)seat->account.stolen_ns +
			   (double)open_share(causal, seat, now);
	if (pause && now > pause && now - pause < WIRE_CAUSAL_PAUSE_MAX_NS)
		thread.behind_ns += (double)(now - pause);
	thread.cpu_ns = (double)seat->cpu_ns;
	if (seat->running_ns && now > seat->running_ns)
		thread.cpu_ns += (double)(now - seat->running_ns);
	if (seat->blocked_ns && now > seat->blocked_ns)
		thread.blocked_ns = (double)(now - seat->blocked_ns);
	return thread;
}

/* Nothing has happened to it in this experiment: it is in the run queue.  Then its account is as
 * the kernel side will begin it. */
static bool seat_waits_since_before(const struct causal *causal, struct wire_causal_seat *seat)
{
	const struct assay_causal_settings *settings = &causal->kernel->settings;

	if (!seat->tid || !seat->queued)
		return false;
	causal_begin(&seat->account, settings->owed_start_ns, settings->start_ns, 1);
	if (seat->share_ns < settings->share_start_ns)
		seat->share_ns = settings->share_start_ns;
	seat->cpu_ns = seat->running_ns = seat->blocked_ns = 0;
	seat->visits = 0;
	return true;
}

/* All threads as they are now, in the order of their seats. */
static void threads_read(const struct causal *causal, uint64_t now, causal_thread_vec *ret_threads)
{
	double furthest = 0;

	for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++) {
		struct causal_thread thread;
		struct wire_causal_seat seat;

		if (!causal_seat_read(causal, i, &seat) && !seat_waits_since_before(causal, &seat))
			continue;
		thread = thread_of(causal, &seat, now);
		thread.seat = i;
		if (!seat.blocked_ns)
			furthest = fmax(furthest, thread.behind_ns);
		vec_push(ret_threads, thread);
	}
	/* A blocked thread is given the clock of the one that wakes it. */
	vec_foreach (struct causal_thread, thread, ret_threads)
		if (thread->blocked_ns > 0 && furthest > thread->behind_ns)
			thread->behind_ns += fmin(thread->blocked_ns, furthest - thread->behind_ns);
}

void causal_clock_mark(struct causal *causal)
{
	double weights = 0, sum = 0;

	causal->threads.count = 0;
	threads_read(causal, causal->before.now_ns, &causal->threads);
	vec_foreach (const struct causal_thread, thread, &causal->threads) {
		weights += thread->cpu_ns;
		sum += thread->cpu_ns * thread->behind_ns;
	}
	causal->behind_ns = weights > 0 ? sum / weights : (double)causal->before.taken_ns;
}

/* What a thread did between the mark and now.  One that is new has its clock from its parent. */
static struct causal_thread thread_grown(
	const struct causal *causal, const struct causal_thread *now, uint32_t *next)
{
	const struct causal_thread *before;
	struct causal_thread grown = *now;

	while (*next < causal->threads.count && causal->threads.at[*next].seat < now->seat)
		++*next;
	before = *next < causal->threads.count ? &causal->threads.at[*next] : NULL;
	if (before && before->seat == now->seat && before->tid == now->tid) {
		grown.cpu_ns -= before->cpu_ns;
		grown.visits -= before->visits;
		grown.behind_ns -= before->behind_ns;
	} else {
		grown.behind_ns -= causal->behind_ns;
	}
	return grown;
}

/* Rates add up, so the time that counts is a harmonic mean over the threads.  NAN: no weights. */
static double delay_mean(
	const struct causal *causal, const causal_thread_vec *threads, bool by_visits)
{
	double wall = (double)(causal->after.now_ns - causal->before.now_ns), weights = 0, rate = 0;
	uint32_t next = 0;

	vec_foreach (const struct causal_thread, thread, threads) {
		struct causal_thread grown = thread_grown(causal, thread, &next);
		double weight = by_visits ? (double)grown.visits : fmax(grown.cpu_ns, 0);

		weights += weight;
		rate += weight / fmax(wall - grown.behind_ns, wall / LEAST_PART);
	}
	return weights > 0 ? wall - weights / rate : (double)NAN;
}

uint64_t causal_clock_delay(const struct causal *causal)
{
	const struct causal_snapshot *a = &causal->before, *b = &causal->after;
	uint64_t delay = b->taken_ns > a->taken_ns ? b->taken_ns - a->taken_ns : 0;
	uint64_t stolen = b->counts.stolen_ns - a->counts.stolen_ns;
	causal_thread_vec threads = {0};
	double mean;

	threads_read(causal, b->now_ns, &threads);
	mean = delay_mean(causal, &threads, true);
	if (isnan(mean))
		mean = delay_mean(causal, &threads, false);
	if (!threads.count) /* it has ended: the last thread had waited for the others */
		delay += causal_load64(&causal->kernel->last_stolen_ns);
	else if (!isnan(mean) && stolen > (b->now_ns - a->now_ns) / STOLEN_PART)
		delay = mean > 0 ? (uint64_t)mean : 0;
	vec_done(&threads);
	return delay;
}
