/* hotspot_join.c - what simulation, experiments and the ledger say about the places of the samples.
 *
 * Places are joined by function, and by file and line where an experiment was made on a line.  An
 * experiment on code that the samples hardly know becomes a place of its own: that is what a CPU
 * profile points away from. */
#include <math.h>
#include <string.h>

#include "analyze/causal_view.h"
#include "analyze/label.h"
#include "analyze/simulated.h"
#include "base/str.h"
#include "code/names.h"
#include "code/scope.h"
#include "hotspot_parts.h"
#include "model/run.h"

#define MOST_SHARE 0.4
#define LOW_GAIN 0.05
#define PLACE_LEAST 0.9 /* of the time of the function that an explanation is about */
#define HOLDER_LEAST 0.1
#define FAULTS_LEAST 0.5
#define INNER_LEAST 0.5 /* of a place's time: a function below it that stands for it */
enum { TRIALS_LEAST = 4 };

/* The name without its template arguments: "a<b<int> >::f" is a::f.  A '<' at the start of a part
 * is Rust's or an operator's and stays. */
static void name_add_plain(const char *name, size_t len, struct str *out)
{
	static const char nameless[] = "(anonymous namespace)::"; /* says nothing to a reader */
	unsigned depth = 0;

	for (size_t i = 0; i < len; i++) {
		bool part = !i || name[i - 1] == ':' || name[i - 1] == ' ';

		if (!depth && len - i > strlen(nameless) && str_starts(name + i, nameless)) {
			i += strlen(nameless) - 1;
			continue;
		}
		if (name[i] == '<' && !part && !str_ends(str_text(out), "operator") &&
			!str_ends(str_text(out), "operator<"))
			depth++;
		else if (name[i] == '>' && depth && name[i - 1] != '-')
			depth--;
		else if (!depth)
			str_add_char(out, name[i]);
	}
}

const char *hotspot_call(struct arena *arena, const char *function)
{
	str_auto struct str plain = {0};
	size_t len = names_bare_length(function);

	/* Go: the path of a package says less than its last part. */
	for (size_t i = len; i-- > 1;)
		if (function[i] == '/' && i + 1 < len && strchr("(<", function[i + 1]) == NULL &&
			!memmem(function, i, "operator", strlen("operator"))) {
			function += i + 1;
			len -= i + 1;
			break;
		}
	name_add_plain(function, len, &plain);
	return arena_format(arena, "%s()", str_text(&plain));
}

void hotspot_add_evidence(struct hotspot_draft *draft, const struct hotspot_evidence *evidence)
{
	if (draft->spot.evidence_count < HOTSPOT_EVIDENCE_MAX)
		draft->evidence[draft->spot.evidence_count++] = *evidence;
}

/* ---- simulation ---- */

/* The simulated count that carries the verdict, and how it is called. */
static const char *const *carrying_events(enum verdict_category category)
{
	static const char *const memory[] = {"LLC-load-misses", "LLC-store-misses", NULL};
	static const char *const branch[] = {"branch-misses", NULL};
	static const char *const other[] = {"instructions", NULL};

	return verdict_category_is_memory(category)  ? memory
	       : category == VERDICT_BAD_SPECULATION ? branch
						     : other;
}

static void site_evidence(const struct simulated_site *site, const char *path, struct arena *arena,
	struct hotspot_draft *draft)
{
	const char *const *events = carrying_events(site->category);
	uint64_t value = site->row.counts[SIMULATED_INSTRUCTIONS];
	str_auto struct str query = {0};

	if (verdict_category_is_memory(site->category))
		value = simulated_ll_misses(&site->row);
	else if (site->category == VERDICT_BAD_SPECULATION)
		value = simulated_mispredicts(&site->row);
	str_add(&query, "SELECT total(value) FROM places WHERE function = ");
	str_add_sql(&query, site->row.function);
	str_add(&query, " AND event IN (");
	for (unsigned i = 0; events[i]; i++) {
		str_add(&query, i ? ", " : "");
		str_add_sql(&query, events[i]);
	}
	str_add(&query, ")");
	hotspot_add_evidence(draft, &(struct hotspot_evidence){.mechanism = "simulation",
					    .path = path,
					    .query = arena_str(arena, &query),
					    .value = (double)value,
					    .words = site->why,
					    .agrees = true});
}

/* The simulated CPU may have got another variant of a C library's function. */
static bool same_name(const char *a, const char *b)
{
	size_t len = simulated_name_length(a);

	return simulated_name_length(b) == len && memcmp(a, b, len) == 0;
}

/* The place itself, or what has most of its time below it. */
static bool site_is_at(const struct simulated_site *site, const struct hotspot *spot)
{
	if (same_name(spot->function, site->row.function))
		return true;
	for (uint32_t i = 0; i < spot->chain_place; i++)
		if (same_name(spot->chain[i].function, site->row.function) &&
			spot->chain[i].self >= INNER_LEAST * spot->value)
			return true;
	return false;
}

static void site_join(const struct simulated_site *site, const char *path, struct arena *arena,
	struct hotspot_drafts *drafts)
{
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		if (draft->spot.category != HOTSPOT_CPU || !site_is_at(site, &draft->spot))
			continue;
		if (verdict_category_is_memory(site->category))
			draft->spot.category = HOTSPOT_MEMORY;
		else if (site->category == VERDICT_BAD_SPECULATION)
			draft->spot.category = HOTSPOT_BRANCH;
		site_evidence(site, path, arena, draft);
		return;
	}
}

void hotspots_join_simulation(const struct evidence_piece *counters,
	const struct evidence_piece *profile, struct arena *arena, struct hotspot_drafts *drafts)
{
	struct simulated_rules rules;
	struct simulated_view view;
	struct err err = {0};

	if (!counters->run || !profile->run || !counters->run->places.count)
		return;
	simulated_rules_load(&rules);
	if (simulated_join(counters->run, profile->run, &rules.defaults, arena, &view, &err) < 0)
		return;
	/* A simulation that cannot tell the kind of work is no objection to the place. */
	for (uint32_t i = 0; i < view.function_count; i++)
		if (view.functions[i].time_share >= 0.02 &&
			view.functions[i].category != VERDICT_UNCLEAR &&
			view.functions[i].category != VERDICT_MIXED)
			site_join(&view.functions[i], counters->path, arena, drafts);
}

/* ---- experiments ---- */

/* The level to show: half gone when it is known, else the one that is surest.  A gain that may be
 * none is not shown where another level is known better. */
static const struct causal_gain *gain_to_show(const struct causal_curve *curve)
{
	for (unsigned i = 0; i < CAUSAL_LEVELS; i++)
		if (curve->gains[i].is_known && curve->gains[i].speedup == 0.5 &&
			(curve->gains[i].lo > 0 || !curve->best))
			return &curve->gains[i];
	if (curve->best)
		return curve->best;
	for (unsigned i = 0; i < CAUSAL_LEVELS; i++)
		if (curve->gains[i].is_known)
			return &curve->gains[i];
	return NULL;
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
			spot->chain[i].total >= INNER_LEAST * spot->value)
			return true;
	return false;
}

/* Hot, and its bounds leave no room for what its share suggests, although they are not narrow
 * enough to call the curve flat: no more than two thirds of its share at any level.  The level that
 * says so, or NULL. */
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
	}
}

static void draft_experiment(const struct experiments *x, const struct causal_target_view *target,
	const struct causal_gain *gain, struct arena *arena, struct hotspot_draft *draft)
{
	bool pays = causal_class_pays(target->curve.class);

	/* Several targets in one function: the one that pays most speaks for it. */
	if (draft->tried && !(pays && (!draft->pays || gain->lo > draft->spot.gain_lo)))
		return;
	draft->tried = true;
	draft->pays = pays;
	draft->flat = target->curve.class == CAUSAL_FLAT || low_gain(target);
	draft->experiment_share = target->sample_share;
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
	for (uint32_t i = 0; i < draft->spot.evidence_count; i++)
		if (str_equal(draft->evidence[i].mechanism, "experiments")) {
			draft->spot.evidence_count = i;
			break;
		}
	hotspot_add_evidence(draft, &(struct hotspot_evidence){.mechanism = "experiments",
					    .path = x->piece->path,
					    .query = gain_query(x, target, gain, arena),
					    .value = gain->gain,
					    .words = experiment_words(target, gain, arena),
					    .agrees = pays});
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
	struct hotspot_draft *best;

	if (target->curve.class == CAUSAL_NOISY)
		gain = low_gain(target);
	if (!gain || (causal_class_pays(target->curve.class) && gain->lo <= 0))
		return; /* or its bounds at this level are open: it says nothing */
	best = draft_of_target(target, drafts);
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

/* ---- the ledger ---- */

/* Explanations speak of a category; the place is the largest one of that category. */
static bool category_fits(const char *word, enum hotspot_category category)
{
	static const struct {
		const char *word;
		enum hotspot_category category;
	} fits[] = {
		{"cpu", HOTSPOT_CPU},
		{"memory", HOTSPOT_MEMORY},
		{"fault", HOTSPOT_MEMORY},
		{"branch", HOTSPOT_BRANCH},
		{"lock", HOTSPOT_LOCK},
		{"io", HOTSPOT_IO},
		{"off_cpu", HOTSPOT_OFF_CPU},
		{"allocation", HOTSPOT_ALLOCATION},
		{"syscall", HOTSPOT_SYSCALL},
	};

	for (unsigned i = 0; i < sizeof(fits) / sizeof(*fits); i++)
		if (str_equal(fits[i].word, word) && fits[i].category == category)
			return true;
	return false;
}

double hotspot_kind_share(const struct hotspot *spot, enum hotspot_category category)
{
	for (uint32_t i = 0; i < spot->kind_count; i++)
		if (spot->kinds[i].category == category)
			return spot->kinds[i].share;
	return 0;
}

/* How much of the place an explanation can be about: the kinds of its category.  The work that
 * simulated counts gave another name (memory, branch) is the CPU time. */
static double explained_share(const struct ledger_row *row, const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;
	double share = 0;

	for (uint32_t i = 0; i < spot->kind_count; i++)
		if (category_fits(row->category, spot->kinds[i].category))
			share += spot->kinds[i].share;
	if (category_fits(row->category, spot->category) &&
		hotspot_kind_share(spot, spot->category) <= 0)
		share += spot->kind_count ? hotspot_kind_share(spot, HOTSPOT_CPU) : spot->value;
	return share;
}

static bool has_mechanism(const struct hotspot_draft *draft, const char *mechanism)
{
	for (uint32_t i = 0; i < draft->spot.evidence_count; i++)
		if (str_equal(draft->evidence[i].mechanism, mechanism))
			return true;
	return false;
}

static void row_join(const struct ledger_row *row, struct hotspot_draft *draft)
{
	draft->spot.because = row;
	draft->spot.explained = explained_share(row, draft);
	for (uint32_t i = 0; i < row->witness_count; i++) {
		const struct ledger_witness *witness = &row->witnesses[i];
		const struct signal *signal = witness->signal_count ? witness->signals[0] : NULL;

		if (witness->verdict != HYPOTHESIS_SUPPORTS ||
			has_mechanism(draft, witness->witness))
			continue;
		hotspot_add_evidence(
			draft, &(struct hotspot_evidence){.mechanism = witness->witness,
				       .path = signal ? signal->path : "",
				       .query = signal ? signal->query : "",
				       .value = signal ? signal->value : (double)NAN,
				       .words = witness->words,
				       .agrees = true});
	}
}

/* It has no explanation yet, or only one of where. */
static bool is_unexplained(const struct ledger_row *row, const struct hotspot_draft *draft)
{
	const struct ledger_row *because = draft->spot.because;

	return !draft->flat && (!because || (because->is_place && !row->is_place));
}

/* The largest place of the explanation's category.  An explanation of where is about one function:
 * a place with less time than that, and nothing else that speaks for it, has only a part of its
 * calls. */
static struct hotspot_draft *draft_of_category(
	const struct ledger_row *row, struct hotspot_drafts *drafts)
{
	struct hotspot_draft *best = NULL;
	double most = 0;

	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		double share = explained_share(row, draft);

		if (share > most && is_unexplained(row, draft)) {
			best = draft;
			most = share;
		}
	}
	if (best && row->is_place && !best->pays && best->samples_share < PLACE_LEAST * row->share)
		return NULL;
	/* Page faults follow from what the place does, unless they are most of it. */
	if (best && str_equal(row->category, "fault") && most < FAULTS_LEAST * best->samples_share)
		return NULL;
	return best;
}

/* An explanation about the whole program fits the place that most of the program is: its kind of
 * work (a simulation that was cut cannot tell for one function), or, of locks, the code that
 * experiments say pays: that is what others wait for. */
static struct hotspot_draft *draft_of_most(
	const struct ledger_row *row, struct hotspot_drafts *drafts)
{
	bool locks = str_equal(row->category, "lock");
	bool work = str_equal(row->category, "branch") || str_equal(row->category, "memory");

	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		if (!is_unexplained(row, draft) || draft->spot.category != HOTSPOT_CPU)
			continue;
		if ((locks && draft->pays) || (work && draft->samples_share >= MOST_SHARE)) {
			draft->spot.category = locks ? HOTSPOT_LOCK
					       : str_equal(row->category, "branch")
						       ? HOTSPOT_BRANCH
						       : HOTSPOT_MEMORY;
			return draft;
		}
	}
	return NULL;
}

/* A small place of the category (page faults of the start are "memory" too) does not take the
 * explanation from what most of the program is.  Waiting for a lock takes hardly any CPU time: who
 * takes it and then works under it is the place all the same. */
static struct hotspot_draft *draft_of_row(
	const struct ledger_row *row, struct hotspot_drafts *drafts)
{
	struct hotspot_draft *draft = draft_of_category(row, drafts), *other = NULL;

	if (draft && explained_share(row, draft) < HOLDER_LEAST) {
		if (str_equal(row->category, "lock") &&
			hotspot_kind_share(&draft->spot, HOTSPOT_CPU) >= HOLDER_LEAST) {
			draft->spot.category = HOTSPOT_LOCK;
			return draft;
		}
		other = draft_of_most(row, drafts);
	}
	return other ? other : draft ? draft : draft_of_most(row, drafts);
}

void hotspots_join_ledger(const struct ledger_view *ledger, struct hotspot_drafts *drafts)
{
	for (uint32_t i = 0; ledger && i < ledger->count; i++) {
		const struct ledger_row *row = &ledger->rows[i];
		struct hotspot_draft *draft;

		if (row->verdict != HYPOTHESIS_SUPPORTS)
			continue;
		draft = draft_of_row(row, drafts);
		if (draft)
			row_join(row, draft);
	}
}
