/* causal_search.c - find a progress point for a program that has none of its own.
 *
 * First on its stacks: from the root in, functions and the heads of loops are visited more and more
 * often, so a few at a time are counted from the outside in, until they come too often.  Where that
 * finds none, all functions of the program, sixty-four at a time.  A probe costs 0.6 to 13 us a
 * visit, which is measured, and what comes so often that counting it takes more than 1 % of the
 * time loses its probe, first after a millisecond; the others are counted anew, because they were
 * held up.  Then those that are left are counted for a second and a half in equal slices, side by
 * side with the system calls that put something out. */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "causal_parts.h"

static const char *const output_calls[] = {"write", "writev", "sendto", "sendmsg"};

enum { OUTPUTS = sizeof(output_calls) / sizeof(*output_calls) };
enum { VISITS_ALIVE = 2, BATCH_CHAIN = 8, SLICES_LEAST = 8 };
static const uint64_t look_first_ns = 1000000, look_longest_ns = 50000000;
static const uint64_t look_busy_ns = 200000000, look_patience_ns = 1000000000;
static const uint64_t stacks_ns = 300000000;
static const double cost_most = 0.01, rate_best = 300, rate_least = 20;
static const double rate_least_most = 100, rate_most_most = 10000;

struct moment {
	uint64_t real_ns, busy_ns; /* busy: CPU time of the program */
};

static double distance(double rate)
{
	return fabs(log(rate / rate_best));
}

/* Keep the best of those that are alive: the nearest to a rate that suits experiments. */
static void finalist_add(struct causal_searching *s, uint32_t function, double rate)
{
	uint32_t at = s->finalist_count;

	if (at == CAUSAL_FINALISTS_MAX) {
		at = 0;
		for (uint32_t i = 1; i < CAUSAL_FINALISTS_MAX; i++)
			if (distance(s->rates[i]) > distance(s->rates[at]))
				at = i;
		if (distance(s->rates[at]) <= distance(rate))
			return;
	} else {
		s->finalist_count++;
	}
	s->finalists[at] = function;
	s->rates[at] = rate;
}

/* Time that counts for a rate: real time, or less when the program did not get its CPU.  A hot
 * function on a busy machine is visited rarely by the clock and still slows the program down. */
static uint64_t busy_ns(struct causal_runner *c)
{
	pid_t target = causal_target_process(c);
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(target, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return clock_monotonic_ns();
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static struct moment moment_now(struct causal_runner *c)
{
	return (struct moment){clock_monotonic_ns(), busy_ns(c)};
}

/* Take the probes away that are visited too often; whether there were any. */
static bool hot_drop(struct causal_runner *c, const struct causal_point *points, uint32_t count,
	const struct moment *since, bool *is_hot)
{
	const struct moment now = moment_now(c);
	double seconds = fmin((double)(now.real_ns - since->real_ns),
				 (double)(now.busy_ns - since->busy_ns)) /
			 1e9;
	bool dropped = false;

	for (uint32_t i = 0; i < count; i++)
		if (!is_hot[i] &&
			(double)causal_points_count(c->causal, i) >
				50 + c->searching.rate_most[points[i].is_cheap] * seconds) {
			causal_points_drop(c->causal, i);
			is_hot[i] = dropped = true;
		}
	return dropped;
}

/* Points that are counted at once. */
struct batch {
	const struct causal_point *points;
	uint32_t count;
};

/* Count until the program had enough CPU time since the last probe was dropped. */
static int batch_count(struct causal_runner *c, struct batch batch, bool *is_hot,
	uint64_t *ret_before, struct moment *ret_since, struct err *err)
{
	struct moment start = moment_now(c), now = start;
	uint64_t wait_ns = look_first_ns;
	int r = 1;

	*ret_since = start;
	while (r > 0 && now.busy_ns - ret_since->busy_ns < look_busy_ns &&
		now.real_ns - ret_since->real_ns < look_patience_ns) {
		r = causal_wait_ns(c, wait_ns, err);
		wait_ns = wait_ns < look_longest_ns ? wait_ns * 2 : wait_ns;
		now = moment_now(c);
		if (!hot_drop(c, batch.points, batch.count, &start, is_hot))
			continue;
		*ret_since = now = moment_now(c); /* taking a probe away takes its time */
		for (uint32_t i = 0; i < batch.count; i++)
			ret_before[i] = causal_points_count(c->causal, i);
	}
	return r;
}

/* 1, or 0 when the program ended; how many came too often. */
static int batch_look(
	struct causal_runner *c, uint32_t first, uint32_t count, uint32_t *ret_hot, struct err *err)
{
	const struct causal_point *points = c->options->search->functions + first;
	struct causal_searching *s = &c->searching;
	bool is_hot[CAUSAL_PROBED_MAX] = {false};
	uint64_t before[CAUSAL_PROBED_MAX] = {0};
	struct moment since;
	int r;

	*ret_hot = 0;
	causal_points_change(c->causal, points, count);
	r = batch_count(c, (struct batch){points, count}, is_hot, before, &since, err);
	if (r <= 0)
		return r;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t visits = causal_points_count(c->causal, i) - before[i];

		*ret_hot += is_hot[i];
		if (!is_hot[i] && visits >= VISITS_ALIVE)
			finalist_add(s, first + i,
				(double)visits * 1e9 /
					(double)(clock_monotonic_ns() - since.real_ns));
	}
	s->looked += count;
	s->hot += *ret_hot;
	return r;
}

static uint32_t finalists_place(
	struct causal_runner *c, struct causal_counted *counted, struct causal_point *points)
{
	const struct causal_searching *s = &c->searching;
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->finalist_count; i++) {
		points[count] = c->options->search->functions[s->finalists[i]];
		counted->points[count++] =
			(struct causal_counted_point){.function = s->finalists[i]};
	}
	for (uint32_t i = 0; i < OUTPUTS; i++) {
		points[count] = (struct causal_point){
			.kind = CAUSAL_SYSCALL, .name = output_calls[i], .is_cheap = true};
		counted->points[count++] = (struct causal_counted_point){
			.function = UINT32_MAX, .output = output_calls[i]};
	}
	causal_points_change(c->causal, points, count);
	return count;
}

/* 1, also when the program ended and it was counted long enough. */
static int finalists_count(struct causal_runner *c, struct causal_counted *counted, struct err *err)
{
	struct causal_point points[CAUSAL_PROBED_MAX];
	uint64_t before[CAUSAL_PROBED_MAX] = {0};
	struct moment start, last, now;
	bool is_hot[CAUSAL_PROBED_MAX] = {false};
	int r = 1;

	counted->count = finalists_place(c, counted, points);
	start = last = moment_now(c);
	while (counted->slices < CAUSAL_SLICES) {
		r = causal_wait_ns(c, CAUSAL_SLICE_NS, err);
		if (r <= 0)
			break;
		now = moment_now(c);
		counted->busy_ns[counted->slices] = now.busy_ns - last.busy_ns;
		last = now;
		for (uint32_t i = 0; i < counted->count; i++) {
			uint64_t visits = causal_points_count(c->causal, i);

			counted->points[i].visits[counted->slices] = visits - before[i];
			before[i] = visits;
		}
		counted->slices++;
		hot_drop(c, points, counted->count, &start, is_hot);
	}
	if (counted->slices)
		counted->slice_ns = (last.real_ns - start.real_ns) / counted->slices;
	for (uint32_t i = 0; i < counted->count; i++)
		counted->points[i].is_hot = is_hot[i];
	return r == 0 && counted->slices >= SLICES_LEAST ? 1 : r;
}

/* Looking is not the purpose: a third of what is left of the budget.  Placing and taking away the
 * probes of a large program can take minutes on a busy machine. */
static uint64_t search_until_ns(const struct causal_runner *c)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (c->until_ns == UINT64_MAX || c->until_ns < now_ns)
		return c->until_ns;
	return now_ns + (c->until_ns - now_ns) / 3;
}

/* ---- on the stacks ---- */

static int stacks_watch(struct causal_runner *c, struct err *err)
{
	const struct causal_stack *stacks;
	struct causal_result ignored;
	struct err unheard = {0};
	uint32_t count;
	int r = causal_learn_files(c, err), taken;

	if (r < 0)
		return r;
	causal_stacks_begin(c->causal);
	r = causal_window_begin(c->causal, &(struct causal_target){0}, 0, err);
	if (r >= 0) {
		r = causal_wait_ns(c, stacks_ns, err);
		causal_window_mark(c->causal);
		causal_window_end(c->causal, &ignored);
	}
	taken = causal_stacks_end(c->causal, &stacks, &count, r < 0 ? &unheard : err);
	if (r > 0 && taken >= 0)
		c->options->search->take_stacks(c->options->context, stacks, count);
	return r < 0 ? r : taken < 0 ? taken : r;
}

/* A function or loop that is visited so often holds the program up by 1 %.  No more than 10,000,
 * cheap as the probe may be: visits that often say nothing that fewer do not. */
static double rate_affordable(struct causal_runner *c, bool is_cheap)
{
	uint64_t ns = causal_points_cost_ns(c->causal, is_cheap);

	return ns ? fmin(fmax(cost_most * 1e9 / (double)ns, rate_least_most), rate_most_most)
		  : rate_least_most;
}

static bool finalist_is_fit(const struct causal_searching *s)
{
	for (uint32_t i = 0; i < s->finalist_count; i++)
		if (s->rates[i] >= rate_least)
			return true;
	return false;
}

/* From the outside in, until what is further in comes too often. */
static int chain_look(struct causal_runner *c, struct err *err)
{
	const struct causal_search *wanted = c->options->search;
	struct causal_searching *s = &c->searching;
	uint32_t total, hot = 0;
	int r = 1;

	if (!s->has_chain) {
		r = stacks_watch(c, err);
		if (r <= 0)
			return r;
		s->has_chain = true;
	}
	total = wanted->count - wanted->function_count;
	while (r > 0 && s->next < total && !(hot && finalist_is_fit(s))) {
		uint32_t left = total - s->next;
		uint32_t count = left < BATCH_CHAIN ? left : BATCH_CHAIN;

		r = batch_look(c, wanted->function_count + s->next, count, &hot, err);
		if (r > 0)
			s->next += hot < count ? count : left;
	}
	if (r > 0)
		s->next = total;
	return r;
}

static int functions_look(struct causal_runner *c, uint64_t until_ns, struct err *err)
{
	const uint32_t total = c->options->search->function_count;
	struct causal_searching *s = &c->searching;
	uint32_t hot;
	int r = 1;

	while (r > 0 && s->others < total && clock_monotonic_ns() < until_ns) {
		uint32_t left = total - s->others;
		uint32_t count = left < CAUSAL_PROBED_MAX ? left : CAUSAL_PROBED_MAX;

		r = batch_look(c, s->others, count, &hot, err);
		if (r > 0)
			s->others += count;
	}
	return r;
}

/* The one among those that are alive; UINT32_MAX: none.  1, or 0 when the program ended first. */
static int finalists_judge(
	struct causal_runner *c, bool is_first, uint32_t *ret_chosen, struct err *err)
{
	const struct causal_searching *s = &c->searching;
	struct causal_counted counted = {.looked = s->looked,
		.hot = s->hot,
		.rate_most = {s->rate_most[0], s->rate_most[1]},
		.probe_ns = {causal_points_cost_ns(c->causal, false),
			causal_points_cost_ns(c->causal, true)},
		.is_first = is_first};
	int r = s->finalist_count ? finalists_count(c, &counted, err) : 1;

	*ret_chosen =
		r > 0 ? c->options->search->choose(c->options->context, &counted) : UINT32_MAX;
	return r;
}

int causal_search_points(struct causal_runner *c, struct err *err)
{
	const struct causal_search *wanted = c->options->search;
	struct causal_searching *s = &c->searching;
	uint64_t until_ns = search_until_ns(c);
	uint32_t chosen = UINT32_MAX;
	int r = 1;

	s->begun = true;
	for (unsigned cheap = 0; cheap < 2; cheap++)
		if (s->rate_most[cheap] <= 0)
			s->rate_most[cheap] = rate_affordable(c, cheap);
	if (!s->is_chain_done) {
		r = chain_look(c, err);
		if (r > 0 && s->finalist_count)
			r = finalists_judge(c, true, &chosen, err);
		s->is_chain_done = r > 0;
	}
	if (r > 0 && chosen == UINT32_MAX)
		r = functions_look(c, until_ns, err);
	if (r > 0 && chosen == UINT32_MAX)
		r = finalists_judge(c, false, &chosen, err);
	if (r == -ENOENT || r == -ESRCH) { /* it has just ended */
		*err = (struct err){0};
		r = 0;
	}
	if (wanted->count)
		causal_points_change(c->causal,
			&wanted->functions[chosen < wanted->count ? chosen : 0],
			chosen < wanted->count);
	c->searched = r > 0;
	c->hopeless_ns = chosen < wanted->count || r <= 0 ? 0 : clock_monotonic_ns();
	if (c->ended || c->execution.stopped)
		return r < 0 ? r : 0;
	return r == 0 && c->options->follows ? 1 : r; /* there may be another */
}
