/* hotspot_experiment.c - what experiments say about the places of the samples.
 *
 * Places are joined by function, and by file and line where an experiment was made on a line.  An
 * experiment on code that the samples hardly know becomes a place of its own: that is what a CPU
 * profile points away from. */
#include <math.h>

#include "analyze/causal_view.h"
#include "analyze/label.h"
#include "base/str.h"
#include "code/names.h"
#include "code/scope.h"
#include "hotspot_parts.h"
#include "model/run.h"

#define LOW_GAIN 0.05
#define FLAT_MOST 0.08 /* upper bound of a gain that is said to be none, as in causal.c */
enum { TRIALS_LEAST = 4 };

/* The level to show: half gone when it is known, else the one that is surest.  A gain that may be
 * none is not shown where another level is known better. */
static const struct causal_gain *gain_to_show(const struct causal_curve *curve)
{
	for (unsigned i = 0; i < CAUSAL_LEVELS; i++)
		if (curve->gains[i].is_known && curve->gains[i].speedup == 0.5 &&
			curve->gains[i].lo > 0)
			return &curve->gains[i];
	return causal_curve_best(curve);
}

struct experiments {
	const struct evidence_piece *piece;
	const struct causal_view *view;
	struct causal_trial *trials;
	uint32_t trial_count;
	uint32_t point; /* row id of the judge */
};

/* The gain as a ratio of sums over the pairs that were used. */
static const char *gain_query(const struct experiments *x, const struct causal_target_view *target,
	const struct causal_gain *gain, struct arena *arena)
{
	str_auto struct str pairs = {0};

	if (x->view->point->is_latency)
		return "";
	for (uint32_t i = 0; i < x->trial_count; i++)
		if (x->trials[i].target == target->row - 1 && x->trials[i].pair &&
			fabs(x->trials[i].speedup - gain->speedup) < 0.001)
			str_addf(&pairs, "%s%u", pairs.len ? "," : "", x->trials[i].pair);
	if (!pairs.len)
		return "";
	return arena_format(arena,
		"SELECT 1 - (total(CASE WHEN e.speedup_permille > 0 THEN e.virtual_ns END) / "
		"(total(CASE WHEN e.speedup_permille > 0 THEN v.departures END) + 0.5)) / "
		"(total(CASE WHEN e.speedup_permille = 0 THEN e.virtual_ns END) / "
		"(total(CASE WHEN e.speedup_permille = 0 THEN v.departures END) + 0.5)) "
		"FROM experiment e LEFT JOIN visit v ON v.experiment = e.id AND v.point = %u "
		"WHERE e.target = %u AND e.pair IN (%s)",
		x->point, target->row, pairs.at);
}

static bool same_place(const struct hotspot *spot, const struct causal_target_view *target)
{
	if (target->line && spot->line && *spot->file && *target->file) {
		if (target->line == spot->line &&
			(scope_path_ends(spot->file, target->file) ||
				scope_path_ends(target->file, spot->file)))
			return true;
	}
	return *target->function && label_same_function(spot->function, target->function);
}

/* A function below the place, with most of its time: what holds for it holds for the place. */
static bool target_is_inside(const struct hotspot *spot, const struct causal_target_view *target)
{
	for (uint32_t i = 0; *target->function && i < spot->chain_place; i++)
		if (label_same_function(spot->chain[i].function, target->function) &&
			spot->chain[i].total >= HOTSPOT_INNER_LEAST * spot->value)
			return true;
	return false;
}

/* Hot, and its bounds leave no room for what its share suggests, although they are not narrow
 * enough to call the curve flat: no more than two thirds of its share.  The first level that says
 * so, or NULL.  It speaks against the place; that the place gains nothing it says only where the
 * upper bound is small, and no other level leaves room for more (open_level()). */
static const struct causal_gain *low_gain(const struct causal_target_view *target)
{
	for (unsigned i = 0; i < CAUSAL_LEVELS && target->curve.class == CAUSAL_NOISY; i++) {
		const struct causal_gain *gain = &target->curve.gains[i];

		if (gain->is_known && gain->trials >= TRIALS_LEAST && gain->gain < LOW_GAIN &&
			gain->hi < gain->speedup * target->sample_share * 2 / 3)
			return gain;
	}
	return NULL;
}

/* A level with a gain that may be none, and may be worth it; NULL: there is none. */
static const struct causal_gain *open_level(const struct causal_target_view *target)
{
	for (unsigned i = 0; i < CAUSAL_LEVELS; i++) {
		const struct causal_gain *gain = &target->curve.gains[i];

		if (gain->is_known && gain->gain > LOW_GAIN && gain->hi > FLAT_MOST)
			return gain;
	}
	return NULL;
}

static const char *experiment_words(const struct causal_target_view *target,
	const struct causal_gain *gain, struct arena *arena)
{
	if (target->curve.class == CAUSAL_FLAT)
		return arena_format(arena,
			"a faster %s would gain nothing (%.1f to %.1f %% at %.0f %% faster)",
			target->name, 100 * gain->lo, 100 * gain->hi, 100 * gain->speedup);
	if (low_gain(target))
		return arena_format(arena,
			"%s %.0f %% faster would gain %.1f %% (%.1f to %.1f), not the %.1f %% of "
			"its share",
			target->name, 100 * gain->speedup, 100 * gain->gain, 100 * gain->lo,
			100 * gain->hi, 100 * gain->speedup * target->sample_share);
	if (target->curve.class == CAUSAL_CONTENTION)
		return arena_format(arena, "a faster %s makes the program slower", target->name);
	return arena_format(arena,
		"%s %.0f %% faster makes the program %.1f %% faster (%.1f to %.1f)", target->name,
		100 * gain->speedup, 100 * gain->gain, 100 * gain->lo, 100 * gain->hi);
}

static void gain_all_take(const struct causal_curve *curve, struct hotspot *spot)
{
	for (unsigned i = 0; i < CAUSAL_LEVELS; i++) {
		const struct causal_gain *gain = &curve->gains[i];

		if (!gain->is_known || gain->speedup < 1)
			continue;
		spot->gain_all = gain->gain;
		spot->gain_all_lo = gain->lo;
		spot->gain_all_hi = gain->hi;
		spot->gain_all_source = GAIN_EXPERIMENT;
	}
}

static void evidence_drop(struct hotspot_draft *draft)
{
	for (uint32_t i = 0; i < draft->spot.evidence_count; i++)
		if (str_equal(draft->evidence[i].mechanism, "experiments")) {
			draft->spot.evidence_count = i;
			break;
		}
}

/* One row for all experiments on a place. */
static void evidence_put(const struct experiments *x, const struct causal_target_view *target,
	const struct causal_gain *gain, struct arena *arena, struct hotspot_draft *draft)
{
	evidence_drop(draft);
	hotspot_add_evidence(draft, &(struct hotspot_evidence){.mechanism = "experiments",
					    .path = x->piece->path,
					    .query = gain_query(x, target, gain, arena),
					    .value = gain->gain,
					    .words = experiment_words(target, gain, arena),
					    .agrees = causal_class_pays(target->curve.class)});
}

/* As `assay causal -f` takes it. */
static const char *target_text(const struct causal_target_view *target, struct arena *arena)
{
	if (target->line || !*target->function)
		return target->name;
	return arena_format(arena, "%.*s%s", (int)names_bare_length(target->function),
		target->function, str_ends(target->name, "+") ? "+" : "");
}

static void draft_experiment(const struct experiments *x, const struct causal_target_view *target,
	const struct causal_gain *gain, struct arena *arena, struct hotspot_draft *draft)
{
	bool pays = causal_class_pays(target->curve.class);

	/* Several targets in one function: the one that pays most speaks for it, then one that is
	 * open. */
	if (draft->tried && !(pays && (!draft->pays || gain->lo > draft->spot.gain_lo)))
		return;
	if (!pays && draft->spot.open_at > 0)
		return;
	draft->tried = true;
	draft->pays = pays;
	draft->flat = target->curve.class == CAUSAL_FLAT || low_gain(target);
	draft->experiment_share = target->sample_share;
	draft->spot.target = target_text(target, arena);
	draft->spot.open_at = 0;
	draft->spot.gain = gain->gain;
	draft->spot.gain_lo = gain->lo;
	draft->spot.gain_hi = gain->hi;
	draft->spot.gain_at = gain->speedup;
	draft->spot.gain_source = x->view->point->is_end ? GAIN_WHOLE_RUNS : GAIN_EXPERIMENT;
	gain_all_take(&target->curve, &draft->spot);
	if (target->line && pays && !target_is_inside(&draft->spot, target)) {
		/* the line that pays is the place to change */
		draft->spot.file = target->file;
		draft->spot.line = target->line;
		draft->spot.location = target->name;
	}
	evidence_put(x, target, gain, arena, draft);
}

/* What a flat target of the function said does not hold for all of it. */
static void draft_undo_flat(struct hotspot_draft *draft)
{
	draft->tried = draft->flat = false;
	draft->experiment_share = (double)NAN;
	draft->spot.gain_source = GAIN_NONE;
	draft->spot.gain_all = draft->spot.gain_all_lo = draft->spot.gain_all_hi = (double)NAN;
	evidence_drop(draft);
}

/* The level whose bounds are shown: one that leaves room where another is low, else the one that is
 * low, else half of the time gone. */
static const struct causal_gain *open_to_show(const struct causal_target_view *target)
{
	const struct causal_gain *low = low_gain(target);

	if (low)
		return low->hi <= FLAT_MOST && open_level(target) ? open_level(target) : low;
	for (unsigned i = 0; i < CAUSAL_LEVELS; i++)
		if (target->curve.gains[i].is_known && target->curve.gains[i].speedup == 0.5)
			return &target->curve.gains[i];
	return gain_to_show(&target->curve);
}

/* The bounds hold 0 and more than a little: nothing is known of the gain but that it is not larger.
 * Where even that is less than its share suggests, it speaks against the place. */
static void draft_open(const struct experiments *x, const struct causal_target_view *target,
	struct arena *arena, struct hotspot_draft *draft)
{
	const struct causal_gain *low = low_gain(target), *gain = open_to_show(target);

	if (draft->spot.open_at > 0 || !target->curve.trials || (draft->tried && !draft->flat))
		return;
	if (draft->flat)
		draft_undo_flat(draft);
	draft->spot.target = target_text(target, arena);
	draft->spot.open_at = gain ? gain->speedup : 0.5;
	draft->spot.open_lo = gain ? gain->lo : (double)NAN;
	draft->spot.open_hi = gain ? gain->hi : (double)NAN;
	if (low)
		evidence_put(x, target, low, arena, draft);
}

/* Code that the samples hardly know. */
static struct hotspot_draft *draft_new(
	const struct causal_target_view *target, struct arena *arena, struct hotspot_drafts *drafts)
{
	vec_push(&drafts->rows,
		(struct hotspot_draft){
			.spot = {.location = target->name,
				.function = target->function,
				.call = hotspot_call(arena, target->function),
				.library = "",
				.file = target->file,
				.line = target->line,
				.metric = target->waits ? "time off the CPU" : "CPU time",
				.value = target->waits ? (double)NAN : target->sample_share,
				.category = target->waits ? HOTSPOT_OFF_CPU : HOTSPOT_CPU,
				.gain_all = (double)NAN,
				.gain_all_lo = (double)NAN,
				.gain_all_hi = (double)NAN},
			.experiment_share = (double)NAN});
	return &drafts->rows.at[drafts->rows.count - 1];
}

/* The largest place that an experiment was made on: there, or else below it. */
static struct hotspot_draft *draft_of_target(
	const struct causal_target_view *target, struct hotspot_drafts *drafts)
{
	bool (*const meets[])(const struct hotspot *, const struct causal_target_view *) = {
		same_place, target_is_inside};
	struct hotspot_draft *best = NULL;

	for (unsigned i = 0; i < 2 && !best; i++)
		vec_foreach (struct hotspot_draft, draft, &drafts->rows)
			if (meets[i](&draft->spot, target) &&
				(draft->spot.category == HOTSPOT_OFF_CPU) == target->waits &&
				(!best || draft->samples_share > best->samples_share))
				best = draft;
	return best;
}

static void target_join(const struct experiments *x, const struct causal_target_view *target,
	struct arena *arena, struct hotspot_drafts *drafts)
{
	const struct causal_gain *gain = gain_to_show(&target->curve);
	struct hotspot_draft *best = draft_of_target(target, drafts);

	if (target->curve.class == CAUSAL_NOISY) {
		gain = low_gain(target);
		gain = gain && gain->hi <= FLAT_MOST && !open_level(target) ? gain : NULL;
	}
	if (!gain) { /* of a class that pays the best level excludes none: causal_curve_best() */
		if (best)
			draft_open(x, target, arena, best);
		return;
	}
	if (!best)
		best = draft_new(target, arena, drafts);
	draft_experiment(x, target, gain, arena, best);
}

void hotspots_join_experiments(
	const struct evidence *evidence, struct arena *arena, struct hotspot_drafts *drafts)
{
	struct experiments x = {
		.piece = &evidence->piece[EVIDENCE_CAUSAL], .view = evidence->causal};
	struct err err = {0};

	if (!x.view || x.view->pace != CAUSAL_PACE_OWN ||
		causal_trials_of_run(x.piece->run, NULL, arena, &x.trials, &x.trial_count, &err) <
			0)
		return;
	x.point = (uint32_t)(x.view->point - x.view->points) + 1;
	for (uint32_t i = 0; i < x.view->target_count; i++)
		target_join(&x, &x.view->targets[i], arena, drafts);
}
