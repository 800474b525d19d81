/* hypotheses_fuzz.c - any text as a book of explanations: refused with a sentence, or judged over
 * signals with and without values. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/hypothesis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct hypothesis_book *book, double value)
{
	static const char *const names[] = {"a", "b", "c", "runq_share", "lost_samples", "claim_h"};
	arena_auto struct arena arena = {0};
	signals_auto struct signals signals = {0};
	struct ledger_view view;

	/* Each another number, so that quantities are in dispute too. */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		vec_push(&signals.rows,
			(struct signal){names[i], i % 2 ? "share" : "ns", "w", "p", "q", "m",
				isnan(value) ? "none" : "", (double)i * value});
	ledger_evaluate(book, &signals, &arena, &view);
	for (uint32_t i = 0; i < view.count; i++) {
		const struct ledger_row *row = &view.rows[i];

		if (row->verdict >= HYPOTHESIS_VERDICTS || !row->why)
			abort();
		for (uint32_t j = 0; j < row->witness_count; j++)
			if (row->witnesses[j].dispute && !(row->witnesses[j].dispute->apart >
								 row->witnesses[j].dispute->limit))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	struct err err = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (hypothesis_book_parse("fuzz", text, &book, &err) < 0) {
		if (!*err.text || !*err.hint)
			abort();
	} else {
		judge(book, 0.5);
		judge(book, (double)NAN);
		judge(book, 1e300);
	}
	free(text);
	return 0;
}
