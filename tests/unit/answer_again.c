/* answer_again.c - `answer-again DIR [--json]`: the answer of a directory of `assay run`, made
 * again from its run files.  For tuning the rules of the answer on stored evidence without running
 * anything; the programs must still be where they were, because their code is read. */
#include <stdio.h>
#include <string.h>

#include "analyze/answer.h"
#include "base/arena.h"
#include "base/jsonw.h"
#include "job/code_look.h"
#include "model/run.h"
#include "model/store.h"
#include "render/answer.h"
#include "render/answer_json.h"

static void evidence_load(const char *folder, struct arena *arena, struct evidence *evidence)
{
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++) {
		const char *file =
			arena_format(arena, "%s.assay", evidence_kind_word((enum evidence_kind)i));
		const char *path = arena_format(arena, "%s/%s", folder, file);
		struct err err = {0};
		struct run *run = NULL;

		if (store_load(path, &run, &err) < 0)
			run = NULL;
		evidence->piece[i] = (struct evidence_piece){run, file, run ? "" : "no file", ""};
	}
	evidence->directory = folder;
}

int main(int argc, char **argv)
{
	arena_auto struct arena arena = {0};
	struct evidence evidence = {.target = "PROGRAM"};
	struct hypothesis_book *book = NULL;
	struct signals signals;
	struct ledger_view ledger;
	struct answer_view view;
	struct answer_page page = {
		.view = &view, .evidence = &evidence, .target = "PROGRAM", .run_id = "again"};
	str_auto struct str out = {0};
	struct paper paper = {.out = &out};
	struct jsonw json = {.out = &out};
	struct err err = {0};

	if (argc < 2 || hypothesis_book_load(&book, &err) < 0)
		return 2;
	evidence_load(argv[1], &arena, &evidence);
	evidence.code = code_look_take(evidence.piece[EVIDENCE_PROFILE].run, &arena);
	evidence_view_causal(&evidence, &arena);
	evidence_view_algorithm(&evidence, &arena);
	signals_collect(&evidence, &arena, &signals);
	ledger_evaluate(book, &signals, &arena, &ledger);
	answer_make(&evidence, &signals, &ledger, &arena, &view);
	page.directory = argv[1];
	if (argc > 2 && strcmp(argv[2], "--json") == 0) {
		jsonw_begin_object(&json);
		answer_json(&json, &page);
		jsonw_end_object(&json);
	} else {
		answer_text(&paper, &page);
	}
	(void)fputs(str_text(&out), stdout);
	signals_done(&signals);
	hypothesis_book_close(book);
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		run_close((struct run *)(uintptr_t)evidence.piece[i].run);
	return 0;
}
