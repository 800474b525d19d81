/* scale_sizes_fuzz.c - any text as a list of sizes, or as a law: sizes come out in order, each
 * once, and within their bounds. */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/scale.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena_auto struct arena arena = {0};
	const char *text = arena_text(&arena, (const char *)data, size);
	struct scale_sizes sizes;
	struct err err = {0};
	enum law law;

	if (scale_law_parse(text, &law, &err) >= 0 && law >= LAW_COUNT)
		abort();
	if (scale_sizes_parse(text, &arena, &sizes, &err) < 0)
		return 0;
	if (!sizes.count || sizes.count > SCALE_SIZES_MAX)
		abort();
	for (uint32_t i = 0; i < sizes.count; i++)
		if (!sizes.at[i] || sizes.at[i] > SCALE_SIZE_LARGEST ||
			(i && sizes.at[i] <= sizes.at[i - 1]))
			abort();
	return 0;
}
