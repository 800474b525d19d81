/* attest_fuzz.c - any bytes as a file of answers and as an attestation: a file that is taken leaves
 * nothing open, and a failure that the tool found is never passed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/attest.h"
#include "source/attestation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena_auto struct arena arena = {0};
	struct attestation attestation;
	struct attest_view view;
	struct err err = {0};

	attest_view_make(NULL, &arena, &view);
	view.items[7].answer = ATTEST_FAIL;
	view.items[7].by_tool = true;
	view.open--;
	view.fails++;
	if (attest_take_all(&view, (const char *)data, size, "fuzz", &arena, &err) == 0) {
		if (view.open || view.items[7].answer == ATTEST_PASS ||
			view.passes + view.fails + view.waived != ATTEST_QUESTIONS)
			abort();
	} else if (!*err.text) {
		abort();
	}
	err = (struct err){0};
	if (attestation_read((const char *)data, size, "fuzz", &arena, &attestation, &err) < 0 &&
		!*err.text)
		abort();
	return 0;
}
