/* hotspot.c - places scored and ranked.
 *
 * Score = impact x confidence / effort, the hand-off of docs/methods.md: impact 1 to 5 from what
 * the program would gain, confidence 0 to 1 from how many mechanisms agree, effort 1 to 3. */
#include "analyze/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile_filter.h"
#include "base/str.h"
#include "hotspot_parts.h"

enum { ROWS_MOST = 20 };
#define CALLEES_NEAR 1.2 /* a place with what it calls, beside its share */
#define FLAT_SHARE 0.05
#define OPINION_MOST 0.7 /* confidence */
#define DOUBTED_MOST 0.5
#define OFTEN 10
#define LOOP_LEAST 0.3 /* of the CPU time in one loop, to be told as what it is */
#define SAME_TIME 0.95 /* of a caller's time: an experiment cannot tell the two apart */

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

/* What the program would gain if this took half its time. */
static double potential_of(const struct hotspot_draft *draft)
{
	if (draft->tried)
		return draft->spot.gain_at > 0 ? draft->spot.gain * 0.5 / draft->spot.gain_at : 0;
	return draft->samples_share / 2;
}

static double impact_of(double potential)
{
	static const double steps[] = {0.04, 0.08, 0.15, 0.25};
	double impact = 1;

	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		impact += potential >= steps[i];
	return impact;
}

static double agreement_of(const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;

	if (draft->pays && spot->gain_lo > 0)
		return spot->agree >= 3 ? 1 : 0.9;
	if (spot->agree >= 3)
		return spot->agree == spot->asked ? 0.9 : 0.7;
	if (spot->agree == 2)
		return spot->agree == spot->asked ? 0.8 : 0.5;
	return spot->asked == 1 ? 0.4 : 0.2;
}

/* Two functions above it, or more, have the same time and are not the root: making the work faster
 * and making it unnecessary gain the same, and any of them may be where that is done. */
static bool has_same_callers(const struct hotspot *spot)
{
	const struct hotspot_link *place = &spot->chain[spot->chain_place];
	uint32_t same = 0;

	for (uint32_t i = spot->chain_place + 1; i + 1 < spot->chain_count; i++)
		same += place->total >= SAME_TIME * spot->chain[i].total;
	return same >= 2;
}

/* The place itself was counted, or an experiment was made on it, and it can be told from others. */
static bool is_confirmed(const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;
	bool is_told_apart = !has_same_callers(spot);

	if (draft->pays && is_told_apart)
		return true;
	/* What is below it is entered again and again from there. */
	if (spot->chain_place &&
		spot->chain[0].entries >= OFTEN * spot->chain[spot->chain_place].entries)
		return true;
	for (uint32_t i = 0; i < spot->evidence_count; i++)
		if (draft->evidence[i].agrees &&
			(str_equal(draft->evidence[i].mechanism, "simulation") ||
				str_equal(draft->evidence[i].mechanism, "pmu")))
			return !spot->chain_place && is_told_apart;
	return false;
}

/* That a function is hot is measured; that it and not its caller is the one to change is a rule's
 * opinion, which only an experiment or a count can confirm. */
static double confidence_of(const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;
	bool is_opinion = spot->chain_count > 1 && !is_confirmed(draft);
	double most = spot->gain_doubt ? DOUBTED_MOST : is_opinion ? OPINION_MOST : 1;

	return fmin(most, agreement_of(draft));
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
	if (draft->spot.cause)
		return draft->spot.cause;
	if (draft->loop_share >= LOOP_LEAST && *draft->spot.call)
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

static void draft_score(struct hotspot_draft *draft, struct arena *arena)
{
	struct hotspot *spot = &draft->spot;

	spot->evidence =
		arena_keep(arena, draft->evidence, spot->evidence_count * sizeof(*spot->evidence));
	spot->asked = spot->evidence_count;
	for (uint32_t i = 0; i < spot->evidence_count; i++)
		spot->agree += spot->evidence[i].agrees;
	if (spot->gain_source == GAIN_NONE)
		spot->gain = spot->gain_lo = spot->gain_hi = spot->gain_at = (double)NAN;
	spot->impact = impact_of(potential_of(draft));
	spot->confidence = confidence_of(draft);
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
	struct hotspot_drafts drafts = {0};

	hotspots_from_samples(&piece[EVIDENCE_PROFILE], &look, arena, &drafts);
	hotspots_join_simulation(
		&piece[EVIDENCE_COUNTERS], &piece[EVIDENCE_PROFILE], arena, &drafts);
	hotspots_join_experiments(evidence, arena, &drafts);
	hotspots_gain(evidence, signals, arena, &drafts);
	hotspots_join_algorithm(evidence, arena, &drafts);
	hotspots_join_ledger(ledger, &drafts);
	vec_foreach (struct hotspot_draft, draft, &drafts.rows)
		draft_score(draft, arena);
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

static int by_cpu(const void *a, const void *b)
{
	const struct hotspot_draft *x = a, *y = b;

	double a_share = hotspot_kind_share(&x->spot, HOTSPOT_CPU);
	double b_share = hotspot_kind_share(&y->spot, HOTSPOT_CPU);

	return (a_share < b_share) - (a_share > b_share);
}

/* The time is in what the place calls, and all that it calls is this place's. */
static bool is_with_callees(const struct hotspot *spot)
{
	return spot->chain_place > 0 && spot->chain_place < spot->chain_count &&
	       spot->chain[spot->chain_place].total <= CALLEES_NEAR * spot->value;
}

uint32_t hotspot_functions(const struct evidence_piece *profile, const struct hot_code *code,
	double least_share, struct arena *arena, struct hotspot_target *ret_functions, uint32_t max)
{
	struct hotspot_drafts drafts = {0};
	uint32_t count = 0;

	hotspots_from_samples(profile, &(struct hotspot_look){.code = code}, arena, &drafts);
	vec_sort(&drafts.rows, by_cpu);
	vec_foreach (const struct hotspot_draft, draft, &drafts.rows)
		if (count < max && hotspot_kind_share(&draft->spot, HOTSPOT_CPU) >= least_share)
			ret_functions[count++] = (struct hotspot_target){
				draft->spot.function, is_with_callees(&draft->spot)};
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
