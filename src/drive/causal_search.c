/* causal_search.c - count the functions of a program that has no progress point of its own.
 *
 * Two passes.  First who is called at all, sixty-four functions at a time for a fifth of a second
 * of the program's CPU time.  A probe costs 0.7 us a visit, in a virtual machine on a busy host ten
 * times that, and then a function that is called without end is seen 100,000 times a second at
 * most: what comes more than 40,000 times in a second of CPU time loses its probe, first after a
 * millisecond, and the others are counted anew, because they were held up.  Then those that are
 * left are counted for a second and a half in equal slices, side by side with the system calls that
 * put something out. */
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "causal_parts.h"

static const char *const output_calls[] = {"write", "writev", "sendto", "sendmsg"};

enum { OUTPUTS = sizeof(output_calls) / sizeof(*output_calls) };
enum { FINALISTS = CAUSAL_PROBED_MAX - OUTPUTS, VISITS_ALIVE = 2 };
static const uint64_t look_first_ns = 1000000, look_longest_ns = 50000000;
static const uint64_t look_busy_ns = 200000000, look_patience_ns = 1000000000;
static const double rate_most = 40000, rate_best = 300;

struct moment {
	uint64_t real_ns, busy_ns; /* busy: CPU time of the program */
};

struct search {
	struct causal_runner *c;
	const struct causal_search *wanted;
	uint32_t finalists[FINALISTS]; /* indexes of wanted->functions */
	double rates[FINALISTS];
	uint32_t finalist_count, looked, hot;
};

static double distance(double rate)
{
	return fabs(log(rate / rate_best));
}

/* Keep the best of those that are alive: the nearest to a rate that suits experiments. */
static void finalist_add(struct search *s, uint32_t function, double rate)
{
	uint32_t at = s->finalist_count;

	if (at == FINALISTS) {
		at = 0;
		for (uint32_t i = 1; i < FINALISTS; i++)
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
static bool hot_drop(
	struct causal_runner *c, uint32_t count, const struct moment *since, bool *is_hot)
{
	const struct moment now = moment_now(c);
	double seconds = fmin((double)(now.real_ns - since->real_ns),
				 (double)(now.busy_ns - since->busy_ns)) /
			 1e9;
	bool dropped = false;

	for (uint32_t i = 0; i < count; i++)
		if (!is_hot[i] &&
			(double)causal_points_count(c->causal, i) > 50 + rate_most * seconds) {
			causal_points_drop(c->causal, i);
			is_hot[i] = dropped = true;
		}
	return dropped;
}

/* Count until the program had enough CPU time since the last probe was dropped. */
static int batch_count(struct search *s, uint32_t count, bool *is_hot, uint64_t *ret_before,
	struct moment *ret_since, struct err *err)
{
	struct moment start = moment_now(s->c), now = start;
	uint64_t wait_ns = look_first_ns;
	int r = 1;

	*ret_since = start;
	while (r > 0 && now.busy_ns - ret_since->busy_ns < look_busy_ns &&
		now.real_ns - ret_since->real_ns < look_patience_ns) {
		r = causal_wait_ns(s->c, wait_ns, err);
		wait_ns = wait_ns < look_longest_ns ? wait_ns * 2 : wait_ns;
		now = moment_now(s->c);
		if (!hot_drop(s->c, count, &start, is_hot))
			continue;
		*ret_since = now;
		for (uint32_t i = 0; i < count; i++)
			ret_before[i] = causal_points_count(s->c->causal, i);
	}
	return r;
}

/* 1, or 0 when the program ended. */
static int batch_look(struct search *s, uint32_t first, struct err *err)
{
	const uint32_t left = s->wanted->count - first;
	const uint32_t count = left < CAUSAL_PROBED_MAX ? left : CAUSAL_PROBED_MAX;
	bool is_hot[CAUSAL_PROBED_MAX] = {false};
	uint64_t before[CAUSAL_PROBED_MAX] = {0};
	struct moment since;
	int r;

	causal_points_change(s->c->causal, s->wanted->functions + first, count);
	r = batch_count(s, count, is_hot, before, &since, err);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t visits = causal_points_count(s->c->causal, i) - before[i];

		s->hot += is_hot[i];
		if (!is_hot[i] && visits >= VISITS_ALIVE)
			finalist_add(s, first + i,
				(double)visits * 1e9 /
					(double)(clock_monotonic_ns() - since.real_ns));
	}
	s->looked += count;
	return r;
}

static uint32_t finalists_place(struct search *s, struct causal_counted *counted)
{
	struct causal_point points[CAUSAL_PROBED_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->finalist_count; i++) {
		points[count] = s->wanted->functions[s->finalists[i]];
		counted->points[count++] =
			(struct causal_counted_point){.function = s->finalists[i]};
	}
	for (uint32_t i = 0; i < OUTPUTS; i++) {
		points[count] =
			(struct causal_point){.kind = CAUSAL_SYSCALL, .name = output_calls[i]};
		counted->points[count++] = (struct causal_counted_point){
			.function = UINT32_MAX, .output = output_calls[i]};
	}
	causal_points_change(s->c->causal, points, count);
	return count;
}

static int finalists_count(struct search *s, struct causal_counted *counted, struct err *err)
{
	uint64_t before[CAUSAL_PROBED_MAX] = {0};
	struct moment start, last, now;
	bool is_hot[CAUSAL_PROBED_MAX] = {false};
	int r = 1;

	counted->count = finalists_place(s, counted);
	start = last = moment_now(s->c);
	for (; r > 0 && counted->slices < CAUSAL_SLICES; counted->slices++) {
		r = causal_wait_ns(s->c, CAUSAL_SLICE_NS, err);
		now = moment_now(s->c);
		counted->busy_ns[counted->slices] = now.busy_ns - last.busy_ns;
		last = now;
		for (uint32_t i = 0; i < counted->count; i++) {
			uint64_t visits = causal_points_count(s->c->causal, i);

			counted->points[i].visits[counted->slices] = visits - before[i];
			before[i] = visits;
		}
		hot_drop(s->c, counted->count, &start, is_hot);
	}
	counted->slice_ns = (clock_monotonic_ns() - start.real_ns) / CAUSAL_SLICES;
	for (uint32_t i = 0; i < counted->count; i++)
		counted->points[i].is_hot = is_hot[i];
	return r;
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

int causal_search_points(struct causal_runner *c, struct err *err)
{
	struct search s = {.c = c, .wanted = c->options->search};
	struct causal_counted counted = {0};
	uint64_t until_ns = search_until_ns(c);
	uint32_t chosen;
	int r = 1;

	for (uint32_t first = 0;
		r > 0 && first < s.wanted->count && clock_monotonic_ns() < until_ns;
		first += CAUSAL_PROBED_MAX)
		r = batch_look(&s, first, err);
	if (r > 0 && s.finalist_count)
		r = finalists_count(&s, &counted, err);
	counted.looked = s.looked;
	counted.hot = s.hot;
	chosen = r > 0 ? s.wanted->choose(c->options->context, &counted) : UINT32_MAX;
	if (chosen < s.wanted->count)
		causal_points_change(c->causal, &s.wanted->functions[chosen], 1);
	else
		causal_points_change(c->causal, NULL, 0);
	c->hopeless_ns = chosen < s.wanted->count ? 0 : clock_monotonic_ns();
	return r;
}
