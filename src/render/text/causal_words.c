/* causal_words.c - see render/causal.h. */
#include "render/causal.h"

#include <math.h>

static const struct causal_gain *gain_to_tell(const struct causal_target_view *target)
{
	const struct causal_curve *curve = &target->curve;

	if (curve->class == CAUSAL_STEP || curve->class == CAUSAL_FLAT)
		for (uint32_t i = CAUSAL_LEVELS; i--;)
			if (curve->gains[i].is_known)
				return &curve->gains[i];
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++)
		if (curve->gains[i].is_known && (curve->gains[i].lo > 0 || curve->gains[i].hi < 0))
			return &curve->gains[i];
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++)
		if (curve->gains[i].is_known)
			return &curve->gains[i];
	return NULL;
}

static void change_add(struct str *out, const struct causal_target_view *target, double speedup)
{
	if (speedup >= 1)
		str_addf(out, "removing the time of %s", target->name);
	else if (target->waits)
		str_addf(
			out, "making the waits in %s %.0f %% shorter", target->name, 100 * speedup);
	else
		str_addf(out, "making %s %.0f %% faster", target->name, 100 * speedup);
}

void causal_sentence(
	struct str *out, const struct causal_view *view, const struct causal_target_view *target)
{
	const struct causal_gain *gain = gain_to_tell(target);
	const char *what = view->point && view->point->is_latency ? "passage" : "program";

	if (!gain)
		return;
	change_add(out, target, gain->speedup);
	if (gain->lo <= 0 && gain->hi >= 0)
		str_addf(out,
			" changes the %s by %.1f %% (%.1f to %.1f): not distinguishable from 0",
			what, 100 * gain->gain, 100 * gain->lo, 100 * gain->hi);
	else if (gain->gain < 0)
		str_addf(out, " makes the %s %.1f %% slower (%.1f to %.1f)", what,
			-100 * gain->gain, -100 * gain->hi, -100 * gain->lo);
	else
		str_addf(out, " makes the %s %.1f %% faster (%.1f to %.1f)", what, 100 * gain->gain,
			100 * gain->lo, 100 * gain->hi);
}

void causal_doubt_sentence(struct str *out, const struct causal_guard *guard)
{
	double percent = 100 * guard->value;

	switch (guard->doubt) {
	case CAUSAL_DOUBT_CROWDED:
		str_addf(out,
			"runnable threads waited for a CPU %.0f %% of the time: other programs are "
			"running, or there are more threads than CPUs; gains are less certain",
			percent);
		break;
	case CAUSAL_DOUBT_UNPAID:
		str_addf(out,
			"%.0f %% of the delays were still pending at the end of an experiment: "
			"gains are overestimated",
			percent);
		break;
	case CAUSAL_DOUBT_LOST:
		str_addf(out,
			"%.0f %% of the samples are missing: the machine is overloaded; gains are "
			"underestimated",
			percent);
		break;
	case CAUSAL_DOUBT_OUTSIDE:
		str_addf(out,
			"%.0f %% of the wakes came from other processes, devices or timers, which "
			"are not delayed",
			percent);
		break;
	case CAUSAL_DOUBT_PACED:
		str_add(out,
			"a clock sets the pace of this program: its progress waits for timers, so "
			"faster code saves CPU time but does not make it faster; to judge a unit "
			"of work by its time, put ASSAY_BEGIN and ASSAY_END (assay.h) around it");
		break;
	case CAUSAL_DOUBT_PEER:
		str_add(out,
			"another program sets the pace of this one: its progress waits for what "
			"the other sends, so experiments here cannot tell the gain; give it more "
			"to do at once (more connections, a full queue) until it never waits, or "
			"compare two builds as the other program sees them");
		break;
	case CAUSAL_DOUBT_DRIFT:
		str_addf(out,
			"the program's normal speed changed by %.0f %% between the first and the "
			"last experiments: the program or the machine has phases",
			percent);
		break;
	case CAUSAL_DOUBT_FEW:
		str_addf(out,
			"only %.1f visits to the progress point per experiment: choose one that is "
			"visited more often, or give more time",
			guard->value);
		break;
	case CAUSAL_DOUBTS:
		break;
	}
}

void causal_work_sentence(struct str *out, const struct causal_view *view)
{
	char work[32], visit[32];

	if (view->pace == CAUSAL_PACE_OWN || isnan(view->work_ns) || isnan(view->visit_ns))
		return;
	paper_time(work, sizeof(work), view->work_ns);
	paper_time(visit, sizeof(visit), view->visit_ns);
	str_addf(out, "%s takes %s of CPU time, of %s", view->point->is_end ? "a run" : "a visit",
		work, visit);
	if (!view->point->is_end)
		str_add(out, " from one to the next");
}

void causal_nothing(struct str *out, const struct causal_view *view)
{
	if (view->refused)
		str_addf(out,
			"%s: name a progress point that is visited less often, or use "
			"--progress auto",
			view->refused);
	else if (view->unable && !view->pairs)
		str_addf(out, "%s, so there is no result", view->unable);
	else if (view->unvisited)
		str_add(out,
			"no progress point was visited, so there is no result: name one with "
			"--progress FILE:LINE or FUNCTION, or put ASSAY_PROGRESS (assay.h) where a "
			"unit of work is done");
	else if (!view->target_count)
		str_add(out,
			"no line of the program was seen running, so nothing was tried: compile "
			"with -g, do not strip it, widen -s, or name one with -f FILE:LINE");
	else if (view->alone && !view->pairs)
		str_add(out,
			"no line has an experiment without a speed-up to compare with: let coz run "
			"longer");
	else if (!view->pairs)
		str_add(out,
			"the program ended before a pair of experiments was complete: give it more "
			"work, or use --budget to start it again");
}
