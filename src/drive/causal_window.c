/* causal_window.c - one pair of experiments: the same code at speed-up 0 and at the one asked for.
 *
 * Both halves of a pair lie within half a second, in random order, so that what the machine does
 * beside us hits both alike.  An experiment has a warm-up that is not counted (debts reach their
 * steady state in a few samples; 30 ms are thirty) and a pause behind it in which threads that
 * still sleep catch up.  Signals to us are only taken inside ppoll(). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "causal_parts.h"
#include "drive/urgency.h"
#include "source/emit.h"
#include "wire/record.h"

static const uint64_t warm_up_ns = 30000000, rest_ns = 5000000, shuffle_ns = 15000000;
static const uint64_t check_ns = 100000000;
static const uint64_t window_least_ns = 200000000, window_most_ns = 2000000000;
enum { PAIRS_QUICK = 6 };

/* Fewer visits than this in a window are mostly chance at its two ends. */
enum { VISITS_FEW = 20, VISITS_MANY = 80 };

/* ---- waiting ---- */

pid_t causal_target_process(const struct causal_runner *c)
{
	if (c->options->follows)
		return causal_process(c->causal);
	return c->options->path ? spawner_target(c->execution.spawner) : c->options->id;
}

bool causal_is_sealed(struct causal_runner *c, bool at_once)
{
	pid_t pid = causal_target_process(c);
	enum causal_seal sealed = causal_sealed(c->causal);
	uint64_t now = clock_monotonic_ns();

	if (!sealed && pid && (at_once || now > c->checked_ns + check_ns)) {
		c->checked_ns = now;
		sealed = causal_process_is_sandboxed(pid) ? CAUSAL_SEAL_SANDBOX : CAUSAL_SEAL_NONE;
	}
	if (sealed)
		c->summary->sealed = sealed;
	return c->summary->sealed;
}

static int runtime_answer(struct causal_runner *c, struct err *err)
{
	pid_t target = causal_target_process(c);
	int r;

	/* Asked between its exec and the moment the spawner told us its number. */
	for (unsigned tries = 0; !target && !c->options->follows && tries < 100; tries++) {
		poll(NULL, 0, 1);
		target = spawner_target(c->execution.spawner);
	}
	r = causal_admit(c->causal, target, err);
	c->begun |= r >= 0 && causal_target_process(c);
	return r < 0 ? r : 0;
}

static int wait_once(
	struct causal_runner *c, uint64_t until, const sigset_t *signals, struct err *err)
{
	struct pollfd ready[2] = {
		{.fd = execution_descriptor(&c->execution), .events = POLLIN},
		{.fd = causal_descriptor(c->causal), .events = POLLIN},
	};
	uint64_t now = clock_monotonic_ns(), left = until > now ? until - now : 0;
	struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
	int n = ppoll(ready, 2, &timeout, signals);

	execution_pass_on_signals(&c->execution);
	if (n > 0 && ready[0].revents)
		c->ended = true;
	return n > 0 && ready[1].revents && !c->ended ? runtime_answer(c, err) : 0;
}

int causal_wait_ns(struct causal_runner *c, uint64_t ns, struct err *err)
{
	uint64_t until = clock_monotonic_ns() + ns;
	sigset_t before;
	int r = 0;

	urgency_block_signals(&before);
	do
		r = wait_once(c, until, &before, err);
	while (r >= 0 && !c->ended && !c->execution.stopped && clock_monotonic_ns() < until);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return r;
	return !c->ended && !c->execution.stopped;
}

/* ---- an experiment ---- */

int causal_half_keep(struct causal_runner *c, const struct causal_order *order,
	struct causal_half *half, struct err *err)
{
	uint32_t count;
	const struct causal_visits *visits = causal_visits(c->causal, &count);
	int r = 0;

	half->visit_count = count < CAUSAL_POINTS_MAX ? count : CAUSAL_POINTS_MAX;
	if (count)
		memcpy(half->visits, visits, half->visit_count * sizeof(*visits));
	c->summary->cut += half->result.cut;
	if (half->result.wall_ns)
		r = causal_emit(c->causal, order, &half->result, c->sink);
	return r < 0 ? err_set(err, ERR_OUTPUT, -r, "cannot store the experiments: %s",
			       err_words(-r))
		     : 0;
}

static int window_wait(struct causal_runner *c, struct err *err)
{
	uint64_t until = clock_monotonic_ns() + c->window_ns, now;
	int r = 1;

	while (r > 0 && (now = clock_monotonic_ns()) < until) {
		causal_shuffle(c->causal);
		r = causal_wait_ns(c, until - now < shuffle_ns ? until - now : shuffle_ns, err);
	}
	return r;
}

/* 1: measured whole, 0: cut short, or a negative errno. */
static int half_measure(
	struct causal_runner *c, const struct causal_choice *choice, bool faster, struct err *err)
{
	struct causal_half *half = &c->halves[faster];
	const struct causal_order order = {
		.target = choice->target,
		.pair = c->summary->pairs + 1,
		.execution = c->execution.number,
		.speedup_permille = faster ? choice->speedup_permille : 0,
	};
	int whole, r = causal_window_begin(c->causal, &choice->what, order.speedup_permille, err);

	if (r < 0)
		return r;
	whole = causal_wait_ns(c, warm_up_ns, err);
	causal_window_mark(c->causal);
	if (whole > 0)
		whole = window_wait(c, err);
	causal_window_end(c->causal, &half->result);
	if (whole < 0)
		return whole;
	/* A program that was left alone meanwhile did not take its delays; one that is followed may
	 * have ended. */
	half->result.cut |= !whole || causal_is_sealed(c, true) || !causal_target_process(c);
	r = causal_half_keep(c, &order, half, err);
	if (r < 0)
		return r;
	return whole && !half->result.cut ? causal_wait_ns(c, rest_ns, err) : 0;
}

static int target_tell(struct causal_runner *c, const struct causal_choice *choice, struct err *err)
{
	const struct emit_target target = {
		.target = choice->target,
		.kind = choice->what.waits ? WIRE_TARGET_WAIT : WIRE_TARGET_CPU,
		.name = choice->name,
		.file = choice->file,
		.function = choice->function,
		.line = choice->line,
	};
	int r;

	if (choice->target <= c->targets)
		return 0;
	c->targets = choice->target;
	r = emit_target(c->sink, &target);
	return r < 0 ? err_set(err, ERR_OUTPUT, -r, "cannot store the experiments: %s",
			       err_words(-r))
		     : 0;
}

/* The fewest visits that a visited point had. */
static uint64_t visits_least(const struct causal_half *half)
{
	uint64_t least = 0;

	for (uint32_t i = 0; i < half->visit_count; i++) {
		uint64_t visits = half->visits[i].arrivals;

		if (visits && (!least || visits < least))
			least = visits;
	}
	return least;
}

static void window_adapt(struct causal_runner *c)
{
	uint64_t visits = visits_least(&c->halves[0]);
	uint64_t least = c->summary->pairs < PAIRS_QUICK ? CAUSAL_WINDOW_QUICK_NS : window_least_ns;

	if (c->options->window_ns)
		return;
	if (visits < VISITS_FEW)
		c->window_ns *= 2;
	else if (visits > VISITS_MANY)
		c->window_ns /= 2;
	if (c->window_ns < least)
		c->window_ns = least;
	if (c->window_ns > window_most_ns)
		c->window_ns = window_most_ns;
}

int causal_pair_measure(struct causal_runner *c, const struct causal_choice *choice,
	causal_half_measure *half, struct err *err)
{
	bool first = random_next(&c->random) & 1;
	struct causal_pair pair;
	int r = target_tell(c, choice, err);

	if (r >= 0)
		r = half(c, choice, first, err);
	if (r > 0)
		r = half(c, choice, !first, err);
	if (r <= 0)
		return r;
	pair = (struct causal_pair){.number = ++c->summary->pairs,
		.choice = *choice,
		.base = &c->halves[0],
		.faster = &c->halves[1]};
	if (c->options->take_pair)
		c->options->take_pair(c->options->context, &pair);
	return 1;
}

int causal_measure_pair(struct causal_runner *c, struct causal_choice *choice, struct err *err)
{
	int r = causal_pair_measure(c, choice, half_measure, err);

	if (r <= 0)
		return r;
	window_adapt(c);
	return causal_share_measured(c, choice, err);
}
