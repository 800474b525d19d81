/* ledger_evaluate.c - `ledger-evaluate DIR`: the signals, the ledger and the patterns of a folder
 * with the run files of the phases (baseline.assay, observed.assay...), as JSON.  For end-to-end
 * tests, and for calibrating the thresholds of data/hypotheses and data/patterns on planted
 * programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/hypothesis.h"
#include "analyze/patterns.h"
#include "base/jsonw.h"
#include "model/run.h"
#include "model/store.h"

static void signals_put(struct jsonw *w, const struct signals *signals)
{
	jsonw_key(w, "signals");
	jsonw_begin_array(w);
	vec_foreach (const struct signal, signal, &signals->rows) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", signal->name);
		jsonw_put_text(w, "witness", signal->witness);
		jsonw_put_text(w, "path", signal->path);
		jsonw_put_text(w, "query", signal->query);
		jsonw_put_double(w, "value", signal->value);
		jsonw_put_text(w, "reason", signal->reason);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void disputes_put(struct jsonw *w, const struct ledger_row *row)
{
	jsonw_key(w, "disputes");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < row->witness_count; i++)
		if (row->witnesses[i].dispute)
			jsonw_text(w, row->witnesses[i].dispute->quantity);
	jsonw_end_array(w);
}

static void ledger_put(struct jsonw *w, const struct ledger_view *view)
{
	jsonw_put_bool(w, "noisy", view->noisy);
	jsonw_key(w, "ledger");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->count; i++) {
		const struct ledger_row *row = &view->rows[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "hypothesis", row->name);
		jsonw_put_text(w, "category", row->category);
		jsonw_put_text(w, "verdict", hypothesis_verdict_word(row->verdict));
		jsonw_put_bool(w, "place", row->is_place);
		jsonw_put_double(w, "share", row->share);
		jsonw_put_text(w, "why", row->why);
		jsonw_put_text(w, "untested", row->untested);
		jsonw_put_text(w, "next", row->next);
		disputes_put(w, row);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void patterns_put(struct jsonw *w, const struct pattern_view *view)
{
	jsonw_key(w, "patterns");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->count; i++) {
		const struct pattern_row *row = &view->rows[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "pattern", row->name);
		jsonw_put_text(w, "function", row->function);
		jsonw_put_text(w, "location", row->location);
		jsonw_put_double(w, "share", row->share);
		jsonw_put_text(w, "means", row->means);
		jsonw_put_text(w, "advice", row->advice);
		jsonw_put_text(w, "refute", row->refute);
		jsonw_put_text(w, "path", row->path);
		jsonw_put_text(w, "query", row->query);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

int main(int argc, char **argv)
{
	struct evidence evidence = {0};
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	pattern_book_auto struct pattern_book *shapes = NULL;
	arena_auto struct arena arena = {0};
	signals_auto struct signals signals = {0};
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text};
	struct ledger_view view;
	struct pattern_view patterns;
	struct err err = {0};

	if (argc != 2 || hypothesis_book_load(&book, &err) < 0 ||
		pattern_book_load(&shapes, &err) < 0) {
		fprintf(stderr, "ledger-evaluate DIR: %s\n", err.text);
		return 2;
	}
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++) {
		const char *path =
			arena_format(&arena, "%s/%s.assay", argv[1], evidence_kind_word(i));
		struct run *run = NULL;
		struct err why = {0};

		if (store_load(path, &run, &why) < 0)
			evidence.piece[i].reason = arena_format(&arena, "%s", why.text);
		evidence.piece[i].run = run;
		evidence.piece[i].path = arena_format(&arena, "%s.assay", evidence_kind_word(i));
	}
	evidence_view_causal(&evidence, &arena);
	signals_collect(&evidence, &arena, &signals);
	ledger_evaluate(book, &signals, &arena, &view);
	patterns_match(shapes, &evidence.piece[EVIDENCE_PROFILE], &signals, &arena, &patterns);
	jsonw_begin_object(&w);
	signals_put(&w, &signals);
	ledger_put(&w, &view);
	patterns_put(&w, &patterns);
	jsonw_end_object(&w);
	printf("%s\n", str_text(&text));
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++) {
		struct run *owned;

		memcpy(&owned, &evidence.piece[i].run, sizeof(owned)); /* ours, const to others */
		run_close(owned);
	}
	return 0;
}
