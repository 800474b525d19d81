/* answer.c - report.md and hotspot_table.md.
 *
 * Every number that was measured stands once more in the last table with its file and the query
 * that gives it; bounds come from `assay causal --show`, which the table names. */
#include "render/markdown.h"

#include <math.h>
#include <string.h>

#include "render/answer.h"

/* A text of ours or of a run inside a cell: no line ends, no bars. */
static void cell(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			str_add_char(out, '\\');
		str_add_char(out, *text == '\n' || *text == '\r' ? ' ' : *text);
	}
}

static void hotspot_row(struct str *out, const struct hotspot *spot)
{
	str_addf(out, "| %u | ", spot->rank);
	markdown_code(out, spot->location, true);
	str_add(out, " ");
	markdown_code(out, spot->function, true);
	str_addf(out, " | %s | ", spot->metric);
	if (isnan(spot->value))
		str_add(out, "not measured");
	else
		str_addf(out, "%.1f %%", 100 * spot->value);
	str_addf(out, " | %s | ", hotspot_category_word(spot->category));
	if (isnan(spot->gain))
		str_add(out, "not tried");
	else
		str_addf(out, "%.1f %% (%.1f to %.1f) at %.0f %%", 100 * spot->gain,
			100 * spot->gain_lo, 100 * spot->gain_hi, 100 * spot->gain_at);
	str_add(out, " | ");
	hotspot_agreement(out, spot);
	str_addf(out, " | %.1f | ", spot->score);
	for (uint32_t i = 0; i < spot->evidence_count; i++) {
		str_add(out, i ? "; " : "");
		str_addf(out, "%s ", spot->evidence[i].mechanism);
		markdown_code(out, spot->evidence[i].path, true);
	}
	str_add(out, " |\n");
}

static void hotspot_rows(struct str *out, const struct hotspot *rows, uint32_t count)
{
	str_add(out, "| Rank | Location | Metric | Value | Category | Gain | Agree | Score | "
		     "Evidence |\n|---|---|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < count; i++)
		hotspot_row(out, &rows[i]);
}

/* ---- where each number is from ---- */

static void source_row(
	struct str *out, const char *what, double value, const char *path, const char *query)
{
	str_add(out, "| ");
	cell(out, what);
	str_addf(out, " | %.10g | ", value);
	markdown_code(out, path, true);
	str_add(out, " | ");
	markdown_code(out, query, true);
	str_add(out, " |\n");
}

static void hotspot_sources(struct str *out, const struct hotspot *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < rows[i].evidence_count; j++) {
			const struct hotspot_evidence *e = &rows[i].evidence[j];
			str_auto struct str what = {0};

			str_addf(&what, "%s: %s", rows[i].location, e->mechanism);
			if (*e->query && !isnan(e->value))
				source_row(out, what.at, e->value, e->path, e->query);
		}
}

static void sources(struct str *out, const struct answer_view *view)
{
	str_add(out,
		"\n## Where each number is from\n\n"
		"`sqlite3 FILE \"QUERY\"` gives the value. Bounds of gains: `assay causal --show "
		"causal.assay`.\n\n| what | value | file | query |\n|---|---|---|---|\n");
	hotspot_sources(out, view->hotspots, view->hotspot_count);
	hotspot_sources(out, view->flat, view->flat_count);
	if (view->signals)
		vec_foreach (const struct signal, signal, &view->signals->rows)
			if (!isnan(signal->value) && *signal->query)
				source_row(out, signal->name, signal->value, signal->path,
					signal->query);
}

void hotspot_markdown(struct str *out, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	str_add(out, "# Hotspots of ");
	markdown_code(out, page->target, false);
	str_add(out, "\n\n");
	hotspot_rows(out, view->hotspots, view->hotspot_count);
	if (view->flat_count) {
		str_add(out, "\n## Hot, and not worth touching\n\n");
		hotspot_rows(out, view->flat, view->flat_count);
	}
	str_add(out, "\nScore = impact x confidence / effort; 2.0 and more is worth handing on. "
		     "Take one at a time.\n");
	sources(out, view);
}

/* ---- report.md ---- */

static void environment(struct str *out, const struct answer_view *view)
{
	str_add(out, "\n## Environment\n\n");
	if (!view->environment_count) {
		str_add(out, "Not recorded: there is no baseline. fingerprint.json has the "
			     "machine.\n");
		return;
	}
	str_add(out, "| field | value |\n|---|---|\n");
	for (uint32_t i = 0; i < view->environment_count; i++) {
		str_addf(out, "| %s | ", view->environment[i].name);
		cell(out, view->environment[i].value);
		str_add(out, " |\n");
	}
	str_addf(out, "\nFingerprint %s; all fields are in fingerprint.json.\n", view->fingerprint);
}

static void summary(struct str *out, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	str_add(out, "\n## Summary\n\n**");
	cell(out, view->sentence);
	str_add(out, "**\n\n");
	if (*view->why)
		str_addf(out, "- Why: %s\n", view->why);
	if (isnan(view->gain))
		str_addf(out, "- Gain: not measured: %s\n", view->gain_reason);
	else
		str_addf(out, "- Gain: %.1f %% (%.1f to %.1f) when it is %.0f %% faster\n",
			100 * view->gain, 100 * view->gain_lo, 100 * view->gain_hi,
			100 * view->gain_at);
	str_addf(out, "- How sure: %s\n", view->confidence ? view->confidence : "low");
	if (*view->refute)
		str_addf(out, "- Refuted by: %s\n", view->refute);
	str_add(out, "- Next: ");
	markdown_code(out, view->next, false);
	str_add(out, "\n");
	if (page->partial)
		str_add(out, "- Partial: the job was cut short.\n");
}

/* The kind of work in each place: the stand-in of a top-down tree. */
static void work_kinds(struct str *out, const struct answer_page *page)
{
	const struct evidence_piece *counters = &page->evidence->piece[EVIDENCE_COUNTERS];
	bool any = false;

	str_add(out, "\n## Why it is slow there\n\n");
	for (uint32_t i = 0; i < page->view->hotspot_count; i++) {
		const struct hotspot *spot = &page->view->hotspots[i];

		for (uint32_t j = 0; j < spot->evidence_count; j++) {
			if (strcmp(spot->evidence[j].mechanism, "simulation") != 0)
				continue;
			str_add(out, "- ");
			markdown_code(out, spot->function, false);
			str_addf(out, ": %s\n", spot->evidence[j].words);
			any = true;
		}
	}
	if (any)
		str_add(out, "\nSimulated counts beside measured time; not simulated: prefetching, "
			     "overlap, TLBs, the kernel. This is no top-down tree.\n");
	else
		str_addf(out, "Not measured: %s\n",
			counters->run ? "the counters say nothing about the hot places"
				      : counters->reason);
}

static void experiments(struct str *out, const struct answer_view *view, bool contention)
{
	bool any = false;

	str_addf(out, "\n## %s\n\n",
		contention ? "Contention findings" : "What a faster place would bring");
	for (uint32_t i = 0; i < view->hotspot_count; i++)
		for (uint32_t j = 0; j < view->hotspots[i].evidence_count; j++) {
			const struct hotspot_evidence *e = &view->hotspots[i].evidence[j];

			if (strcmp(e->mechanism, "experiments") != 0 || e->agrees == contention)
				continue;
			str_addf(out, "- %s\n", e->words);
			any = true;
		}
	if (!any)
		str_add(out, contention ? "None found by experiments.\n"
					: "No experiment shows a gain.\n");
}

static void recommendations(struct str *out, const struct answer_view *view)
{
	uint32_t number = 0;

	str_add(out, "\n## Recommendations\n\n");
	for (uint32_t i = 0; i < view->hotspot_count && number < 3; i++) {
		const struct hotspot *spot = &view->hotspots[i];
		const char *advice = spot->because ? spot->because->advice : "";

		if (spot->score < HOTSPOT_SCORE_WORTH && spot != view->first)
			continue;
		str_addf(out, "%u. ", ++number);
		markdown_code(out, spot->location, false);
		str_addf(out, " (%s): %s", hotspot_category_word(spot->category),
			*advice ? advice : "do less there, or do it less often");
		if (isnan(spot->gain))
			str_addf(out, ". Expected: not known; at most its share, %.1f %%.\n",
				100 * spot->value);
		else
			str_addf(out, ". Expected: %.1f %% (%.1f to %.1f) at %.0f %% faster.\n",
				100 * spot->gain, 100 * spot->gain_lo, 100 * spot->gain_hi,
				100 * spot->gain_at);
	}
	if (!number && view->because)
		str_addf(out, "1. %s: %s.\n", view->because->title, view->because->advice);
	else if (!number)
		str_add(out, "None: nothing measured is worth a change.\n");
}

static void ledger_table(struct str *out, const struct ledger_view *ledger)
{
	str_add(out, "\n## Explanations\n\n| hypothesis | verdict | why |\n|---|---|---|\n");
	for (uint32_t i = 0; ledger && i < ledger->count; i++) {
		const struct ledger_row *row = &ledger->rows[i];

		str_addf(out, "| %s | %s | ", row->name, hypothesis_verdict_word(row->verdict));
		cell(out, row->verdict == HYPOTHESIS_UNTESTED ? row->untested : row->why);
		str_add(out, " |\n");
	}
}

static void measured(struct str *out, const struct signals *signals)
{
	str_add(out,
		"\n## Measured\n\n| signal | value | witness | meaning |\n|---|---|---|---|\n");
	if (signals)
		vec_foreach (const struct signal, signal, &signals->rows) {
			if (isnan(signal->value))
				continue;
			str_addf(out, "| %s | ", signal->name);
			signal_value(out, signal);
			str_addf(out, " | %s | ", signal->witness);
			cell(out, signal->meaning);
			str_add(out, " |\n");
		}
}

void answer_markdown(struct str *out, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	str_add(out, "# Performance of ");
	markdown_code(out, page->target, false);
	str_addf(out, "\n\nRun %s\n", page->run_id);
	summary(out, page);
	environment(out, view);
	str_add(out, "\n## Hotspots\n\n");
	hotspot_rows(out, view->hotspots, view->hotspot_count);
	work_kinds(out, page);
	experiments(out, view, false);
	experiments(out, view, true);
	str_add(out, "\n## Hot, and not worth touching\n\n");
	if (view->flat_count)
		hotspot_rows(out, view->flat, view->flat_count);
	else
		str_add(out, "None found.\n");
	str_addf(out, "\n## Root cause\n\n%s\n",
		view->because ? view->because->why
		: *view->why  ? view->why
			      : "Not known.");
	recommendations(out, view);
	str_add(out, "\n## Validation plan\n\n1. Change one thing.\n2. ");
	markdown_code(out, view->again, false);
	str_add(out, "\n3. Compare the gain with the prediction above; the output must stay the "
		     "same.\n");
	ledger_table(out, view->ledger);
	measured(out, view->signals);
	str_add(out, "\n## Not measured\n\n");
	for (uint32_t i = 0; i < view->missing_count; i++)
		str_addf(out, "- %s: %s%s%s\n", view->missing[i].what, view->missing[i].reason,
			*view->missing[i].fix ? "; " : "", view->missing[i].fix);
	sources(out, view);
}
