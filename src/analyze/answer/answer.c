/* answer.c - the one answer.  The order of the rules is the product; docs/methods.md states it:
 *
 *   1. Its own threads wait for a CPU: no line of the program is the answer, and the gain of one is
 *      only what it leaves to the others.
 *   2. Experiments show a gain: that place, whatever the profile says.
 *   3. An explanation that two witnesses support and that has a place, unless another place takes
 *      more than twice as much.
 *   4. One place that takes much of the CPU time.
 *   5. Nothing was sampled: not measured, because.
 *   6. Nothing stands out; or, when the runs scatter too much to say so, too noisy.
 *
 * Beside other programs no place is named when experiments on it and on another one do not tell
 * which is first, with 80 % probability: what samples and arithmetic say there is no order. */
#include "analyze/answer.h"

#include <math.h>
#include <string.h>

#include "analyze/causal_view.h"
#include "analyze/label.h"
#include "answer_parts.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/words.h"
#include "hotspot_parts.h"
#include "model/run.h"

#define STANDS_OUT 0.10 /* of the CPU time, for a place without any other evidence */
#define MACHINE_SHARE 0.20

const char *answer_kind_word(enum answer_kind kind)
{
	static const char *const words[] = {
		[ANSWER_CHANGE] = "change",
		[ANSWER_NOTHING] = "nothing_stands_out",
		[ANSWER_NOISY] = "too_noisy",
		[ANSWER_NOT_MEASURED] = "not_measured",
	};

	return words[kind];
}

/* ---- what was not measured ---- */

const char answer_not_yet[] = "not available in this version";

static const struct answer_missing never[] = {
	{"waits off the CPU (stacks, wakers)", answer_not_yet,
		"assay causal --waits FUNCTION tries one wait", true},
	{"locks (holders, waiters, wait times)", answer_not_yet, "", true},
	{"allocations (sites, sizes, lifetimes)", answer_not_yet,
		"heaptrack or valgrind --tool=dhat", true},
	{"block I/O (queue, device)", answer_not_yet, "", true},
};

static void missing_make(
	const struct evidence *evidence, struct arena *arena, struct answer_view *view)
{
	static const char *const titles[EVIDENCE_KINDS] = {
		[EVIDENCE_BASELINE] = "baseline (repeated runs)",
		[EVIDENCE_OBSERVED] = "software events and /proc",
		[EVIDENCE_PROFILE] = "CPU profile",
		[EVIDENCE_COUNTERS] = "counters, measured or simulated",
		[EVIDENCE_CAUSAL] = "experiments (the gain from a faster line)",
		[EVIDENCE_EVENTS] = "spans and claims logged by the program",
		[EVIDENCE_CALLS] = "calls and loops, simulated",
		[EVIDENCE_SMALLER] = "growth of the time with the input",
	};
	const size_t fixed = sizeof(never) / sizeof(*never);
	struct answer_missing *rows = arena_take(arena, (EVIDENCE_KINDS + fixed) * sizeof(*rows));

	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		if (titles[i] && !evidence->piece[i].run) /* one smaller input is enough */
			rows[view->missing_count++] = (struct answer_missing){
				.what = titles[i],
				.reason =
					evidence->piece[i].reason ? evidence->piece[i].reason : "",
				.fix = evidence->piece[i].fix ? evidence->piece[i].fix : "",
			};
	memcpy(rows + view->missing_count, never, sizeof(never));
	view->missing_count += (uint32_t)fixed;
	view->missing = rows;
}

/* ---- the machine ---- */

static void environment_make(const struct run *run, struct arena *arena, struct answer_view *view)
{
	static const char *const wanted[][2] = {{"cpu", "model"}, {"cpu", "online"},
		{"memory", "total"}, {"kernel", "release"}, {"limits", "virtualization"},
		{"limits", "container"}, {"limits", "cpu_quota"}, {"freq", "governor"},
		{"clock", "source"}, {"noise", "load"}, {"noise", "pressure_cpu"},
		{"noise", "steal"}};
	const size_t count = sizeof(wanted) / sizeof(*wanted);
	struct answer_field *fields = arena_take(arena, count * sizeof(*fields));

	view->fingerprint = run ? run_text(run, run->fingerprint) : "";
	view->environment = fields;
	for (size_t i = 0; run && i < count; i++)
		vec_foreach (const struct field_row, field, &run->fields) {
			if (!str_equal(run_text(run, field->group), wanted[i][0]) ||
				!str_equal(run_text(run, field->name), wanted[i][1]))
				continue;
			fields[view->environment_count++] = (struct answer_field){
				arena_format(arena, "%s.%s", wanted[i][0], wanted[i][1]),
				field->state == FIELD_VALUE    ? run_text(run, field->value)
				: field->state == FIELD_ABSENT ? "absent"
							       : "denied"};
			break;
		}
}

/* ---- the choice ---- */

static bool row_supports(const struct ledger_row *row, const char *category)
{
	return row->verdict == HYPOTHESIS_SUPPORTS && str_equal(row->category, category);
}

const struct ledger_row *answer_supported(const struct ledger_view *ledger, const char *category)
{
	for (uint32_t i = 0; ledger && i < ledger->count; i++)
		if (row_supports(&ledger->rows[i], category))
			return &ledger->rows[i];
	return NULL;
}

bool hotspot_pays(const struct hotspot *spot)
{
	return gain_is_experiment(spot->gain_source) && spot->gain_lo > 0;
}

/* Rule 1: a supported explanation that is about the machine or the number of threads. */
static const struct ledger_row *machine_row(const struct ledger_view *ledger)
{
	const struct ledger_row *row = answer_supported(ledger, "starvation");

	return row && (isnan(row->share) || row->share >= MACHINE_SHARE) ? row : NULL;
}

/* The place that takes the most of the CPU time. */
static double largest_of(const struct answer_view *view)
{
	double largest = 0;

	for (uint32_t i = 0; i < view->hotspot_count; i++)
		largest = fmax(largest, view->hotspots[i].value); /* ignores NAN */
	return largest;
}

/* Rules 2 to 4.  An explanation of a place is not the first thing to act on when another place
 * takes more than twice as much. */
static const struct hotspot *spot_choose(const struct answer_view *view)
{
	const struct hotspot *best = NULL;
	double least = fmax(STANDS_OUT / 2, largest_of(view) / 2);

	for (uint32_t i = 0; i < view->hotspot_count; i++) {
		const struct hotspot *spot = &view->hotspots[i];

		if (hotspot_pays(spot) || (spot->because && spot->explained >= least))
			return spot;
		/* One of several mechanisms alone is not acted on when another place has more. */
		if (!best && spot->value >= STANDS_OUT &&
			(spot->agree >= 2 || (spot->agree && spot->asked == 1)))
			best = spot;
	}
	if (best)
		return best;
	return view->hotspot_count && view->hotspots[0].value >= STANDS_OUT ? &view->hotspots[0]
									    : NULL;
}

/* ---- the words ---- */

const char *hotspot_advice(const struct hotspot *spot)
{
	if (spot->pattern)
		return spot->pattern->advice;
	if (spot->steps)
		return "do it less often: keep its result until what it is made from changes, or "
		       "find out first whether it is needed";
	return spot->because ? spot->because->advice : "";
}

/* The answer would have another word with these features. */
static bool is_lowered(const struct answer_view *view, const struct confidence_rules *rules,
	const struct confidence_features *without)
{
	const char *word = confidence_word(rules, confidence_probability(rules, without));

	return !str_equal(word, view->confidence);
}

/* Samples and experiments of the same busy minutes are wrong together, and a place that another one
 * may pass is not settled: where that makes it less sure, it is said. */
static void confidence_say(struct answer_view *view, struct arena *arena)
{
	struct confidence_rules rules;
	struct confidence_features quiet, alone;

	confidence_rules_load(&rules);
	answer_features(view, &view->features);
	view->probability = confidence_probability(&rules, &view->features);
	view->confidence = confidence_word(&rules, view->probability);
	quiet = alone = view->features;
	answer_features_quiet(view, &quiet);
	alone.value[CONFIDENCE_RIVAL] = 0;
	if (is_lowered(view, &rules, &quiet))
		view->confidence_reason =
			view->first && view->first->counts_once
				? "lower, because the machine was not quiet: what was measured in "
				  "the same minutes (joined by +) counts as one method"
				: "lower, because the machine was not quiet";
	else if (is_lowered(view, &rules, &alone))
		view->confidence_reason = arena_format(arena, "lower, because %s may gain more",
			answer_rival(view, view->first)->call);
	else if (view->first && hotspot_has_unknown_callers(view->first))
		view->confidence_reason = arena_format(arena,
			"its callers are not known: %.0f %% of its stacks could not be unwound to "
			"the end (`assay doctor PROGRAM` shows what unwinding needs)",
			100 * view->first->cut_share);
}

static enum causal_pace pace_of(const struct evidence *evidence)
{
	return evidence->causal ? evidence->causal->pace : CAUSAL_PACE_OWN;
}

bool answer_can_try(const struct evidence *evidence)
{
	return !evidence->no_experiments && pace_of(evidence) == CAUSAL_PACE_OWN;
}

static const char *refute_of(
	const struct hotspot *spot, const struct evidence *evidence, struct arena *arena)
{
	if (spot->pattern && (!spot->because || spot->because->is_place))
		return spot->pattern->refute;
	if (spot->because && *spot->because->falsifier &&
		!(spot->because->is_place && hotspot_pays(spot)))
		return spot->because->falsifier;
	if (hotspot_pays(spot))
		return arena_format(arena,
			"make it faster: if the program gains less than %.1f %% for every %.0f %% "
			"there, this was wrong",
			100 * spot->gain_lo, 100 * spot->gain_at);
	if (spot->has_no_name)
		return "";
	if (gain_is_arithmetic(spot->gain_source))
		return arena_format(arena,
			"make it faster: if the program gains less than %.1f %% when it takes half "
			"the time, this was wrong",
			100 * spot->gain_lo);
	if (pace_of(evidence) != CAUSAL_PACE_OWN)
		return "make it faster: if the program uses as much CPU time as before, this was "
		       "wrong";
	if (!answer_can_try(evidence))
		return "make it faster: if the program takes as long as before, this was wrong";
	return arena_format(arena,
		"a flat curve in `assay causal --progress auto -f %s`: it is then off the critical "
		"path",
		command_place(spot, true, arena));
}

const char *answer_untried(const struct hotspot *spot, const struct evidence *evidence)
{
	for (uint32_t i = 0; i < evidence->untried_count; i++)
		if (label_same_function(evidence->untried[i].function, spot->function))
			return evidence->untried[i].reason;
	return spot->has_no_name ? "its code has no names" : NULL;
}

static bool was_hotter_tried(
	const struct hotspot *spots, uint32_t count, const struct hotspot *than)
{
	for (uint32_t i = 0; i < count; i++)
		if (spots[i].target && spots[i].value > than->value)
			return true;
	return false;
}

/* Why there is no experiment on this place, though there are some on others. */
static const char *untried_reason(const struct answer_view *view, const struct hotspot *spot,
	const struct evidence *evidence, struct arena *arena)
{
	const char *reason = answer_untried(spot, evidence);

	if (reason)
		return arena_format(arena, "no experiment could be made on this place: %s", reason);
	if (was_hotter_tried(view->hotspots, view->hotspot_count, spot) ||
		was_hotter_tried(view->flat, view->flat_count, spot))
		return "no experiment was made on this place: those with more of the CPU time "
		       "came first";
	return "no experiment was made on this place before their time ended";
}

static const char *open_reason(const struct hotspot *spot, struct arena *arena)
{
	if (isnan(spot->open_hi))
		return "too few experiments on this place were complete to tell its gain";
	return arena_format(arena,
		"experiments leave it open: %.1f to %.1f %% when it is %.0f %% faster%s",
		100 * spot->open_lo, 100 * spot->open_hi, 100 * spot->open_at,
		spot->open_lo <= 0 && spot->open_hi >= 0 ? ", which includes no gain at all" : "");
}

static const char *gain_reason(const struct answer_view *view, const struct hotspot *spot,
	const struct evidence *evidence, struct arena *arena)
{
	static const char *const paced[CAUSAL_PACES] = {
		[CAUSAL_PACE_CLOCK] = "a clock sets the pace of the program, so faster code saves "
				      "CPU time but does not make it faster",
		[CAUSAL_PACE_PEER] = "the program waits for another one, which sets its pace",
	};
	const struct evidence_piece *causal = &evidence->piece[EVIDENCE_CAUSAL];

	if (paced[pace_of(evidence)])
		return paced[pace_of(evidence)];
	if (!causal->run)
		return causal->reason;
	return spot->open_at > 0 ? open_reason(spot, arena)
				 : untried_reason(view, spot, evidence, arena);
}

static void reasons_fill(const struct answer_view *view, const struct evidence *evidence,
	struct arena *arena, struct hotspot_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct hotspot *spot = &list->rows[i];

		spot->is_paced = pace_of(evidence) != CAUSAL_PACE_OWN;
		if (isnan(spot->gain))
			spot->gain_reason = gain_reason(view, spot, evidence, arena);
	}
}

static void answer_place(const struct hotspot *spot, const struct evidence *evidence,
	struct arena *arena, struct answer_view *view)
{
	view->kind = ANSWER_CHANGE;
	view->first = spot;
	view->because = spot->because;
	view->sentence = answer_sentence(spot, arena);
	view->cause = spot->cause;
	view->why = spot->why;
	confidence_say(view, arena);
	view->refute = refute_of(spot, evidence, arena);
	view->next = answer_next(view, evidence, arena);
	view->gain = spot->gain;
	view->gain_lo = spot->gain_lo;
	view->gain_hi = spot->gain_hi;
	view->gain_at = spot->gain_at;
	view->gain_all = spot->gain_all;
	view->gain_all_lo = spot->gain_all_lo;
	view->gain_all_hi = spot->gain_all_hi;
	view->gain_source = spot->gain_source;
	view->gain_all_source = spot->gain_all_source;
	view->gain_all_note = spot->gain_all_note;
	view->gain_doubt = spot->gain_doubt;
	view->gain_reason = spot->gain_reason;
}

static void answer_row(const struct ledger_row *row, const struct evidence *evidence,
	struct arena *arena, struct answer_view *view)
{
	view->kind = ANSWER_CHANGE;
	view->because = row;
	view->sentence =
		arena_format(arena, "%s: no single line is worth changing first", row->title);
	view->cause = view->why = row->why;
	confidence_say(view, arena);
	view->refute = row->falsifier;
	view->next = command_fill(
		evidence, *row->next ? row->next : "assay scale --threads auto -- PROGRAM", arena);
	view->gain_reason = "not a line of the program, so experiments do not apply";
}

/* Too noisy: "" in `order` when nothing stands out, else which places cannot be told apart. */
static void answer_noisy(const char *order, const struct evidence *evidence, struct arena *arena,
	struct answer_view *view)
{
	const struct ledger_row *noise = answer_supported(view->ledger, "noise");

	view->kind = ANSWER_NOISY;
	view->because = noise;
	view->confidence = "low";
	view->sentence = arena_format(arena, "the machine was too noisy%s: %s", order, noise->why);
	view->why = *order ? "" : noise->why;
	view->next = answer_next(view, evidence, arena);
	if (!*view->next)
		view->next = "assay tune plan";
}

/* Which of two places is first, where experiments beside other programs do not tell; NULL: they do,
 * or there were no other programs. */
static const char *open_order(
	const struct answer_view *view, const struct hotspot *spot, struct arena *arena)
{
	const struct hotspot *other = answer_equal(view, spot);
	bool is_known = gain_is_experiment(spot->gain_source);

	if (!other || !(answer_others_share(view) > 0))
		return NULL;
	return arena_format(arena,
		" to tell which is first, %s (%.1f to %.1f %% when it is %.0f %% faster) or %s",
		spot->call, 100 * (is_known ? spot->gain_lo : spot->open_lo),
		100 * (is_known ? spot->gain_hi : spot->open_hi),
		100 * (is_known ? spot->gain_at : spot->open_at), other->call);
}

/* Hot places, and experiments find no gain at any of them: threads that take equally long wait for
 * each other, so that none of them alone makes a difference, or the time is in what they wait for.
 */
static void answer_all_flat(const struct hotspot *spot, const struct evidence *evidence,
	struct arena *arena, struct answer_view *view)
{
	view->kind = ANSWER_NOTHING;
	view->sentence = arena_format(arena,
		"nothing stands out: %s has %.0f %% of the CPU time, but experiments find no gain "
		"there%s (%.1f to %.1f %% when it is %.0f %% faster)",
		spot->call, 100 * spot->value,
		view->flat_count > 1 ? ", nor at the other hot places" : "", 100 * spot->gain_lo,
		100 * spot->gain_hi, 100 * spot->gain_at);
	view->why =
		"what is hot is not what the program waits for, or several threads take equally "
		"long and wait for each other";
	view->refute =
		arena_format(arena, "the program gains more than %.1f %% when %s is %.0f %% faster",
			100 * spot->gain_hi, spot->call, 100 * spot->gain_at);
	view->next = command_fill(
		evidence, "assay causal --progress auto --budget 2m -- PROGRAM", arena);
}

/* With the largest share of the CPU time (a wait has none); NULL: no place is flat. */
static const struct hotspot *flat_most(const struct answer_view *view)
{
	const struct hotspot *most = NULL;

	for (uint32_t i = 0; i < view->flat_count; i++)
		if (!isnan(view->flat[i].value) && (!most || view->flat[i].value > most->value))
			most = &view->flat[i];
	return most;
}

static void answer_none(
	const struct evidence *evidence, struct arena *arena, struct answer_view *view)
{
	const struct hotspot *most = flat_most(view);

	view->confidence = "low";
	if (!evidence->piece[EVIDENCE_PROFILE].run) {
		view->kind = ANSWER_NOT_MEASURED;
		view->sentence = arena_format(
			arena, "not measured: %s", evidence->piece[EVIDENCE_PROFILE].reason);
		view->next =
			arena_format(arena, "assay doctor %s", command_program(evidence, arena));
		return;
	}
	if (answer_supported(view->ledger, "noise")) {
		answer_noisy("", evidence, arena, view);
		return;
	}
	if (most && most->value >= STANDS_OUT) {
		answer_all_flat(most, evidence, arena, view);
		return;
	}
	view->kind = ANSWER_NOTHING;
	view->sentence =
		"nothing stands out: no place takes more than 10 % of the CPU time, and no "
		"explanation is supported";
	view->why = "the time is spread over many places";
	view->refute = "a longer run, or one with real input, shows a place above 10 %";
	view->next = command_fill(evidence, "assay report profile.assay --total", arena);
}

void answer_make(const struct evidence *evidence, const struct signals *signals,
	const struct ledger_view *ledger, struct arena *arena, struct answer_view *ret_view)
{
	struct hotspot_list rows, flat;
	const struct hotspot *spot;
	const char *order;
	const struct ledger_row *machine = machine_row(ledger);

	*ret_view = (struct answer_view){.ledger = ledger,
		.signals = signals,
		.growth = evidence->growth,
		.why = "",
		.refute = "",
		.next = "",
		.again = command_round(evidence, arena),
		.gain = (double)NAN,
		.gain_lo = (double)NAN,
		.gain_hi = (double)NAN,
		.gain_at = (double)NAN,
		.gain_all = (double)NAN,
		.gain_all_lo = (double)NAN,
		.gain_all_hi = (double)NAN,
		.probability = (double)NAN,
		.gain_reason = "no place in the program was named"};
	hotspots_make(evidence, signals, ledger, arena, &rows, &flat);
	hotspots_join_patterns(evidence, signals, arena, &rows, &ret_view->patterns);
	ret_view->hotspots = rows.rows;
	ret_view->hotspot_count = rows.count;
	ret_view->flat = flat.rows;
	ret_view->flat_count = flat.count;
	reasons_fill(ret_view, evidence, arena, &rows);
	reasons_fill(ret_view, evidence, arena, &flat);
	missing_make(evidence, arena, ret_view);
	environment_make(evidence->piece[EVIDENCE_BASELINE].run, arena, ret_view);
	spot = spot_choose(ret_view);
	order = spot ? open_order(ret_view, spot, arena) : NULL;
	if (machine)
		answer_row(machine, evidence, arena, ret_view);
	else if (order)
		answer_noisy(order, evidence, arena, ret_view);
	else if (spot)
		answer_place(spot, evidence, arena, ret_view);
	else
		answer_none(evidence, arena, ret_view);
}
