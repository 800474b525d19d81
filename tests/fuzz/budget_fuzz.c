/* budget_fuzz.c - any bytes as a file of budgets: either every line is a budget with a limit, or
 * the line that is none is named. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	budget_book_auto struct budget_book book = {0};
	struct err err = {0};

	if (budget_book_read(&book, (const char *)data, size, "fuzz", &err) < 0) {
		if (strncmp(err.text, "fuzz:", 5) != 0 || !err.hint[0])
			abort();
		return 0;
	}
	vec_foreach (const struct budget, budget, &book.rows) {
		bool absolute = isfinite(budget->absolute), relative = isfinite(budget->relative);

		if (!(absolute || relative) || (absolute && budget->absolute <= 0) ||
			(relative && budget->relative <= -1) || !budget->line ||
			!*budget_statistic_name(budget->statistic))
			abort();
		if (!budget_applies(budget, budget->pattern))
			abort(); /* a command is like itself, whatever it holds */
	}
	return 0;
}
