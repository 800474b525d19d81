/* hotspot.c - places scored and ranked.
 *
 * Score = impact x confidence / effort, the hand-off of docs/methods.md: impact 1 to 5 from what
 * the program would gain, confidence 0 to 1 from how many mechanisms agree (confidence.h, without
 * what the whole answer has to do with), effort 1 to 3. */
#include "analyze/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile_filter.h"
#include "answer_parts.h"
#include "base/str.h"
#include "hotspot_parts.h"

enum { ROWS_MOST = 20 };
#define CALLEES_NEAR 1.2 /* a place with what it calls, beside its share */
#define FLAT_SHARE 0.05
#define LOOP_TOLD 0.3	   /* of the CPU time in one loop: it is the reason then */
#define GARBAGE_LEAST 0.15 /* of the CPU time: the reason then */
#define LOCKS_LEAST 0.5	   /* of the time of the place: the reason then */

const char *hotspot_category_word(enum hotspot_category category)
{
	static const char *const words[HOTSPOT_CATEGORIES] = {
		[HOTSPOT_CPU] = "CPU",
		[HOTSPOT_MEMORY] = "memory",
		[HOTSPOT_BRANCH] = "branch",
		[HOTSPOT_LOCK] = "lock",
		[HOTSPOT_IO] = "I/O",
		[HOTSPOT_OFF_CPU] = "off-CPU",
		[HOTSPOT_ALLOCATION] = "allocation",
		[HOTSPOT_SYSCALL] = "syscall",
	};

	return words[category];
}

/* What the program would gain if this took half its time, and the collector half of what it takes
 * for it.  A gain whose bounds hold 0 is no reason:
 * then it is what the samples allow, and no more than the bounds do. */
static double potential_of(const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;
	double most = fmin(1, draft->samples_share + draft->spot.garbage) / 2;

	if (draft->tried && spot->gain_lo > 0)
		return spot->gain * 0.5 / spot->gain_at;
	if (draft->tried && spot->gain_at > 0)
		most = fmin(most, fmax(spot->gain_hi, 0) * 0.5 / spot->gain_at);
	if (spot->open_at > 0 && !isnan(spot->open_hi))
		most = fmin(most, fmax(spot->open_hi, 0) * 0.5 / spot->open_at);
	return most;
}

static double impact_of(double potential)
{
	static const double steps[] = {0.04, 0.08, 0.15, 0.25};
	double impact = 1;

	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		impact += potential >= steps[i];
	return impact;
}

/* What a first change usually takes, where no explanation knows better. */
static double effort_of(const struct hotspot *spot)
{
	static const double efforts[HOTSPOT_CATEGORIES] = {
		[HOTSPOT_CPU] = 2,
		[HOTSPOT_MEMORY] = 3,
		[HOTSPOT_BRANCH] = 2,
		[HOTSPOT_LOCK] = 2,
		[HOTSPOT_IO] = 2,
		[HOTSPOT_OFF_CPU] = 2,
		[HOTSPOT_ALLOCATION] = 1,
		[HOTSPOT_SYSCALL] = 1,
	};

	return spot->because && spot->because->effort > 0 ? spot->because->effort
							  : efforts[spot->category];
}

/* An explanation of more than the place, or what the counters say about it.  That much time is
 * spent there, or that the program gains when it is faster, is where and not why. */
static const char *cause_of(const struct hotspot *spot, struct arena *arena)
{
	const char *algorithm = spot->algorithm ? spot->algorithm : "";

	if (spot->because && spot->tells_growth &&
		str_equal(spot->because->name, "grows_faster_than_its_input"))
		return algorithm; /* the same, for this place */
	if (spot->because && !spot->because->is_place)
		return *algorithm ? arena_format(arena, "%s; %s", spot->because->why, algorithm)
				  : spot->because->why;
	for (uint32_t i = 0; i < spot->evidence_count; i++)
		if (str_equal(spot->evidence[i].mechanism, "simulation"))
			return *algorithm ? arena_format(arena, "%s; %s", algorithm,
						    spot->evidence[i].words)
					  : spot->evidence[i].words;
	return *algorithm ? algorithm : NULL;
}

/* A loop that was seen in the code and not counted is no cause yet, and more than that it is hot.
 */
static const char *why_of(const struct hotspot_draft *draft, struct arena *arena)
{
	double locks = hotspot_kind_share(&draft->spot, HOTSPOT_LOCK);

	if (draft->spot.cause)
		return draft->spot.cause;
	if (draft->spot.garbage >= GARBAGE_LEAST)
		return arena_format(arena,
			"the collector takes about %.0f %% of the CPU time for what it allocates "
			"(its time is shared out by who allocates)",
			100 * draft->spot.garbage);
	if (locks >= LOCKS_LEAST * draft->samples_share && draft->samples_share > 0)
		return arena_format(arena,
			"%.0f %% of the CPU time is in the functions of locks there, waking and "
			"sleeping included",
			100 * locks);
	if (draft->loop_share >= LOOP_TOLD && *draft->spot.call)
		return arena_format(arena,
			"%.0f %% of the CPU time is in a loop of %s, at %s; how often it runs was "
			"not counted",
			100 * draft->loop_share, draft->spot.call, draft->spot.location);
	if (draft->spot.because)
		return draft->spot.because->why;
	return draft->tried ? "unknown: samples and experiments show where, and no explanation is "
			      "supported"
			    : "unknown: samples show where the time goes, and no explanation is "
			      "supported";
}

bool hotspot_is_timed(const struct hotspot_evidence *evidence)
{
	return !str_equal(evidence->mechanism, "simulation") &&
	       !str_equal(evidence->mechanism, "pmu");
}

/* Who agrees, each cause of error once: beside other programs all that is measured in time is one
 * method, which agrees when all of it does. */
static void agreement_count(struct hotspot *spot, bool is_busy)
{
	uint32_t timed = 0, objects = 0;

	for (uint32_t i = 0; i < spot->evidence_count; i++) {
		bool agrees = spot->evidence[i].agrees;

		if (is_busy && hotspot_is_timed(&spot->evidence[i])) {
			timed++;
			objects += !agrees;
			continue;
		}
		spot->asked++;
		spot->agree += agrees;
	}
	spot->asked += timed > 0;
	spot->agree += timed > 0 && !objects;
	spot->counts_once = timed > 1;
}

static void draft_score(struct hotspot_draft *draft, const struct confidence_rules *rules,
	bool is_busy, struct arena *arena)
{
	struct hotspot *spot = &draft->spot;

	spot->evidence =
		arena_keep(arena, draft->evidence, spot->evidence_count * sizeof(*spot->evidence));
	agreement_count(spot, is_busy);
	if (spot->gain_source == GAIN_NONE)
		spot->gain = spot->gain_lo = spot->gain_hi = spot->gain_at = (double)NAN;
	spot->impact = impact_of(potential_of(draft));
	hotspot_features(draft, &spot->features);
	spot->confidence = confidence_probability(rules, &spot->features);
	spot->effort = effort_of(spot);
	spot->score = spot->impact * spot->confidence / spot->effort;
	spot->cause = cause_of(spot, arena);
	spot->why = why_of(draft, arena);
}

/* Proven gains first, then by what the program would gain and how sure that is; the effort only
 * decides between equals, because the first question is where, not how hard. */
static double weight_of(const struct hotspot_draft *draft)
{
	return potential_of(draft) * draft->spot.confidence + (draft->pays ? 1 : 0);
}

static int by_weight(const void *a, const void *b)
{
	const struct hotspot_draft *x = a, *y = b;
	double wx = weight_of(x), wy = weight_of(y);

	if (wx != wy)
		return wx < wy ? 1 : -1;
	if (x->spot.score != y->spot.score)
		return x->spot.score < y->spot.score ? 1 : -1;
	return strcmp(x->spot.location, y->spot.location);
}

static void list_add(struct hotspot_list *list, const struct hotspot *spot)
{
	if (list->count == ROWS_MOST)
		return;
	list->rows[list->count] = *spot;
	list->rows[list->count].rank = list->count + 1;
	list->count++;
}

void hotspots_make(const struct evidence *evidence, const struct signals *signals,
	const struct ledger_view *ledger, struct arena *arena, struct hotspot_list *ret_rows,
	struct hotspot_list *ret_flat)
{
	const struct evidence_piece *piece = evidence->piece;
	const struct hotspot_look look = {evidence->code, evidence->algorithm};
	const bool is_busy = answer_supported(ledger, "noise");
	struct confidence_rules rules;
	struct hotspot_drafts drafts = {0};

	confidence_rules_load(&rules);
	hotspots_from_samples(&piece[EVIDENCE_PROFILE], &look, arena, &drafts);
	hotspots_join_simulation(evidence, ledger, arena, &drafts);
	hotspots_join_experiments(evidence, arena, &drafts);
	hotspots_gain(evidence, signals, arena, &drafts);
	hotspots_join_algorithm(evidence, arena, &drafts);
	hotspots_join_ledger(ledger, &drafts);
	vec_foreach (struct hotspot_draft, draft, &drafts.rows)
		draft_score(draft, &rules, is_busy, arena);
	vec_sort(&drafts.rows, by_weight);
	ret_rows->rows = arena_take(arena, ROWS_MOST * sizeof(*ret_rows->rows));
	ret_flat->rows = arena_take(arena, ROWS_MOST * sizeof(*ret_flat->rows));
	ret_rows->count = ret_flat->count = 0;
	vec_foreach (const struct hotspot_draft, draft, &drafts.rows) {
		bool hot = fmax(draft->samples_share, draft->experiment_share) >= FLAT_SHARE;

		if (!draft->flat)
			list_add(ret_rows, &draft->spot);
		else if (hot)
			list_add(ret_flat, &draft->spot);
	}
	vec_done(&drafts.rows);
}

/* As the answer ranks them when it has nothing but the samples. */
static int by_samples(const void *a, const void *b)
{
	const struct hotspot_draft *x = a, *y = b;

	if (x->samples_share != y->samples_share)
		return x->samples_share < y->samples_share ? 1 : -1;
	return strcmp(x->spot.location, y->spot.location);
}

/* The time is in what the place calls, and all that it calls is this place's. */
static bool is_with_callees(const struct hotspot *spot)
{
	return spot->chain_place > 0 && spot->chain_place < spot->chain_count &&
	       spot->chain[spot->chain_place].total <= CALLEES_NEAR * spot->value;
}

/* An experiment there counts for the place: hotspots_join_experiments().  It is chosen by the time
 * with all that it calls, so it is tried with that, unless it is the innermost one. */
static struct hotspot_target target_of(const struct hotspot *spot)
{
	struct hotspot_target target = {
		.function = spot->function, .with_callees = is_with_callees(spot)};

	for (uint32_t i = spot->chain_place; i-- > 0 && !target.inner;)
		if (spot->chain[i].total >= HOTSPOT_INNER_LEAST * spot->value) {
			target.inner = spot->chain[i].function;
			target.inner_with_callees = i > 0;
		}
	return target;
}

uint32_t hotspot_functions(const struct evidence_piece *profile, const struct hot_code *code,
	double least_share, struct arena *arena, struct hotspot_target *ret_functions, uint32_t max)
{
	struct hotspot_drafts drafts = {0};
	uint32_t count = 0;

	hotspots_from_samples(profile, &(struct hotspot_look){.code = code}, arena, &drafts);
	vec_sort(&drafts.rows, by_samples);
	vec_foreach (const struct hotspot_draft, draft, &drafts.rows)
		if (count < max && draft->samples_share >= least_share && !draft->spot.has_no_name)
			ret_functions[count++] = target_of(&draft->spot);
	vec_done(&drafts.rows);
	return count;
}

double hotspot_function_ns(const struct evidence_piece *profile, const char *function)
{
	arena_auto struct arena arena = {0};
	struct hotspot_drafts drafts = {0};
	struct profile_samples samples;
	struct err err = {0};
	double share = 0, ns;

	if (!profile->run ||
		profile_samples_take(profile->run, &(struct profile_filter){0}, &samples, &err) < 0)
		return (double)NAN;
	ns = str_equal(samples.unit, "ns") ? (double)samples.total.weight : (double)NAN;
	profile_samples_done(&samples);
	hotspots_from_samples(profile, &(struct hotspot_look){0}, &arena, &drafts);
	vec_foreach (const struct hotspot_draft, draft, &drafts.rows)
		if (str_equal(draft->spot.function, function))
			share += hotspot_kind_share(&draft->spot, HOTSPOT_CPU);
	vec_done(&drafts.rows);
	return share * ns;
}
