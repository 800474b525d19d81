/* answer_next.c - what to do next: the one measurement that would settle the answer, or, where it
 * is settled, the change.  The first rule that holds:
 *
 *   1. Code without names: get the names.
 *   2. Other programs had a good part of the CPUs: the same run again when they do not.  What was
 *      measured beside them is wrong together, so no other measurement made now is worth more.
 *   3. Experiments leave the first place open, or another place may gain more than it: experiments
 *      on the two, at one level, with all of the time.  Two that both pay and are known well are a
 *      draw: either may be changed.
 *   4. The first place was not tried, and can be: experiments on it.
 *   5. An experiment, or an explanation of more than the place: change it, and compare.
 *   6. Otherwise: look at its lines. */
#include <math.h>

#include "analyze/plan.h"
#include "answer_parts.h"
#include "base/str.h"
#include "base/words.h"

#define LEVEL 0.5
#define DRAW 0.03  /* half of an interval: closer than that no more experiments are made */
#define Z 1.96	   /* of a bound of 95 % */
#define AHEAD 0.84 /* deviations: a probability of 80 % */

double answer_others_share(const struct answer_view *view)
{
	double others = signals_value(view->signals, "others_share");
	bool is_noisy = answer_supported(view->ledger, "noise");

	return is_noisy && others >= PLAN_BUSY_SHARE ? others : 0;
}

/* The most that the place may gain when it takes half its time, by experiments; NAN: none tell. */
static double most_gain(const struct hotspot *spot)
{
	if (gain_is_experiment(spot->gain_source))
		return spot->gain_hi * LEVEL / spot->gain_at;
	return spot->open_at > 0 ? spot->open_hi * LEVEL / spot->open_at : (double)NAN;
}

static double least_gain(const struct hotspot *spot)
{
	return hotspot_pays(spot) ? spot->gain_lo * LEVEL / spot->gain_at : 0;
}

static bool is_known_well(const struct hotspot *spot)
{
	return hotspot_pays(spot) &&
	       (spot->gain_hi - spot->gain_lo) / 2 * LEVEL / spot->gain_at <= DRAW;
}

const struct hotspot *answer_rival(const struct answer_view *view, const struct hotspot *first)
{
	const struct hotspot *rival = NULL;
	double most = least_gain(first);

	if (isnan(most_gain(first)))
		return NULL;
	for (uint32_t i = 0; i < view->hotspot_count; i++) {
		const struct hotspot *other = &view->hotspots[i];

		if (other == first || !(most_gain(other) > most) ||
			(is_known_well(first) && is_known_well(other)))
			continue;
		most = most_gain(other);
		rival = other;
	}
	return rival;
}

/* By the bounds of experiments on both, with 80 % probability. */
static bool is_ahead(const struct hotspot *first, const struct hotspot *other)
{
	const struct hotspot *both[] = {first, other};
	double middle[2], error[2];

	for (unsigned i = 0; i < 2; i++) {
		bool is_known = gain_is_experiment(both[i]->gain_source);
		double lo = is_known ? both[i]->gain_lo : both[i]->open_lo;
		double hi = is_known ? both[i]->gain_hi : both[i]->open_hi;
		double scale = LEVEL / (is_known ? both[i]->gain_at : both[i]->open_at);

		middle[i] = (lo + hi) / 2 * scale;
		error[i] = (hi - lo) / 2 / Z * scale;
	}
	return middle[0] - middle[1] >= AHEAD * hypot(error[0], error[1]);
}

const struct hotspot *answer_equal(const struct answer_view *view, const struct hotspot *first)
{
	if (isnan(most_gain(first)))
		return NULL;
	for (uint32_t i = 0; i < view->hotspot_count; i++) {
		const struct hotspot *other = &view->hotspots[i];

		if (other != first && !isnan(most_gain(other)) && !is_ahead(first, other) &&
			!(is_known_well(first) && is_known_well(other)))
			return other;
	}
	return NULL;
}

/* "assay causal --progress auto --follow FILE" */
static const char *causal_words(const struct evidence *evidence, struct arena *arena)
{
	if (!evidence->follows)
		return "assay causal --progress auto";
	return arena_format(arena, "assay causal --progress auto --follow %s",
		word_quoted(evidence->follows, arena));
}

static const char *experiments_on(const struct hotspot *first, const struct hotspot *rival,
	const struct evidence *evidence, struct arena *arena)
{
	str_auto struct str line = {0};

	str_addf(&line, "%s -f %s", causal_words(evidence, arena),
		word_quoted(first->target, arena));
	if (rival)
		str_addf(&line, " -f %s", word_quoted(rival->target, arena));
	str_addf(&line, " --speedup 50 --budget 60s -- %s", command_target(evidence, arena));
	return arena_str(arena, &line);
}

static bool is_for_change(const struct hotspot *spot, const struct evidence *evidence)
{
	const struct ledger_row *because = spot->because;

	return hotspot_pays(spot) || (because && !evidence->piece[EVIDENCE_CAUSAL].run) ||
	       (gain_is_arithmetic(spot->gain_source) && because && !because->is_place);
}

const char *answer_next(
	const struct answer_view *view, const struct evidence *evidence, struct arena *arena)
{
	const struct hotspot *spot = view->first, *rival;

	if (spot && spot->has_no_name)
		return arena_format(arena, "assay doctor %s", word_quoted(spot->file, arena));
	if (answer_others_share(view) > 0)
		return arena_format(arena,
			"again when the machine is quiet (other programs had %.0f %% of the CPUs): "
			"%s",
			100 * answer_others_share(view), command_same(evidence, arena));
	if (!spot)
		return "";
	rival = answer_rival(view, spot);
	if (spot->target && (rival || spot->open_at > 0) && answer_can_try(evidence))
		return experiments_on(spot, rival, evidence, arena);
	if (isnan(spot->gain) && answer_can_try(evidence) && !is_for_change(spot, evidence) &&
		!answer_untried(spot, evidence))
		return arena_format(arena, "%s -f %s -- %s", causal_words(evidence, arena),
			command_place(spot, true, arena), command_target(evidence, arena));
	if (is_for_change(spot, evidence))
		return arena_format(arena, "change it, then: %s", command_round(evidence, arena));
	return arena_format(arena, "assay annotate %s %s",
		command_file(evidence, "profile.assay", arena), command_place(spot, false, arena));
}
