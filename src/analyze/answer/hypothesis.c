/* hypothesis.c - see hypothesis.h.
 *
 * A condition has three values: true, false, not known.  It is known when all its inputs are; so
 * what was not measured can neither support nor reject anything.  A witness was heard when one of
 * its `supports` rules is known, or a `rejects` rule is true: one that can only reject and does not
 * has told nothing.
 *
 * A witness may rest on a quantity that other mechanisms tell too.  When these do not agree, nobody
 * knows which is right, so the verdict is made again without that witness.  If it is another one,
 * the row is a conflict: what it says hangs on a number in dispute.  If it is the same, the others
 * carry it, and the witness is only heard with its dispute beside it. */
#include "analyze/hypothesis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hypothesis_parts.h"

/* Above this the samples are not to be trusted in either direction. */
#define LOST_MOST 0.01

enum truth { TRUTH_UNKNOWN, TRUTH_FALSE, TRUTH_TRUE };

const char *hypothesis_verdict_word(enum hypothesis_verdict verdict)
{
	static const char *const words[HYPOTHESIS_VERDICTS] = {
		[HYPOTHESIS_UNTESTED] = "untested",
		[HYPOTHESIS_SUPPORTS] = "supports",
		[HYPOTHESIS_REJECTS] = "rejects",
		[HYPOTHESIS_INCONCLUSIVE] = "inconclusive",
		[HYPOTHESIS_CONFLICT] = "conflict",
	};

	return words[verdict];
}

struct judge {
	const struct hypothesis_book *book;
	const struct signals *signals;
	struct arena *arena;
	bool lossy; /* too many samples were lost */
};

/* NAN when a signal is missing or the formula has no result. */
static double formula_over(const struct formula *formula, const struct signals *signals)
{
	mem_auto double *values = mem_new(formula->names_count + 1, sizeof(*values));
	double result = (double)NAN;

	for (uint32_t i = 0; i < formula->names_count; i++) {
		const struct signal *signal = signals_find(signals, formula->names[i]);

		if (!signal || !isfinite(signal->value))
			return (double)NAN;
		values[i] = signal->value;
	}
	(void)formula_value(formula, values, &result);
	return result;
}

static enum truth comparison_truth(
	const struct condition_part *comparison, const struct signals *signals)
{
	double left = formula_over(&comparison->left, signals), right = comparison->number;
	bool holds;

	if (!isfinite(left))
		return TRUTH_UNKNOWN;
	holds = comparison->sign == '>' ? left > right : left < right;
	if (comparison->or_equal)
		holds = comparison->sign == '>' ? left >= right : left <= right;
	return holds ? TRUTH_TRUE : TRUTH_FALSE;
}

/* Not known as soon as one part is not: "no, whatever the rest says" would be a test of half of it.
 */
static enum truth condition_truth(const struct condition *condition, const struct signals *signals)
{
	enum truth all = TRUTH_TRUE;

	for (unsigned i = 0; i < condition->count; i++) {
		enum truth one = comparison_truth(&condition->parts[i], signals);

		if (one == TRUTH_UNKNOWN)
			return TRUTH_UNKNOWN;
		if (one == TRUTH_FALSE)
			all = TRUTH_FALSE;
	}
	return all;
}

const struct condition *conditions_find(const struct condition *conditions, unsigned count,
	const struct signals *signals, bool *tested)
{
	const struct condition *found = NULL;

	for (unsigned i = 0; i < count; i++) {
		enum truth truth = condition_truth(&conditions[i], signals);

		*tested |= truth != TRUTH_UNKNOWN;
		if (truth == TRUTH_TRUE && !found)
			found = &conditions[i];
	}
	return found;
}

/* ---- one witness ---- */

/* A share or a sum of shares: in percent, as the numbers that it is compared with. */
static bool left_is_share(const struct judge *judge, const struct condition_part *c)
{
	bool share = c->left.names_count && !strpbrk(c->words, "*/(");

	for (uint32_t i = 0; share && i < c->left.names_count; i++) {
		const struct signal *one = signals_find(judge->signals, c->left.names[i]);

		share = one && str_equal(one->unit, "share");
	}
	return share;
}

/* "(runq_share >= 10 %, runnable_per_cpu > 1.1 threads per CPU)": the rule that decided. */
static void threshold_add(
	const struct judge *judge, const struct condition *condition, struct str *out)
{
	for (unsigned i = 0; i < condition->count; i++) {
		const struct condition_part *c = &condition->parts[i];

		str_addf(out, "%s%s %c%s ", i ? ", " : " (", c->words, c->sign,
			c->or_equal ? "=" : "");
		words_add_value(c->number, left_is_share(judge, c) ? "share" : "", out);
	}
	str_add(out, ")");
}

static void input_add(const struct signal *signal, struct ledger_witness *witness)
{
	uint32_t seen = 0;

	while (seen < witness->signal_count && witness->signals[seen] != signal)
		seen++;
	if (signal && seen == witness->signal_count)
		witness->signals[witness->signal_count++] = signal;
}

static void inputs_collect(const struct judge *judge, const struct condition *conditions,
	unsigned count, struct ledger_witness *witness)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < conditions[i].count; j++) {
			const struct formula *left = &conditions[i].parts[j].left;

			for (uint32_t k = 0; k < left->names_count; k++)
				input_add(signals_find(judge->signals, left->names[k]), witness);
		}
}

/* The first quantity of a witness that speaks which is told otherwise; its two numbers become
 * inputs, so that they are kept with the verdict. */
static void dispute_find(
	const struct judge *judge, const struct witness_rule *rule, struct ledger_witness *witness)
{
	if (witness->verdict != HYPOTHESIS_SUPPORTS && witness->verdict != HYPOTHESIS_REJECTS)
		return;
	for (unsigned i = 0; !witness->dispute && i < rule->agrees_count; i++)
		witness->dispute = quantity_judge(quantity_find(judge->book, rule->agrees[i].value),
			judge->signals, judge->arena);
	if (!witness->dispute)
		return;
	input_add(witness->dispute->low, witness);
	input_add(witness->dispute->high, witness);
}

static void witness_judge(
	const struct judge *judge, const struct witness_rule *rule, struct ledger_witness *ret)
{
	bool tested = false, ignored = false;
	const struct condition *yes =
		conditions_find(rule->supports, rule->supports_count, judge->signals, &tested);
	const struct condition *no =
		conditions_find(rule->rejects, rule->rejects_count, judge->signals, &ignored);
	str_auto struct str words = {0};

	*ret = (struct ledger_witness){
		.witness = arena_copy(judge->arena, rule->name),
		.verdict = yes && !no	   ? HYPOTHESIS_SUPPORTS
			   : no && !yes	   ? HYPOTHESIS_REJECTS
			   : tested || yes ? HYPOTHESIS_INCONCLUSIVE
					   : HYPOTHESIS_UNTESTED,
		.signals = arena_take(judge->arena, 256 * sizeof(*ret->signals)),
	};
	inputs_collect(judge, rule->supports, rule->supports_count, ret);
	inputs_collect(judge, rule->rejects, rule->rejects_count, ret);
	if (ret->verdict != HYPOTHESIS_UNTESTED)
		str_add(&words, words_expand(rule->says, judge->signals, judge->arena));
	if (yes || no)
		threshold_add(judge, yes ? yes : no, &words);
	if (judge->lossy && str_equal(rule->name, "samples") && (yes || no)) {
		ret->verdict = HYPOTHESIS_INCONCLUSIVE;
		str_add(&words, ", but more than 1 % of the samples were lost");
	}
	ret->words = arena_str(judge->arena, &words);
	dispute_find(judge, rule, ret);
}

/* What the program itself says, when it says something about this explanation. */
static bool claim_judge(
	const struct judge *judge, const struct hypothesis *h, struct ledger_witness *ret)
{
	const struct signal *claim =
		signals_find(judge->signals, arena_format(judge->arena, "claim_%s", h->name));

	if (!claim || !isfinite(claim->value) || claim->value == 0)
		return false;
	*ret = (struct ledger_witness){
		.witness = "program",
		.verdict = claim->value > 0 ? HYPOTHESIS_SUPPORTS : HYPOTHESIS_REJECTS,
		.words = claim->value > 0 ? "the program itself confirms it"
					  : "the program itself denies it",
		.signals = arena_take(judge->arena, sizeof(*ret->signals)),
		.signal_count = 1,
	};
	ret->signals[0] = claim;
	return true;
}

/* ---- one explanation ---- */

/* `disputed`: those with a dispute too. */
static unsigned witnesses_that(
	const struct ledger_row *row, enum hypothesis_verdict verdict, bool disputed)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < row->witness_count; i++)
		count += row->witnesses[i].verdict == verdict &&
			 (disputed || !row->witnesses[i].dispute);
	return count;
}

static enum hypothesis_verdict verdict_of(
	const struct ledger_row *row, unsigned enough, bool disputed)
{
	unsigned yes = witnesses_that(row, HYPOTHESIS_SUPPORTS, disputed);
	unsigned no = witnesses_that(row, HYPOTHESIS_REJECTS, disputed);

	if (yes && enough == 1)
		return HYPOTHESIS_SUPPORTS;
	if (yes && no)
		return HYPOTHESIS_CONFLICT;
	if (yes >= enough)
		return HYPOTHESIS_SUPPORTS;
	if (no)
		return HYPOTHESIS_REJECTS;
	if (yes || witnesses_that(row, HYPOTHESIS_INCONCLUSIVE, disputed))
		return HYPOTHESIS_INCONCLUSIVE;
	return HYPOTHESIS_UNTESTED;
}

/* The verdict of all, or conflict when it hangs on a number in dispute. */
static void verdict_settle(struct ledger_row *row, unsigned enough, struct arena *arena)
{
	bool decided;

	row->verdict = verdict_of(row, enough, true);
	decided = row->verdict == HYPOTHESIS_SUPPORTS || row->verdict == HYPOTHESIS_REJECTS;
	if (decided && verdict_of(row, enough, false) != row->verdict)
		row->verdict = HYPOTHESIS_CONFLICT;
	for (uint32_t i = row->witness_count; i--;) {
		struct ledger_witness *witness = &row->witnesses[i];
		str_auto struct str words = {0};

		if (!witness->dispute)
			continue;
		if (row->verdict == HYPOTHESIS_CONFLICT) {
			row->next = witness->dispute->next; /* the first one's in the end */
			continue;
		}
		str_addf(&words, "%s, but ", witness->words);
		dispute_add_words(witness->dispute, &words);
		witness->words = arena_str(arena, &words);
		if (decided)
			witness->verdict = HYPOTHESIS_INCONCLUSIVE;
	}
}

/* Each quantity in dispute once. */
static void disputes_join(const struct ledger_row *row, struct str *out)
{
	for (uint32_t i = 0; i < row->witness_count; i++) {
		const struct ledger_dispute *dispute = row->witnesses[i].dispute;
		uint32_t seen = 0;

		while (dispute && seen < i &&
			(!row->witnesses[seen].dispute ||
				!str_equal(
					row->witnesses[seen].dispute->quantity, dispute->quantity)))
			seen++;
		if (!dispute || seen < i)
			continue;
		if (out->len)
			str_add(out, "; ");
		dispute_add_words(dispute, out);
		str_addf(out, ", `%s` settles it", dispute->next);
	}
}

/* The words of all witnesses of one verdict: "samples: ...; rusage: ...". */
static void words_join(const struct ledger_row *row, enum hypothesis_verdict verdict,
	const char *before, struct str *out)
{
	bool first = true;

	for (uint32_t i = 0; i < row->witness_count; i++) {
		const struct ledger_witness *witness = &row->witnesses[i];

		if (witness->verdict != verdict || !*witness->words)
			continue;
		if (first)
			str_addf(out, "%s%s", out->len ? "; " : "", before);
		str_addf(out, "%s%s: %s", first ? "" : "; ", witness->witness, witness->words);
		first = false;
	}
}

static const char *why_make(const struct ledger_row *row, struct arena *arena)
{
	str_auto struct str why = {0};

	switch (row->verdict) {
	case HYPOTHESIS_UNTESTED:
		str_addf(&why, "not tested: %s", row->untested);
		break;
	case HYPOTHESIS_SUPPORTS:
		words_join(row, HYPOTHESIS_SUPPORTS, "", &why);
		break;
	case HYPOTHESIS_REJECTS:
		words_join(row, HYPOTHESIS_REJECTS, "", &why);
		break;
	case HYPOTHESIS_CONFLICT:
		disputes_join(row, &why);
		words_join(row, HYPOTHESIS_SUPPORTS, "for it: ", &why);
		words_join(row, HYPOTHESIS_REJECTS, "against it: ", &why);
		break;
	case HYPOTHESIS_INCONCLUSIVE:
	case HYPOTHESIS_VERDICTS:
		words_join(row, HYPOTHESIS_SUPPORTS, "only one method: ", &why);
		words_join(row, HYPOTHESIS_INCONCLUSIVE, "between the limits: ", &why);
		break;
	}
	return arena_str(arena, &why);
}

/* What is missing: the first unknown input of each witness that could not say anything, then what
 * no collector gives yet. */
static const char *untested_make(
	const struct hypothesis *h, const struct ledger_row *row, struct arena *arena)
{
	str_auto struct str text = {0};

	for (uint32_t i = 0; i < row->witness_count; i++) {
		const struct ledger_witness *witness = &row->witnesses[i];

		if (witness->verdict != HYPOTHESIS_UNTESTED)
			continue;
		for (uint32_t j = 0; j < witness->signal_count; j++) {
			const struct signal *signal = witness->signals[j];

			if (isfinite(signal->value) || strstr(str_text(&text), signal->reason))
				continue;
			str_addf(&text, "%s%s: %s", text.len ? "; " : "", signal->name,
				signal->reason);
			break;
		}
	}
	if (*h->missing)
		str_addf(&text, "%s%s", text.len ? "; " : "", h->missing);
	return arena_str(arena, &text);
}

static double share_of(const struct hypothesis *h, const struct signals *signals)
{
	for (unsigned i = 0; i < h->shares_count; i++) {
		double share = formula_over(&h->shares[i], signals);

		if (isfinite(share))
			return fmax(0, fmin(share, 1));
	}
	return (double)NAN;
}

static bool is_of_counters(const struct ledger_witness *witness)
{
	return str_equal(witness->witness, "simulation") || str_equal(witness->witness, "pmu");
}

static void decider_choose(struct ledger_row *row)
{
	const struct ledger_witness *first = NULL, *open = NULL;

	for (uint32_t i = 0; i < row->witness_count && !row->by_counters; i++) {
		const struct ledger_witness *witness = &row->witnesses[i];
		bool decided = witness->verdict == row->verdict;

		row->by_counters = decided && is_of_counters(witness);
		if (decided && (row->by_counters || !first))
			first = witness;
		if (witness->verdict == HYPOTHESIS_SUPPORTS)
			open = witness;
	}
	row->decider = first ? first : open;
	row->by_counters = row->decider && is_of_counters(row->decider);
}

static void row_make(const struct judge *judge, const struct hypothesis *h, struct ledger_row *row)
{
	struct arena *arena = judge->arena;

	*row = (struct ledger_row){
		.name = arena_copy(arena, h->name),
		.title = arena_copy(arena, h->title),
		.category = arena_copy(arena, h->category),
		.advice = arena_copy(arena, h->advice),
		.falsifier = arena_copy(arena, h->falsifier),
		.next = arena_copy(arena, h->next),
		.share = share_of(h, judge->signals),
		.effort = h->effort,
		.is_place = h->is_place,
		.is_aside = h->is_aside,
		.witnesses = arena_take(arena, (h->witness_count + 1) * sizeof(*row->witnesses)),
	};
	for (unsigned i = 0; i < h->witness_count; i++)
		witness_judge(judge, &h->witnesses[i], &row->witnesses[row->witness_count++]);
	row->witness_count += claim_judge(judge, h, &row->witnesses[row->witness_count]);
	verdict_settle(row, h->enough, arena);
	/* What a disputed number says is impossible may not be. */
	row->is_impossible = h->needs.count && row->verdict != HYPOTHESIS_CONFLICT &&
			     condition_truth(&h->needs, judge->signals) == TRUTH_FALSE;
	if (row->is_impossible)
		row->verdict = HYPOTHESIS_REJECTS;
	row->untested = untested_make(h, row, arena);
	row->why = why_make(row, arena);
	decider_choose(row);
}

/* ---- all ---- */

static int verdict_rank(enum hypothesis_verdict verdict)
{
	static const int ranks[HYPOTHESIS_VERDICTS] = {
		[HYPOTHESIS_SUPPORTS] = 0,
		[HYPOTHESIS_CONFLICT] = 1,
		[HYPOTHESIS_INCONCLUSIVE] = 2,
		[HYPOTHESIS_UNTESTED] = 3,
		[HYPOTHESIS_REJECTS] = 4,
	};

	return ranks[verdict];
}

/* What says why stands before what says only where, and before the noise. */
static int role_rank(const struct ledger_row *row)
{
	return str_equal(row->category, "noise") ? 2 : row->is_place;
}

static int by_verdict(const void *a, const void *b)
{
	const struct ledger_row *x = a, *y = b;
	int rank = verdict_rank(x->verdict) - verdict_rank(y->verdict);
	double share_x = isnan(x->share) ? -1 : x->share, share_y = isnan(y->share) ? -1 : y->share;

	if (rank)
		return rank;
	if (role_rank(x) != role_rank(y))
		return role_rank(x) - role_rank(y);
	if (share_x != share_y)
		return share_x > share_y ? -1 : 1;
	return strcmp(x->name, y->name);
}

void ledger_evaluate(const struct hypothesis_book *book, const struct signals *signals,
	struct arena *arena, struct ledger_view *ret_view)
{
	const struct signal *lost = signals_find(signals, "lost_samples");
	const struct judge judge = {book, signals, arena, lost && lost->value > LOST_MOST};
	struct ledger_view view = {0};

	view.rows = arena_take(arena, (book->rows.count + 1) * sizeof(*view.rows));
	vec_foreach (const struct hypothesis, h, &book->rows) {
		struct ledger_row *row = &view.rows[view.count++];

		row_make(&judge, h, row);
		view.noisy |=
			str_equal(row->category, "noise") && row->verdict == HYPOTHESIS_SUPPORTS;
	}
	for (uint32_t i = 0; i < view.count; i++)
		view.rows[i].noisy = view.noisy && !str_equal(view.rows[i].category, "noise");
	if (view.count)
		qsort(view.rows, view.count, sizeof(*view.rows), by_verdict);
	*ret_view = view;
}
