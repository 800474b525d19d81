/* rounds_fuzz.c - any bytes as the rounds of a history: what is taken from them, written out and
 * read again, is the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/rounds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rounds_auto struct rounds rounds = {0}, again = {0};
	str_auto struct str text = {0}, second = {0};

	rounds_read(&rounds, (const char *)data, size);
	vec_foreach (const struct round_row, row, &rounds.rows)
		round_line(row, &text);
	rounds_read(&again, str_text(&text), text.len);
	if (again.skipped || again.rows.count != rounds.rows.count)
		abort();
	vec_foreach (const struct round_row, row, &again.rows)
		round_line(row, &second);
	if (text.len != second.len || (text.len && memcmp(text.at, second.at, text.len) != 0))
		abort();
	return 0;
}
