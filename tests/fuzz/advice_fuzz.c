/* advice_fuzz.c - any bytes as a text of advice: what is accepted can be given, whole. */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	advice_book_auto struct advice_book book = {0};
	arena_auto struct arena arena = {0};
	struct verdict_subject subject = {"./a {program}", "c++"};
	struct err err = {0};

	if (advice_book_add(&book, "fuzz", arena_text(&arena, (const char *)data, size), &err) <
		0) {
		if (!err.text[0] || !err.hint[0])
			abort();
		return 0;
	}
	for (unsigned i = 0; i < VERDICT_CATEGORIES; i++) {
		struct verdict verdict = verdict_none();

		verdict.category = (enum verdict_category)i;
		verdict_advise(&book, &subject, &arena, &verdict);
		if (book.of[i].filled && (!*verdict.meaning || !verdict.advice_count))
			abort();
	}
	return 0;
}
