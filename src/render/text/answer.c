/* answer.c - one screen: what to change first, where, why, what it would gain, how sure that is,
 * what would refute it, and the next command; then the table it was chosen from. */
#include "render/answer.h"

#include <math.h>
#include <string.h>

#include "analyze/algorithm.h"
#include "base/arena.h"
#include "render/shorten.h"

enum { EXPLAINED_SHOWN = 4, LABEL_WIDTH = 12, FUNCTION_WIDTH = 32 };
#define KIND_SHOWN 0.01 /* of the CPU time */

void signal_value(struct str *out, const struct signal *signal)
{
	char buf[64];

	if (isnan(signal->value))
		str_add(out, "not measured");
	else if (strcmp(signal->unit, "share") == 0)
		str_addf(out, "%.1f %%", 100 * signal->value);
	else if (strcmp(signal->unit, "ns") == 0)
		str_add(out, paper_time(buf, sizeof(buf), signal->value));
	else if (strcmp(signal->unit, "bytes") == 0)
		str_add(out, paper_bytes(buf, sizeof(buf), signal->value));
	else
		str_addf(out, "%.4g%s%s", signal->value, *signal->unit ? " " : "", signal->unit);
}

void answer_gain(struct str *out, const struct hotspot *spot)
{
	str_addf(out, "%.1f %% (%.1f to %.1f) when it is %.0f %% faster", 100 * spot->gain,
		100 * spot->gain_lo, 100 * spot->gain_hi, 100 * spot->gain_at);
	if (spot->gain_source && !isnan(spot->gain_all) && spot->gain_at < 1)
		str_addf(out, ", %.1f %% (%.1f to %.1f) when all of the work is gone",
			100 * spot->gain_all, 100 * spot->gain_all_lo, 100 * spot->gain_all_hi);
	if (spot->gain_source && spot->gain_all_source != spot->gain_source &&
		*gain_source_note(spot->gain_all_source))
		str_addf(out, " (%s)", gain_source_note(spot->gain_all_source));
	if (*gain_source_note(spot->gain_source))
		str_addf(out, "; %s", gain_source_note(spot->gain_source));
	if (spot->gain_all_note && !isnan(spot->gain_all))
		str_addf(out, "; %s", spot->gain_all_note);
	if (spot->gain_doubt)
		str_addf(out, "; %s", spot->gain_doubt);
}

/* The work that counts gave a closer name is the CPU time. */
const char *hotspot_kind_word(const struct hotspot *spot, const struct hotspot_kind *kind)
{
	bool is_closer = spot->category == HOTSPOT_BRANCH || spot->category == HOTSPOT_MEMORY ||
			 spot->category == HOTSPOT_LOCK;

	for (uint32_t i = 0; i < spot->kind_count; i++)
		is_closer &= spot->kinds[i].category != spot->category;
	return hotspot_category_word(
		kind->category == HOTSPOT_CPU && is_closer ? spot->category : kind->category);
}

/* "CPU", "CPU 60 %, allocation 20 %". */
void hotspot_kinds(struct str *out, const struct hotspot *spot)
{
	uint32_t shown = 0;

	while (shown < spot->kind_count && spot->kinds[shown].share >= KIND_SHOWN)
		shown++;
	if (shown < 2) {
		str_add(out, hotspot_category_word(spot->category));
		return;
	}
	for (uint32_t i = 0; i < shown; i++)
		str_addf(out, "%s%s %.0f %%", i ? ", " : "",
			hotspot_kind_word(spot, &spot->kinds[i]), 100 * spot->kinds[i].share);
}

/* "S_inner() 95 % <- [parse() 97 %] <- main() 100 %": the place in brackets. */
void hotspot_chain(struct str *out, const struct hotspot *spot)
{
	arena_auto struct arena arena = {0};

	for (uint32_t i = 0; i < spot->chain_count; i++) {
		const struct hotspot_link *link = &spot->chain[i];
		bool here = i == spot->chain_place;

		str_addf(out, "%s%s%s %.0f %%", i ? " <- " : "", here ? "[" : "", link->call,
			100 * link->total);
		if (link->entries == 1)
			str_add(out, ", entered once");
		else if (!isnan(link->entries))
			str_addf(out, ", entered %s times",
				algorithm_count_words(link->entries, &arena));
		str_add(out, here ? "]" : "");
	}
}

/* "open (-3.1 to 12.0)": experiments were made and do not tell. */
void hotspot_open(struct str *out, const struct hotspot *spot)
{
	if (spot->open_at > 0)
		str_add(out, "open");
	if (spot->open_at > 0 && !isnan(spot->open_hi))
		str_addf(out, " (%.1f to %.1f)", 100 * spot->open_lo, 100 * spot->open_hi);
}

static void hotspot_gain(struct str *out, const struct hotspot *spot)
{
	if (isnan(spot->gain)) {
		hotspot_open(out, spot);
		return;
	}
	str_addf(out, "%.1f (%.1f to %.1f)", 100 * spot->gain, 100 * spot->gain_lo,
		100 * spot->gain_hi);
}

/* "3 of 3", "2 of 3 disputed", "1 of 3". */
void hotspot_agreement(struct str *out, const struct hotspot *spot)
{
	str_addf(out, "%u of %u", spot->agree, spot->asked);
	if (spot->agree > 1 && spot->agree < spot->asked)
		str_add(out, " disputed");
}

/* What counts once agrees only when all of it does. */
static bool timed_objects(const struct hotspot *spot)
{
	bool objects = false;

	for (uint32_t i = 0; spot->counts_once && i < spot->evidence_count; i++)
		objects |= hotspot_is_timed(&spot->evidence[i]) && !spot->evidence[i].agrees;
	return objects;
}

/* "samples, experiments", or "samples + experiments, simulation" where the first two are one; ""
 * when none agrees. */
void hotspot_mechanisms(struct str *out, const struct hotspot *spot)
{
	const bool objects = timed_objects(spot);
	const char *between = "";

	for (unsigned timed = 2; timed-- > 0;) {
		for (uint32_t i = 0; i < spot->evidence_count; i++) {
			const struct hotspot_evidence *evidence = &spot->evidence[i];

			if (!evidence->agrees || (objects && hotspot_is_timed(evidence)) ||
				(spot->counts_once ? hotspot_is_timed(evidence) != timed : !timed))
				continue;
			str_addf(out, "%s%s", between, evidence->mechanism);
			between = spot->counts_once && timed ? " + " : ", ";
		}
		between = *between ? ", " : "";
	}
}

static uint32_t ledger_count(const struct ledger_view *ledger, enum hypothesis_verdict verdict)
{
	uint32_t count = 0;

	for (uint32_t i = 0; ledger && i < ledger->count; i++)
		count += ledger->rows[i].verdict == verdict && !ledger->rows[i].is_impossible;
	return count;
}

static void labelled(struct paper *paper, const char *label, const char *text)
{
	str_auto struct str line = {0};

	if (!text || !*text)
		return;
	paper_ink(paper, INK_DIM, "  %-*s", LABEL_WIDTH, label);
	str_add(&line, text);
	/* The first line stands behind the label, the others below it. */
	paper_hang(paper, LABEL_WIDTH + 2, line.at);
}

static const char *heading(enum answer_kind kind)
{
	static const char *const words[] = {
		[ANSWER_CHANGE] = "Change first",
		[ANSWER_NOTHING] = "Nothing stands out",
		[ANSWER_NOISY] = "Too noisy to tell",
		[ANSWER_NOT_MEASURED] = "Not measured",
	};

	return words[kind];
}

static void sure_words(const struct answer_view *view, struct str *out)
{
	str_addf(out, "%s", view->confidence ? view->confidence : "low");
	if (view->first) {
		str_auto struct str mechanisms = {0};

		hotspot_mechanisms(&mechanisms, view->first);
		str_add(out, ": ");
		hotspot_agreement(out, view->first);
		str_add(out, " independent methods agree");
		if (mechanisms.len)
			str_addf(out, " (%s)", mechanisms.at);
	}
	if (view->confidence_reason)
		str_addf(out, "; %s", view->confidence_reason);
}

static void answer_words(struct paper *paper, const struct answer_view *view)
{
	str_auto struct str gain = {0}, sure = {0}, chain = {0};
	const struct hotspot *spot = view->first;

	paper_ink(paper, INK_BOLD, "%s",
		!spot		    ? heading(view->kind)
		: spot->has_no_name ? "No names"
		: *spot->library    ? "First look at the calls to"
				    : heading(view->kind));
	if (spot && !spot->has_no_name) {
		paper_ink(paper, INK_GOOD, "  %s", spot->location);
		if (*spot->function && spot->line)
			paper_add(paper, "  %s", spot->call);
	}
	paper_add(paper, "\n");
	labelled(paper, "answer", view->sentence);
	if (spot && spot->chain_count > 1) {
		hotspot_chain(&chain, spot);
		labelled(paper, "chain", chain.at);
	}
	labelled(paper, "why", view->why);
	if (spot && !isnan(view->gain)) {
		answer_gain(&gain, spot);
		labelled(paper, "gain", gain.at);
	} else if (view->kind == ANSWER_CHANGE) {
		str_addf(&gain, "not known: %s", view->gain_reason);
		labelled(paper, "gain", gain.at);
	}
	if (spot && spot->has_no_name)
		labelled(paper, "do",
			"install its debug symbols (on Debian the package NAME-dbgsym), or build "
			"it with -g and without strip");
	else if (*answer_advice(view))
		labelled(paper, "do", answer_advice(view));
	sure_words(view, &sure);
	labelled(paper, "how sure", str_text(&sure));
	labelled(paper, "refuted by", view->refute);
}

static void hotspot_rows(struct paper *paper, const struct hotspot *rows, uint32_t count)
{
	table_auto struct table table = {0};

	table_columns(&table, ">rank", "where", "function", "kind", ">share", ">gain, %", "agree",
		">score");
	for (uint32_t i = 0; i < count; i++) {
		str_auto struct str gain = {0}, agree = {0}, name = {0}, kinds = {0};

		hotspot_kinds(&kinds, &rows[i]);
		if (rows[i].line) /* else it stands in the column before */
			name_shorten(rows[i].call, FUNCTION_WIDTH, &name);
		hotspot_gain(&gain, &rows[i]);
		hotspot_agreement(&agree, &rows[i]);
		table_cell(&table, INK_PLAIN, "%u", rows[i].rank);
		table_cell(&table, INK_PLAIN, "%s", rows[i].location);
		table_cell(&table, INK_PLAIN, "%s", str_text(&name));
		table_cell(&table, INK_PLAIN, "%s", str_text(&kinds));
		if (isnan(rows[i].value))
			table_cell(&table, INK_DIM, "?");
		else
			table_cell(&table, INK_PLAIN, "%.0f %%", 100 * rows[i].value);
		table_cell(&table, INK_PLAIN, "%s", str_text(&gain));
		table_cell(&table, INK_PLAIN, "%s", str_text(&agree));
		table_cell(&table, INK_PLAIN, "%.1f", rows[i].score);
	}
	table_print(&table, paper, 2);
}

static void flat_words(struct paper *paper, const struct answer_view *view)
{
	if (!view->flat_count)
		return;
	paper_ink(paper, INK_BOLD, "\nHot, but not worth changing\n");
	for (uint32_t i = 0; i < view->flat_count && i < ANSWER_FLAT_SHOWN; i++) {
		const struct hotspot *spot = &view->flat[i];

		paper_add(paper, "  %s  %s  ", spot->location, spot->call);
		if (!isnan(spot->value)) /* waits are not sampled */
			paper_add(paper, "%.0f %% of the %s, ", 100 * spot->value, spot->metric);
		paper_add(paper, "gain %.1f %% (%.1f to %.1f)\n", 100 * spot->gain,
			100 * spot->gain_lo, 100 * spot->gain_hi);
	}
}

static void ledger_words(struct paper *paper, const struct ledger_view *ledger)
{
	uint32_t shown = 0;

	if (!ledger)
		return;
	paper_ink(paper, INK_BOLD, "\nExplanations\n");
	for (uint32_t i = 0; i < ledger->count && shown < EXPLAINED_SHOWN; i++) {
		const struct ledger_row *row = &ledger->rows[i];
		str_auto struct str line = {0};

		if (row->verdict != HYPOTHESIS_SUPPORTS && row->verdict != HYPOTHESIS_CONFLICT)
			continue;
		str_addf(&line, "%s: %s", row->title, row->why);
		paper_add(paper, "  %-9s", hypothesis_verdict_word(row->verdict));
		paper_hang(paper, 11, line.at);
		shown++;
	}
	paper_add(paper,
		"  %u supported, %u in conflict, %u rejected, %u inconclusive, %u untested\n",
		ledger_count(ledger, HYPOTHESIS_SUPPORTS),
		ledger_count(ledger, HYPOTHESIS_CONFLICT), ledger_count(ledger, HYPOTHESIS_REJECTS),
		ledger_count(ledger, HYPOTHESIS_INCONCLUSIVE),
		ledger_count(ledger, HYPOTHESIS_UNTESTED));
}

static void missing_words(struct paper *paper, const struct answer_view *view)
{
	str_auto struct str later = {0};

	paper_ink(paper, INK_BOLD, "\nNot measured\n");
	for (uint32_t i = 0; i < view->missing_count; i++) {
		str_auto struct str line = {0};
		const struct answer_missing *m = &view->missing[i];

		if (m->not_yet) {
			str_addf(&later, "%s%s", later.len ? "; " : "", m->what);
			continue;
		}
		str_addf(&line, "%s: %s%s%s", m->what, m->reason, *m->fix ? "; " : "", m->fix);
		paper_wrap(paper, 2, INK_PLAIN, line.at);
	}
	if (later.len) {
		str_addf(&later, ": %s", answer_not_yet);
		paper_wrap(paper, 2, INK_DIM, later.at);
	}
}

void answer_text(struct paper *paper, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	answer_words(paper, view);
	if (view->hotspot_count) {
		paper_add(paper, "\n");
		hotspot_rows(paper, view->hotspots,
			view->hotspot_count < ANSWER_ROWS_SHOWN ? view->hotspot_count
								: ANSWER_ROWS_SHOWN);
	}
	flat_words(paper, view);
	ledger_words(paper, view->ledger);
	missing_words(paper, view);
	paper_add(paper, "\n");
	if (page->partial)
		labelled(paper, "partial", "interrupted; this is what was measured until then");
	paper_ink(paper, INK_BOLD, "  %-*s", LABEL_WIDTH, "next");
	paper_add(paper, "%s\n", view->next);
}

static void agent_gain(struct paper *paper, const struct answer_view *view)
{
	str_auto struct str chain = {0};

	if (view->first && view->first->chain_count > 1) {
		hotspot_chain(&chain, view->first);
		paper_add(paper, "chain: %s\n", chain.at);
	}
	if (isnan(view->gain)) {
		paper_add(paper, "gain: not known (%s)\n", view->gain_reason);
		return;
	}
	paper_add(paper, "gain: %.1f %% [%.1f, %.1f] at %.0f %% faster", 100 * view->gain,
		100 * view->gain_lo, 100 * view->gain_hi, 100 * view->gain_at);
	if (!isnan(view->gain_all) && view->gain_at < 1)
		paper_add(paper, ", %.1f %% [%.1f, %.1f] when all of the work is gone",
			100 * view->gain_all, 100 * view->gain_all_lo, 100 * view->gain_all_hi);
	if (view->gain_all_source != view->gain_source && *gain_source_note(view->gain_all_source))
		paper_add(paper, " (%s)", gain_source_note(view->gain_all_source));
	paper_add(paper, "%s%s\n", *gain_source_note(view->gain_source) ? "; " : "",
		gain_source_note(view->gain_source));
	if (view->gain_all_note && !isnan(view->gain_all))
		paper_add(paper, "bounds: %s\n", view->gain_all_note);
	if (view->gain_doubt)
		paper_add(paper, "doubt: %s\n", view->gain_doubt);
}

static void agent_rows(struct paper *paper, const struct answer_view *view)
{
	for (uint32_t i = 0; i < view->hotspot_count && i < ANSWER_ROWS_SHOWN; i++) {
		const struct hotspot *spot = &view->hotspots[i];
		str_auto struct str kinds = {0};

		hotspot_kinds(&kinds, spot);
		paper_add(paper, "%u. %s %s %s ", spot->rank, spot->location, spot->call,
			str_text(&kinds));
		if (isnan(spot->value))
			paper_add(paper, "share not measured");
		else
			paper_add(paper, "%.0f %%", 100 * spot->value);
		paper_add(
			paper, " agree %u/%u score %.1f\n", spot->agree, spot->asked, spot->score);
	}
}

void answer_agent(struct paper *paper, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	paper_add(paper, "answer: %s\n", answer_kind_word(view->kind));
	paper_add(paper, "say: %s\n", view->sentence);
	if (view->first)
		paper_add(paper, "where: %s %s %s\n", view->first->location, view->first->call,
			view->first->file);
	if (*view->why)
		paper_add(paper, "why: %s\n", view->why);
	agent_gain(paper, view);
	paper_add(paper, "confidence: %s%s%s\n", view->confidence ? view->confidence : "low",
		view->confidence_reason ? "; " : "",
		view->confidence_reason ? view->confidence_reason : "");
	if (*view->refute)
		paper_add(paper, "refuted by: %s\n", view->refute);
	agent_rows(paper, view);
	for (uint32_t i = 0; i < view->flat_count && i < ANSWER_FLAT_SHOWN; i++)
		paper_add(paper, "not worth changing: %s %s\n", view->flat[i].location,
			view->flat[i].call);
	for (uint32_t i = 0; view->ledger && i < view->ledger->count && i < 8; i++) {
		const struct ledger_row *row = &view->ledger->rows[i];

		if (row->verdict == HYPOTHESIS_SUPPORTS || row->verdict == HYPOTHESIS_CONFLICT)
			paper_add(paper, "%s %s: %s\n", hypothesis_verdict_word(row->verdict),
				row->name, row->why);
	}
	paper_add(paper, "untested: %u explanations; not measured: %u (see report.md)\n",
		ledger_count(view->ledger, HYPOTHESIS_UNTESTED), view->missing_count);
	if (page->partial)
		paper_add(paper, "partial: it was interrupted\n");
	paper_add(paper, "evidence: %s\nnext: %s\n", page->directory, view->next);
}
