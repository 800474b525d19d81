/* causal_pace.c - who sets the pace, and what the work costs where it is not the program.
 *
 * The engine with a kernel side says for each window what set its pace; those without a speed-up
 * count, because pauses make a program miss its ticks.  Without it all that is known is how many
 * waits a timer ended: about every visit waits for one where a clock sets the pace. */
#include <math.h>

#include "causal_parts.h"
#include "model/run.h"

#define PACE_SHARE 0.5
#define TIMERS_SHARE 0.8

const char *causal_pace_name(enum causal_pace pace)
{
	static const char *const names[CAUSAL_PACES] = {
		[CAUSAL_PACE_OWN] = "own",
		[CAUSAL_PACE_CLOCK] = "clock",
		[CAUSAL_PACE_PEER] = "peer",
	};

	return names[pace];
}

/* For each visit a wait that a timer ended, and CPUs idle. */
static struct causal_pace_shares shares_by_timers(
	const struct run *run, const struct causal_trial *trials, uint32_t count)
{
	struct causal_pace_shares shares = {.limit = TIMERS_SHARE};
	double visits = 0, timer = 0, handed = 0;
	bool whole = false;

	for (uint32_t i = 0; i < count; i++)
		visits += trials[i].base.visits + trials[i].sped.visits;
	vec_foreach (const struct experiment_row, e, &run->experiments) {
		whole |= (e->flags & EXPERIMENT_WHOLE) != 0;
		timer += (double)e->timer;
		handed += (double)e->handed;
	}
	if (!whole && visits > 0 && timer > TIMERS_SHARE * visits && timer > handed)
		shares.clock = fmin(timer / visits, 1);
	return shares;
}

struct causal_pace_shares causal_pace_shares(
	const struct run *run, const struct causal_trial *trials, uint32_t count)
{
	struct causal_pace_shares shares = {.limit = PACE_SHARE, .is_known = true};
	double windows = 0;

	vec_foreach (const struct experiment_row, e, &run->experiments) {
		if (e->speedup_permille || (e->flags & EXPERIMENT_CUT) ||
			!(e->flags & EXPERIMENT_PACE))
			continue;
		windows++;
		shares.clock += (e->flags & EXPERIMENT_CLOCK) != 0;
		shares.peer += (e->flags & EXPERIMENT_PEER) != 0;
	}
	if (windows <= 0)
		return shares_by_timers(run, trials, count);
	shares.clock /= windows;
	shares.peer /= windows;
	return shares;
}

/* Of the windows without a speed-up. */
void causal_pace_cost(const struct run *run, struct causal_view *view)
{
	double wall = 0, ran = 0, visits = view->point ? view->point->visits : 0;

	vec_foreach (const struct experiment_row, e, &run->experiments) {
		if (e->speedup_permille || (e->flags & EXPERIMENT_CUT))
			continue;
		wall += (double)e->wall_ns;
		ran += (double)e->ran_ns;
	}
	view->visit_ns = visits > 0 && wall > 0 ? wall / visits : (double)NAN;
	view->work_ns = visits > 0 && ran > 0 ? ran / visits : (double)NAN;
}

void causal_curve_forget(struct causal_curve *curve)
{
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++) {
		curve->gains[i].is_known = false;
		curve->gains[i].gain = curve->gains[i].lo = curve->gains[i].hi = (double)NAN;
	}
	curve->slope_is_known = false;
	curve->class = CAUSAL_PACED;
}
