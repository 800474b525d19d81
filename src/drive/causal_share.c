/* causal_share.c - whether counting its progress changes what the program does.
 *
 * A probe is a trap.  One at 111,000 visits a second took most of the time, and code with 84 % of
 * it looked like 25 %.  So the cost of the probes is told from their visits while the program is
 * watched: above a tenth of its time there are no experiments.  From one per cent on the program is
 * watched a second time without them, and a target's share there must be that in the experiments,
 * but for chance. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "causal_parts.h"
#include "source/emit.h"

static const double cost_doubtful = 0.01, cost_most = 0.1, share_tolerance = 0.06;
static const double rate_cheap = 1000; /* visits a second: of no account on any machine */
static const uint64_t reference_ns = 400000000;
enum { SAMPLES_LEAST = 150, TEXT = 200 };

static int refuse(struct causal_runner *c, const char *text, struct err *err)
{
	c->summary->distorted = true;
	if (emit_note(c->sink, "probe-distorts", text,
		    "name a progress point that is visited less often, or use --progress auto") < 0)
		return err_set(err, ERR_OUTPUT, EIO, "cannot store the experiments");
	return 1;
}

/* Watch the program without the probes.  1, or 0 when it ended. */
static int reference_take(struct causal_runner *c, struct err *err)
{
	struct err late = {0};
	struct causal_result ignored;
	int r, read;

	causal_points_lift(c->causal);
	causal_stacks_begin(c->causal);
	r = causal_window_begin(c->causal, &(struct causal_target){0}, 0, err);
	if (r >= 0) {
		r = causal_wait_ns(c, reference_ns, err);
		causal_window_mark(c->causal);
		causal_window_end(c->causal, &ignored);
	}
	read = causal_stacks_end(
		c->causal, &c->reference, &c->reference_count, r < 0 ? &late : err);
	if (read >= 0 && r > 0)
		read = causal_points_return(c->causal, err);
	return r < 0 ? r : read < 0 ? read : r;
}

int causal_share_watched(struct causal_runner *c, const struct causal_result *watched,
	const uint64_t visits[2], struct err *err)
{
	double seconds = (double)watched->wall_ns / 1e9, rate, cost = 0;
	char text[TEXT];

	c->reference_count = 0;
	if (seconds <= 0 || !watched->counts.ran_ns)
		return 1;
	rate = (double)(visits[0] + visits[1]) / seconds;
	if (rate < rate_cheap)
		return 1;
	for (unsigned cheap = 0; cheap < 2; cheap++)
		if (visits[cheap])
			cost += (double)visits[cheap] *
				(double)causal_points_cost_ns(c->causal, cheap) /
				(double)watched->counts.ran_ns;
	if (cost > cost_most) {
		snprintf(text, sizeof(text),
			"counting the progress point (%.0f visits per second) takes about %.0f %% "
			"of the program's time, so experiments would be wrong",
			rate, 100 * fmin(cost, 1));
		return refuse(c, text, err);
	}
	return cost > cost_doubtful ? reference_take(c, err) : 1;
}

static bool place_has(const struct causal_target *target, const struct causal_place *frame)
{
	for (uint32_t i = 0; frame->path && i < target->count; i++) {
		const struct causal_place *place = &target->places[i];

		if (place->path && frame->offset >= place->offset &&
			frame->offset - place->offset < place->len &&
			str_equal(place->path, frame->path))
			return true;
	}
	return false;
}

/* As the sampler decides it. */
static bool stack_hits(const struct causal_target *target, const struct causal_stack *stack)
{
	for (uint32_t i = 0; i < stack->count && (target->callees || i <= stack->own); i++)
		if (place_has(target, &stack->frames[i]))
			return true;
	return false;
}

static double reference_share(
	const struct causal_runner *c, const struct causal_target *target, double *ret_samples)
{
	double hits = 0;

	for (uint32_t i = 0; i < c->reference_count; i++)
		hits += stack_hits(target, &c->reference[i]);
	*ret_samples = c->reference_count;
	return hits / c->reference_count;
}

int causal_share_measured(
	struct causal_runner *c, const struct causal_choice *choice, struct err *err)
{
	const struct causal_counts *base = &c->halves[0].result.counts;
	double share, expected, samples, likely, pooled;
	char text[TEXT];

	if (!c->reference_count || choice->what.waits || choice->what.caller_count)
		return 1;
	if (c->share_target != choice->target)
		c->share_hits = c->share_samples = 0;
	c->share_target = choice->target;
	c->share_hits += (double)base->hits;
	c->share_samples += (double)base->samples;
	if (c->share_samples < SAMPLES_LEAST)
		return 1;
	share = c->share_hits / c->share_samples;
	expected = reference_share(c, &choice->what, &samples);
	pooled = (share * c->share_samples + expected * samples) / (c->share_samples + samples);
	likely = 3 * sqrt(pooled * (1 - pooled) * (1 / samples + 1 / c->share_samples));
	if (fabs(share - expected) <= share_tolerance + likely)
		return 1;
	snprintf(text, sizeof(text),
		"counting the progress point changes the program: %.60s is %.0f %% of its time, in "
		"experiments %.0f %%",
		choice->name ? choice->name : "the target", 100 * expected, 100 * share);
	return refuse(c, text, err);
}
