/* hotspot_features.c - what speaks for and against an answer, as the named numbers of confidence.h.
 *
 * That a function is hot is measured; that it and not its caller is the one to change is a rule's
 * opinion, which only an experiment or a count can confirm. */
#include <math.h>

#include "answer_parts.h"
#include "base/str.h"
#include "hotspot_parts.h"

#define OFTEN 10
#define SAME_TIME 0.95 /* of a caller's time: an experiment cannot tell the two apart */
#define CALLS_OFTEN 1000
#define CUT_MOST 0.5 /* of its stacks: its callers are not known */
#define SHORT_NS 1e8
#define GAP_MOST 5.0
#define Z 1.96 /* of a bound of 95 % */

/* ---- of a place ---- */

/* A function above it that is not the root, or one that it calls, has the same time: making the
 * work faster and making it unnecessary gain the same, and either may be where that is done. */
static bool has_same_time(const struct hotspot *spot)
{
	const struct hotspot_link *place = &spot->chain[spot->chain_place];

	for (uint32_t i = spot->chain_place + 1; i + 1 < spot->chain_count; i++)
		if (place->total >= SAME_TIME * spot->chain[i].total)
			return true;
	return spot->chain_place && place[-1].total >= SAME_TIME * place->total;
}

bool hotspot_has_unknown_callers(const struct hotspot *spot)
{
	return spot->cut_share >= CUT_MOST;
}

/* Without a loop, and called often or nobody knows how often: whoever calls it decides how often
 * the work is done. */
static bool has_loop_elsewhere(const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;

	return !spot->chain_place && spot->chain_count > 1 &&
	       (draft->calls ? draft->calls >= CALLS_OFTEN : draft->looked) &&
	       draft->loop_share < HOTSPOT_LOOP_LEAST * draft->samples_share;
}

static bool can_be_told_apart(const struct hotspot_draft *draft)
{
	return !has_same_time(&draft->spot) && !hotspot_has_unknown_callers(&draft->spot) &&
	       !has_loop_elsewhere(draft);
}

/* What is below it is entered again and again from there; or the place itself was counted. */
static bool is_counted(const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;

	if (!can_be_told_apart(draft))
		return false;
	if (spot->chain_place &&
		spot->chain[0].entries >= OFTEN * spot->chain[spot->chain_place].entries)
		return true;
	for (uint32_t i = 0; i < spot->evidence_count; i++)
		if (draft->evidence[i].agrees && !hotspot_is_timed(&draft->evidence[i]))
			return !spot->chain_place;
	return false;
}

static void methods_count(uint32_t agree, uint32_t asked, double *value)
{
	value[CONFIDENCE_SECOND_METHOD] = agree >= 2;
	value[CONFIDENCE_THIRD_METHOD] = agree >= 3;
	value[CONFIDENCE_OBJECTIONS] = asked - agree;
}

void hotspot_features(const struct hotspot_draft *draft, struct confidence_features *ret_features)
{
	const struct hotspot *spot = &draft->spot;
	const bool is_told_apart = can_be_told_apart(draft), counted = is_counted(draft);
	const bool has_levels = spot->chain_count > 1 || hotspot_has_unknown_callers(spot);
	const bool is_proven = draft->pays && is_told_apart && spot->gain_lo > 0;
	double *value = ret_features->value;

	*ret_features = (struct confidence_features){0};
	methods_count(spot->agree, spot->asked, value);
	value[CONFIDENCE_PROVEN] = is_proven;
	value[CONFIDENCE_LEVEL_IS_OPINION] = has_levels && !is_proven && !counted;
	value[CONFIDENCE_DOUBTED] = spot->gain_doubt != NULL;
	value[CONFIDENCE_TOLD_APART] = is_told_apart;
	value[CONFIDENCE_COUNTED] = counted;
	value[CONFIDENCE_EXPLAINED] = spot->because && !spot->because->is_place;
	value[CONFIDENCE_SHARE] = spot->value;
}

/* ---- of the answer ---- */

/* A value with its standard error. */
struct estimate {
	double value, error;
};

/* What the place gains when it takes half its time; without a gain its share of the samples. */
static struct estimate estimate_of(const struct hotspot *spot, bool by_gain, double samples)
{
	double share = spot->value;

	if (by_gain)
		return (struct estimate){spot->gain * 0.5 / spot->gain_at,
			(spot->gain_hi - spot->gain_lo) / 2 / Z * 0.5 / spot->gain_at};
	return (struct estimate){share, sqrt(share * (1 - share) / samples)};
}

/* To the next place that could have been first, in the errors of both together.  Below 0: that one
 * has more, and other reasons put it behind. */
static double gap_of(const struct answer_view *view)
{
	double gap = GAP_MOST, samples = signals_value(view->signals, "samples");

	for (uint32_t i = 0; i < view->hotspot_count; i++) {
		const struct hotspot *other = &view->hotspots[i];
		bool by_gain = !isnan(view->first->gain) && !isnan(other->gain);
		struct estimate a = estimate_of(view->first, by_gain, samples);
		struct estimate b = estimate_of(other, by_gain, samples);
		double error = hypot(a.error, b.error);

		if (other == view->first)
			continue;
		if (isnan(a.value - b.value) || !(error > 0))
			return (double)NAN;
		gap = fmin(gap, (a.value - b.value) / error);
	}
	return fmax(gap, -GAP_MOST);
}

void answer_features(const struct answer_view *view, struct confidence_features *ret_features)
{
	double *value = ret_features->value, samples = signals_value(view->signals, "samples");
	double wall_ns = signals_value(view->signals, "wall_ns");

	*ret_features = (struct confidence_features){0};
	if (view->first) {
		*ret_features = view->first->features;
		value[CONFIDENCE_RIVAL] = answer_rival(view, view->first) != NULL;
		value[CONFIDENCE_GAP] = gap_of(view);
	} else if (view->because) { /* two methods support it */
		value[CONFIDENCE_SECOND_METHOD] = value[CONFIDENCE_EXPLAINED] = 1;
		value[CONFIDENCE_SHARE] = view->because->share;
		value[CONFIDENCE_GAP] = (double)NAN;
	}
	value[CONFIDENCE_NOISE] = answer_supported(view->ledger, "noise") != NULL;
	value[CONFIDENCE_SAMPLES] = samples >= 1 ? log10(samples) : (double)NAN;
	value[CONFIDENCE_OTHERS_SHARE] = signals_value(view->signals, "others_share");
	value[CONFIDENCE_WALL_SPREAD] = signals_value(view->signals, "wall_spread");
	if (value[CONFIDENCE_WALL_SPREAD] > 1)
		value[CONFIDENCE_WALL_SPREAD] = 1;
	value[CONFIDENCE_SHORT_RUN] = isnan(wall_ns) ? wall_ns : wall_ns < SHORT_NS;
}

void answer_features_quiet(const struct answer_view *view, struct confidence_features *features)
{
	const struct hotspot *spot = view->first;
	uint32_t agree = 0;

	features->value[CONFIDENCE_NOISE] = 0;
	if (!spot || !spot->counts_once)
		return;
	for (uint32_t i = 0; i < spot->evidence_count; i++)
		agree += spot->evidence[i].agrees;
	methods_count(agree, spot->evidence_count, features->value);
}
