/* cpu_book_fuzz.c - any bytes as a table of a CPU: refused with a sentence, or it can be computed.
 */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/cpu_book.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cpu_book_auto struct cpu_book book = {0};
	arena_auto struct arena arena = {0};
	const struct cpu_asked asked = {"GenuineIntel", 6, 0x55, 4, 0, "cpu"};
	struct err err = {0};

	if (cpu_book_add(&book, "fuzz", arena_text(&arena, (const char *)data, size), &err) < 0 &&
		!err.text[0])
		abort();
	vec_foreach (const struct cpu_table, table, &book.tables) {
		double *counts = arena_take(&arena, sizeof(double) * (table->events_count + 1));
		double *values = arena_take(&arena, sizeof(double) * (table->nodes_count + 1));

		for (uint32_t i = 0; i < table->events_count; i++)
			counts[i] = i * 1e3;
		cpu_table_compute(table, counts, 0, values);
	}
	(void)cpu_book_match(&book, &asked);
	return 0;
}
