/* formula_fuzz.c - any bytes as a text of metrics: what is accepted can be computed. */
#include <stdint.h>

#include "analyze/metric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct metric_input inputs[] = {
		{"cycles:u", NULL, NULL, 3, true},
		{"cpu/instructions/u", NULL, NULL, 5, true},
		{"a", "cpu_core", NULL, 0, true},
		{"b", NULL, "not counted", 0, false},
		{"cpu_ns", NULL, NULL, 1e9, true},
	};
	metric_book_auto struct metric_book book = {0};
	metric_results_auto struct metric_results results = {0};
	arena_auto struct arena arena = {0};
	struct err err = {0};

	metric_book_add(&book, "fuzz", arena_text(&arena, (const char *)data, size), &err);
	metric_compute_all(&book, inputs, 5, &arena, &results);
	return 0;
}
