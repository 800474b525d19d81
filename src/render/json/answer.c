/* answer.c - "answer" and "ledger" of the main job for programs. */
#include "render/answer_json.h"

#include <math.h>

#include "analyze/growth.h"
#include "render/answer.h"

static void evidence_json(struct jsonw *json, const struct hotspot *spot)
{
	jsonw_open_array(json, "evidence");
	for (uint32_t i = 0; i < spot->evidence_count; i++) {
		const struct hotspot_evidence *e = &spot->evidence[i];

		jsonw_begin_object(json);
		jsonw_put_text(json, "mechanism", e->mechanism);
		jsonw_put_bool(json, "agrees", e->agrees);
		jsonw_put_text(json, "words", e->words);
		jsonw_put_text(json, "path", e->path);
		if (*e->query) {
			jsonw_put_text(json, "query", e->query);
			jsonw_put_number(json, "value", e->value, "the query returns nothing");
		} else {
			jsonw_put_missing(json, "query", "assay causal --show prints the number");
		}
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
}

static void kinds_json(struct jsonw *json, const struct hotspot *spot)
{
	jsonw_open_array(json, "kinds");
	for (uint32_t i = 0; i < spot->kind_count; i++) {
		jsonw_begin_object(json);
		jsonw_put_text(json, "category", hotspot_kind_word(spot, &spot->kinds[i]));
		jsonw_put_double(json, "share", spot->kinds[i].share);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
}

static void link_json(struct jsonw *json, const struct hotspot_link *link)
{
	jsonw_begin_object(json);
	jsonw_put_text(json, "function", link->function);
	jsonw_put_text(json, "location", link->location);
	jsonw_put_text(json, "file", str_or_null(link->file));
	jsonw_put_count(json, "line", link->line, "line unknown: no debug information");
	jsonw_put_double(json, "total_share", link->total);
	jsonw_put_double(json, "self_share", link->self);
	jsonw_put_number(json, "calls", link->entries, "not counted");
	jsonw_end_object(json);
}

/* The chain goes from the place outwards to main(), what is below from the place inwards. */
static void chain_json(struct jsonw *json, const struct hotspot *spot)
{
	jsonw_open_array(json, "chain");
	for (uint32_t i = spot->chain_place; i < spot->chain_count; i++)
		link_json(json, &spot->chain[i]);
	jsonw_end_array(json);
	jsonw_open_array(json, "below");
	for (uint32_t i = spot->chain_count ? spot->chain_place : 0; i > 0; i--)
		link_json(json, &spot->chain[i - 1]);
	jsonw_end_array(json);
}

static void gain_json(struct jsonw *json, const struct hotspot *spot, const char *reason)
{
	const char *all = isnan(spot->gain) ? reason : "not tried with all of the work gone";

	jsonw_put_number(json, "gain", spot->gain, reason);
	jsonw_put_number(json, "gain_lo", spot->gain_lo, reason);
	jsonw_put_number(json, "gain_hi", spot->gain_hi, reason);
	jsonw_put_number(json, "gain_at", spot->gain_at, reason);
	jsonw_put_number(json, "gain_all", spot->gain_all, all);
	jsonw_put_number(json, "gain_all_lo", spot->gain_all_lo, all);
	jsonw_put_number(json, "gain_all_hi", spot->gain_all_hi, all);
	jsonw_put_text(json, "gain_basis", gain_source_word(spot->gain_source));
	jsonw_put_text(json, "gain_all_basis", gain_source_word(spot->gain_all_source));
	jsonw_put_text(json, "gain_all_note", spot->gain_all_note);
	jsonw_put_text(json, "gain_doubt", spot->gain_doubt);
}

/* null: not tried, or the experiments tell. */
static void open_json(struct jsonw *json, const struct hotspot *spot)
{
	static const char few[] = "too few experiments were complete";

	if (!spot || !(spot->open_at > 0)) {
		jsonw_key(json, "gain_open");
		jsonw_null(json);
		return;
	}
	jsonw_open_object(json, "gain_open");
	jsonw_put_number(json, "lo", spot->open_lo, few);
	jsonw_put_number(json, "hi", spot->open_hi, few);
	jsonw_put_double(json, "at", spot->open_at);
	jsonw_end_object(json);
}

static void hotspot_json(struct jsonw *json, const struct hotspot *spot)
{
	jsonw_begin_object(json);
	jsonw_put_u64(json, "rank", spot->rank);
	jsonw_put_text(json, "location", spot->location);
	jsonw_put_text(json, "function", spot->function);
	jsonw_put_text(json, "file", str_or_null(spot->file));
	jsonw_put_count(json, "line", spot->line, "line unknown: no debug information");
	jsonw_put_text(json, "metric", spot->metric);
	jsonw_put_number(json, "value", spot->value, "waits are not sampled");
	jsonw_put_text(json, "category", hotspot_category_word(spot->category));
	kinds_json(json, spot);
	chain_json(json, spot);
	evidence_json(json, spot);
	jsonw_put_u64(json, "agree", spot->agree);
	jsonw_put_u64(json, "asked", spot->asked);
	jsonw_put_bool(json, "counts_once", spot->counts_once);
	gain_json(json, spot, spot->gain_reason);
	open_json(json, spot);
	jsonw_put_text(json, "experiment_target", spot->target);
	jsonw_put_double(json, "impact", spot->impact);
	jsonw_put_double(json, "confidence", spot->confidence);
	jsonw_put_double(json, "effort", spot->effort);
	jsonw_put_double(json, "score", spot->score);
	jsonw_put_text(json, "hypothesis", spot->because ? spot->because->name : NULL);
	jsonw_put_text(json, "pattern", spot->pattern ? spot->pattern->name : NULL);
	jsonw_put_text(json, "why", spot->why);
	jsonw_put_text(json, "algorithm", str_or_null(spot->algorithm));
	jsonw_end_object(json);
}

static void hotspots_json(
	struct jsonw *json, const char *key, const struct hotspot *rows, uint32_t count)
{
	jsonw_open_array(json, key);
	for (uint32_t i = 0; i < count; i++)
		hotspot_json(json, &rows[i]);
	jsonw_end_array(json);
}

/* What `confidence` is made from, for who fits its weights; null: not known. */
static void features_json(struct jsonw *json, const struct answer_view *view)
{
	bool claims = view->kind == ANSWER_CHANGE;

	jsonw_put_number(
		json, "confidence_probability", view->probability, "the answer claims nothing");
	jsonw_key(json, "confidence_features");
	if (!claims) {
		jsonw_null(json);
		return;
	}
	jsonw_begin_object(json);
	for (unsigned i = 0; i < CONFIDENCE_FEATURES; i++)
		jsonw_put_double(json, confidence_feature_name(i), view->features.value[i]);
	jsonw_end_object(json);
}

static void first_json(struct jsonw *json, const struct answer_view *view)
{
	const struct hotspot *spot = view->first;

	jsonw_open_object(json, "answer");
	jsonw_put_text(json, "kind", answer_kind_word(view->kind));
	if (spot) {
		jsonw_put_text(json, "location", spot->location);
		jsonw_put_text(json, "function", spot->function);
		jsonw_put_text(json, "file", str_or_null(spot->file));
		jsonw_put_text(json, "category", hotspot_category_word(spot->category));
		chain_json(json, spot);
	} else {
		jsonw_put_missing(json, "location",
			view->kind == ANSWER_CHANGE ? "the answer is not a place in the program"
						    : view->sentence);
	}
	jsonw_put_text(json, "hypothesis", view->because ? view->because->name : NULL);
	jsonw_put_text(json, "sentence", view->sentence);
	jsonw_put_text(json, "why", view->why);
	gain_json(json,
		&(struct hotspot){.gain = view->gain,
			.gain_lo = view->gain_lo,
			.gain_hi = view->gain_hi,
			.gain_at = view->gain_at,
			.gain_all = view->gain_all,
			.gain_all_lo = view->gain_all_lo,
			.gain_all_hi = view->gain_all_hi,
			.gain_source = view->gain_source,
			.gain_all_source = view->gain_all_source,
			.gain_all_note = view->gain_all_note,
			.gain_doubt = view->gain_doubt},
		view->gain_reason);
	open_json(json, spot);
	jsonw_put_text(json, "confidence", view->confidence);
	jsonw_put_text(json, "confidence_reason", view->confidence_reason);
	features_json(json, view);
	jsonw_put_text(json, "refuted_by", view->refute);
	jsonw_put_text(json, "pattern",
		view->first && view->first->pattern ? view->first->pattern->name : NULL);
	jsonw_put_text(json, "advice", str_or_null(answer_advice(view)));
	jsonw_put_text(json, "next", view->next);
	jsonw_end_object(json);
}

static void told_json(struct jsonw *json, const char *key, const struct signal *signal)
{
	jsonw_open_object(json, key);
	jsonw_put_text(json, "signal", signal->name);
	jsonw_put_double(json, "value", signal->value);
	jsonw_put_text(json, "unit", signal->unit);
	jsonw_put_text(json, "witness", signal->witness);
	jsonw_end_object(json);
}

/* null: no number that it rests on is told otherwise. */
static void dispute_json(struct jsonw *json, const struct ledger_dispute *dispute)
{
	jsonw_key(json, "dispute");
	if (!dispute) {
		jsonw_null(json);
		return;
	}
	jsonw_begin_object(json);
	jsonw_put_text(json, "quantity", dispute->quantity);
	jsonw_put_text(json, "title", dispute->title);
	told_json(json, "low", dispute->low);
	told_json(json, "high", dispute->high);
	jsonw_put_double(json, "apart_share", dispute->apart);
	jsonw_put_double(json, "limit_share", dispute->limit);
	jsonw_put_text(json, "next", dispute->next);
	jsonw_end_object(json);
}

static void witness_json(struct jsonw *json, const struct ledger_witness *witness)
{
	jsonw_begin_object(json);
	jsonw_put_text(json, "witness", witness->witness);
	jsonw_put_text(json, "verdict", hypothesis_verdict_word(witness->verdict));
	jsonw_put_text(json, "words", witness->words);
	jsonw_open_array(json, "signals");
	for (uint32_t i = 0; i < witness->signal_count; i++)
		jsonw_text(json, witness->signals[i]->name);
	jsonw_end_array(json);
	dispute_json(json, witness->dispute);
	jsonw_end_object(json);
}

static void ledger_rows_json(struct jsonw *json, const struct ledger_view *ledger)
{
	jsonw_open_array(json, "ledger");
	for (uint32_t i = 0; ledger && i < ledger->count; i++) {
		const struct ledger_row *row = &ledger->rows[i];

		jsonw_begin_object(json);
		jsonw_put_text(json, "hypothesis", row->name);
		jsonw_put_text(json, "title", row->title);
		jsonw_put_text(json, "category", row->category);
		jsonw_put_text(json, "verdict", hypothesis_verdict_word(row->verdict));
		jsonw_put_text(json, "why", row->why);
		jsonw_put_text(json, "untested", str_or_null(row->untested));
		jsonw_put_number(json, "time_share", row->share, "not known");
		jsonw_put_text(json, "falsifier", row->falsifier);
		jsonw_put_text(json, "next", row->next);
		jsonw_open_array(json, "witnesses");
		for (uint32_t j = 0; j < row->witness_count; j++)
			witness_json(json, &row->witnesses[j]);
		jsonw_end_array(json);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
}

static void signals_json(struct jsonw *json, const struct signals *signals)
{
	jsonw_open_array(json, "signals");
	if (signals)
		vec_foreach (const struct signal, signal, &signals->rows) {
			jsonw_begin_object(json);
			jsonw_put_text(json, "name", signal->name);
			jsonw_put_number(json, "value", signal->value, signal->reason);
			jsonw_put_text(json, "unit", signal->unit);
			jsonw_put_text(json, "witness", signal->witness);
			jsonw_put_text(json, "meaning", signal->meaning);
			jsonw_put_text(json, "path", signal->path);
			jsonw_put_text(json, "query", signal->query);
			jsonw_end_object(json);
		}
	jsonw_end_array(json);
}

static void law_json(struct jsonw *json, const struct growth_law *law)
{
	static const char unknown[] = "too few samples of a smaller input";
	arena_auto struct arena arena = {0};

	jsonw_put_text(json, "law", str_or_null(growth_law_words(law, &arena)));
	jsonw_put_number(json, "power", law->power, unknown);
	jsonw_put_number(json, "power_error", law->error, unknown);
}

/* null: only one size was measured. */
static void growth_json(struct jsonw *json, const struct growth_view *view)
{
	jsonw_key(json, "growth");
	if (!view) {
		jsonw_null(json);
		return;
	}
	jsonw_begin_object(json);
	law_json(json, &view->whole);
	jsonw_open_array(json, "sizes");
	for (unsigned i = 0; i < view->size_count; i++) {
		jsonw_begin_object(json);
		jsonw_put_double(json, "size_share", view->sizes[i]);
		jsonw_put_double(json, "cpu_ns", view->cpu_ns[i]);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
	jsonw_open_array(json, "functions");
	for (uint32_t i = 0; i < view->function_count; i++) {
		const struct growth_function *function = &view->functions[i];

		jsonw_begin_object(json);
		jsonw_put_text(json, "function", function->function);
		jsonw_put_double(json, "share", function->share);
		law_json(json, &function->own);
		jsonw_open_object(json, "total");
		law_json(json, &function->total);
		jsonw_end_object(json);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
	jsonw_end_object(json);
}

static void patterns_json(struct jsonw *json, const struct pattern_view *patterns)
{
	jsonw_open_array(json, "patterns");
	for (uint32_t i = 0; i < patterns->count; i++) {
		const struct pattern_row *row = &patterns->rows[i];

		jsonw_begin_object(json);
		jsonw_put_text(json, "pattern", row->name);
		jsonw_put_text(json, "title", row->title);
		jsonw_put_text(json, "function", str_or_null(row->function));
		jsonw_put_text(json, "location", row->location);
		jsonw_put_double(json, "share", row->share);
		jsonw_put_text(json, "means", row->means);
		jsonw_put_text(json, "advice", row->advice);
		jsonw_put_text(json, "refuted_by", row->refute);
		jsonw_put_text(json, "path", row->path);
		jsonw_put_text(json, "query", row->query);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
}

void answer_json(struct jsonw *json, const struct answer_page *page)
{
	const struct answer_view *view = page->view;

	first_json(json, view);
	hotspots_json(json, "hotspots", view->hotspots, view->hotspot_count);
	hotspots_json(json, "flat", view->flat, view->flat_count);
	growth_json(json, view->growth);
	patterns_json(json, &view->patterns);
	ledger_rows_json(json, view->ledger);
	signals_json(json, view->signals);
	jsonw_open_array(json, "not_measured");
	for (uint32_t i = 0; i < view->missing_count; i++) {
		jsonw_begin_object(json);
		jsonw_put_text(json, "what", view->missing[i].what);
		jsonw_put_text(json, "reason", view->missing[i].reason);
		jsonw_put_text(json, "fix", *view->missing[i].fix ? view->missing[i].fix : NULL);
		jsonw_end_object(json);
	}
	jsonw_end_array(json);
}
