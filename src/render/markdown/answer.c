/* answer.c - report.md: two pages for a person, and hotspot_table.md.
 *
 * Numbers that nobody reads twice stay out: every one of them stands in queries.sql with the query
 * that gives it, every explanation in hypothesis.md, every place in hotspot_table.md. */
#include "render/markdown.h"

#include <math.h>
#include <string.h>

#include "render/answer.h"

enum { RECOMMENDED = 3 };

static void share_add(struct str *out, const struct hotspot *spot)
{
	if (isnan(spot->value)) /* waits are not sampled */
		str_add(out, "not measured");
	else
		markdown_add_cells(out, "%.1f %% of the %s", 100 * spot->value, spot->metric);
}

static void hotspot_row(struct str *out, const struct hotspot *spot)
{
	str_addf(out, "| %u | ", spot->rank);
	markdown_code(out, spot->location, true);
	str_add(out, " ");
	markdown_code(out, spot->function, true);
	str_add(out, " | ");
	hotspot_kinds(out, spot);
	str_add(out, " | ");
	share_add(out, spot);
	str_add(out, " | ");
	if (!isnan(spot->gain))
		answer_gain(out, spot);
	else if (spot->open_at > 0)
		hotspot_open(out, spot);
	else
		str_add(out, spot->is_paced ? "not known" : "not tried");
	str_add(out, " | ");
	hotspot_agreement(out, spot);
	str_add(out, spot->agree ? ": " : "");
	hotspot_mechanisms(out, spot);
	str_addf(out, " | %.1f |\n", spot->score);
}

static void chain_add(struct str *out, const struct hotspot *spot)
{
	str_auto struct str chain = {0};

	hotspot_chain(&chain, spot);
	markdown_code(out, str_text(&chain), false);
}

/* Who leads to each place, with the shares of the CPU time below each function. */
static void chains(struct str *out, const struct hotspot *rows, uint32_t count)
{
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		if (rows[i].chain_count < 2)
			continue;
		if (!any)
			str_add(out, "\nReached through (the place in brackets; CPU time with all "
				     "that is called):\n\n");
		any = true;
		str_addf(out, "%u. ", rows[i].rank);
		chain_add(out, &rows[i]);
		str_add(out, "\n");
	}
}

static void hotspot_rows(struct str *out, const struct hotspot *rows, uint32_t count)
{
	str_add(out, "| Rank | Place | Kind | Share | Gain | Agree | Score |\n"
		     "|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < count; i++)
		hotspot_row(out, &rows[i]);
	chains(out, rows, count);
}

void hotspot_markdown(struct str *out, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	str_add(out, "# Hotspots of ");
	markdown_code(out, page->target, false);
	str_add(out, "\n\n");
	hotspot_rows(out, view->hotspots, view->hotspot_count);
	if (view->flat_count) {
		str_add(out, "\n## Hot, but not worth changing\n\n");
		hotspot_rows(out, view->flat, view->flat_count);
	}
	str_add(out,
		"\nScore = impact x confidence / effort; act on what scores 2.0 or more, or has a "
		"proven gain of 5 % or more. Change one thing at a time. queries.sql has every "
		"number that has a query; gains: `assay causal --show causal.assay`.\n");
}

/* ---- report.md ---- */

static void summary(struct str *out, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	markdown_add(out, "\n## Summary\n\n**%s**\n\n- Gain: ", view->sentence);
	if (isnan(view->gain) || !view->first)
		markdown_add(out, "not known: %s", view->gain_reason);
	else
		answer_gain(out, view->first);
	if (view->first && view->first->chain_count > 1) {
		str_add(out, "\n- Chain: ");
		chain_add(out, view->first);
	}
	str_addf(out, "\n- How sure: %s", view->confidence ? view->confidence : "low");
	if (view->first) {
		str_auto struct str mechanisms = {0};

		hotspot_mechanisms(&mechanisms, view->first);
		str_add(out, "; independent methods that agree: ");
		hotspot_agreement(out, view->first);
		if (mechanisms.len)
			str_addf(out, " (%s)", mechanisms.at);
	}
	if (view->confidence_reason)
		str_addf(out, "; %s", view->confidence_reason);
	if (*view->refute)
		markdown_add(out, "\n- Refuted by: %s", view->refute);
	str_add(out, "\n- Next: ");
	markdown_code(out, view->next, false);
	str_add(out, page->partial ? "\n- Partial: the job was interrupted.\n" : "\n");
}

static void places(struct str *out, const struct answer_view *view)
{
	uint32_t shown =
		view->hotspot_count < ANSWER_ROWS_SHOWN ? view->hotspot_count : ANSWER_ROWS_SHOWN;

	str_add(out, "\n## Hotspots\n\n");
	if (shown)
		hotspot_rows(out, view->hotspots, shown);
	else
		str_add(out, "None found.\n");
	if (view->flat_count)
		str_add(out, "\nHot, but not worth changing:\n\n");
	for (uint32_t i = 0; i < view->flat_count && i < ANSWER_FLAT_SHOWN; i++) {
		const struct hotspot *spot = &view->flat[i];

		str_add(out, "- ");
		markdown_code(out, spot->location, false);
		str_add(out, " ");
		markdown_code(out, spot->function, false);
		str_add(out, ": ");
		if (!isnan(spot->value)) {
			share_add(out, spot);
			str_add(out, ", ");
		}
		str_add(out, "gain ");
		answer_gain(out, spot);
		str_add(out, "\n");
	}
	if (shown < view->hotspot_count || view->flat_count > ANSWER_FLAT_SHOWN)
		str_add(out, "\nThe others are in hotspot_table.md.\n");
}

/* One line: what was tried, and the number that decided it. */
static void tried_row(struct str *out, const struct ledger_row *row)
{
	const struct ledger_witness *witness = row->decider;

	if (row->verdict == HYPOTHESIS_UNTESTED)
		markdown_add(out, "- %s: %s\n", row->title, row->untested);
	else if (row->verdict == HYPOTHESIS_CONFLICT || !witness)
		markdown_add(out, "- %s: %s\n", row->title, row->why);
	else
		markdown_add(out, "- %s: %s [%s]\n", row->title, witness->words, witness->witness);
}

enum decider { BY_ANY, BY_COUNTERS, BY_OTHERS };

static void tried(struct str *out, const struct ledger_view *ledger,
	enum hypothesis_verdict verdict, enum decider by, const char *title)
{
	bool any = false;

	for (uint32_t i = 0; ledger && i < ledger->count; i++) {
		const struct ledger_row *row = &ledger->rows[i];

		if (row->verdict != verdict || row->is_impossible ||
			(by != BY_ANY && row->by_counters != (by == BY_COUNTERS)))
			continue;
		if (!any)
			str_addf(out, "\n%s:\n\n", title);
		any = true;
		tried_row(out, row);
	}
}

/* What the counters say of each place: the stand-in of a top-down tree. */
static void work_kinds(struct str *out, const struct answer_page *page)
{
	const struct evidence_piece *counters = &page->evidence->piece[EVIDENCE_COUNTERS];
	bool any = false;

	for (uint32_t i = 0; i < page->view->hotspot_count; i++) {
		const struct hotspot *spot = &page->view->hotspots[i];

		for (uint32_t j = 0; j < spot->evidence_count; j++) {
			if (strcmp(spot->evidence[j].mechanism, "simulation") != 0)
				continue;
			str_add(out, any ? "- " : "\nThe counters, by place:\n\n- ");
			markdown_code(out, spot->function, false);
			markdown_add(out, ": %s\n", spot->evidence[j].words);
			any = true;
		}
	}
	if (any)
		str_add(out, "\nThese counts are simulated. Not simulated: prefetching, overlap, "
			     "TLBs, the kernel.\n");
	else if (!counters->run)
		markdown_add(out, "\nThere are no counters: %s.\n", counters->reason);
	else
		str_add(out, "\nThe counters ran, but do not explain any hot place.\n");
}

static void causes(struct str *out, const struct answer_page *page)
{
	const struct ledger_view *ledger = page->view->ledger;

	markdown_add(out, "\n## Why it is slow there\n\n%s\n",
		page->view->cause ? page->view->cause
				  : "Unknown: no explanation of this place is supported.");
	work_kinds(out, page);
	tried(out, ledger, HYPOTHESIS_SUPPORTS, BY_ANY, "Supported");
	tried(out, ledger, HYPOTHESIS_CONFLICT, BY_ANY, "Methods contradict each other");
	tried(out, ledger, HYPOTHESIS_REJECTS, BY_COUNTERS, "Excluded by the counters");
	tried(out, ledger, HYPOTHESIS_REJECTS, BY_OTHERS, "Excluded by other numbers");
	tried(out, ledger, HYPOTHESIS_INCONCLUSIVE, BY_ANY,
		"Undecided (between the limits, or only one method)");
	tried(out, ledger, HYPOTHESIS_UNTESTED, BY_ANY, "Not tested");
	str_add(out, "\nhypothesis.md has the evidence of every method, and what would refute each "
		     "explanation.\n");
}

static void experiments(struct str *out, const struct answer_page *page)
{
	const struct evidence_piece *causal = &page->evidence->piece[EVIDENCE_CAUSAL];
	const struct answer_view *view = page->view;
	bool any = false;

	str_add(out, "\n## Experiments\n\n");
	for (uint32_t i = 0; i < view->hotspot_count; i++)
		for (uint32_t j = 0; j < view->hotspots[i].evidence_count; j++) {
			const struct hotspot_evidence *e = &view->hotspots[i].evidence[j];

			if (strcmp(e->mechanism, "experiments") != 0)
				continue;
			markdown_add(out, "- %s\n", e->words);
			any = true;
		}
	if (!any && causal->run)
		str_add(out, "None shows a gain.\n");
	else if (!any)
		markdown_add(out, "Not made: %s\n", causal->reason);
}

static void recommendations(struct str *out, const struct answer_view *view)
{
	uint32_t number = 0;

	str_add(out, "\n## Recommendations\n\n");
	for (uint32_t i = 0; i < view->hotspot_count && number < RECOMMENDED; i++) {
		const struct hotspot *spot = &view->hotspots[i];
		const char *advice = hotspot_advice(spot);

		if (!hotspot_is_worth(spot->score, hotspot_proven_gain(spot)) &&
			spot != view->first)
			continue;
		str_addf(out, "%u. ", ++number);
		markdown_code(out, spot->location, false);
		markdown_add(out, " (%s): %s. Expected: ", hotspot_category_word(spot->category),
			*advice ? advice : "do less there, or do it less often");
		if (!isnan(spot->gain)) {
			answer_gain(out, spot);
		} else if (isnan(spot->value)) {
			str_add(out, "unknown");
		} else {
			str_add(out, "unknown; at most its share, ");
			share_add(out, spot);
		}
		str_add(out, ".\n");
	}
	if (!number && view->because)
		markdown_add(out, "1. %s: %s.\n", view->because->title, view->because->advice);
	else if (!number)
		str_add(out, "None: nothing measured is worth changing.\n");
	str_add(out, "\nChange one thing, then ");
	markdown_code(out, view->again, false);
	str_add(out, ". It compares the gain with the prediction above, and the output with that "
		     "of this run.\n");
}

static void missing(struct str *out, const struct answer_view *view)
{
	bool later = false;

	str_add(out, "\n## Not measured\n\n");
	for (uint32_t i = 0; i < view->missing_count; i++) {
		const struct answer_missing *m = &view->missing[i];

		if (!m->not_yet)
			markdown_add(out, "- %s: %s%s%s\n", m->what, m->reason, *m->fix ? "; " : "",
				m->fix);
	}
	for (uint32_t i = 0; i < view->missing_count; i++)
		if (view->missing[i].not_yet) {
			str_add(out, later ? "; " : "- ");
			markdown_add(out, "%s", view->missing[i].what);
			later = true;
		}
	if (later)
		markdown_add(out, ": %s\n", answer_not_yet);
}

static void environment(struct str *out, const struct answer_view *view)
{
	str_add(out, "\n## Machine\n\n");
	if (!view->environment_count) {
		str_add(out, "Not recorded: there is no baseline. fingerprint.json describes the "
			     "machine.\n");
		return;
	}
	for (uint32_t i = 0; i < view->environment_count; i++)
		markdown_add(out, "%s%s %s", i ? ", " : "", view->environment[i].name,
			view->environment[i].value);
	markdown_add(
		out, ".\nFingerprint %s; all fields are in fingerprint.json.\n", view->fingerprint);
}

void answer_markdown(struct str *out, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	str_add(out, "# Performance of ");
	markdown_code(out, page->target, false);
	markdown_add(out,
		"\n\nRun %s. queries.sql has every number that has a query; gains: `assay causal "
		"--show causal.assay`. report.json has all of this for programs.\n",
		page->run_id);
	summary(out, page);
	if (page->round)
		round_markdown(out, page->round);
	places(out, view);
	causes(out, page);
	experiments(out, page);
	recommendations(out, view);
	missing(out, view);
	environment(out, view);
}
