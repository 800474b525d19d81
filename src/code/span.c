/* span.c - see span.h.
 *
 * One sweep over the spans sorted by start, with a stack of the open ones: O(n log n) whatever the
 * input.  A span that sticks out of the one it starts in (broken debug information, symbols with a
 * wrong size) goes on behind its end. */
#include "span.h"

#include <stdbool.h>

#include "base/sorted.h"

void spans_add(struct spans *spans, uint64_t low, uint64_t high, uint32_t item)
{
	if (low < high)
		vec_push(&spans->all, (struct span){low, high, item});
}

static int span_order(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* From `low` on it is `item`, whatever was said for the same address before. */
static void piece_start(struct spans *spans, uint64_t low, uint32_t item)
{
	if (spans->pieces.count && spans->pieces.at[spans->pieces.count - 1].low == low)
		spans->pieces.count--;
	if (spans->pieces.count && spans->pieces.at[spans->pieces.count - 1].item == item)
		return;
	vec_push(&spans->pieces, (struct span_piece){low, item});
}

void spans_lay(struct spans *spans)
{
	vec_of(struct span) open = {0};
	bool sorted = true;

	for (uint32_t i = 1; i < spans->all.count && sorted; i++)
		sorted = span_order(&spans->all.at[i - 1], &spans->all.at[i]) <= 0;
	if (!sorted)
		vec_sort(&spans->all, span_order);
	for (uint32_t i = 0; i <= spans->all.count; i++) {
		const struct span *next = i < spans->all.count ? &spans->all.at[i] : NULL;

		while (open.count && (!next || open.at[open.count - 1].high <= next->low)) {
			uint64_t high = open.at[--open.count].high;

			while (open.count && open.at[open.count - 1].high <= high)
				open.count--;
			piece_start(
				spans, high, open.count ? open.at[open.count - 1].item : SPAN_NONE);
		}
		if (!next)
			break;
		piece_start(spans, next->low, next->item);
		vec_push(&open, *next);
	}
	vec_done(&open);
	vec_done(&spans->all);
}

uint32_t spans_find(const struct spans *spans, uint64_t addr)
{
	uint32_t upto = vec_upto(&spans->pieces, low, addr);

	return upto ? spans->pieces.at[upto - 1].item : SPAN_NONE;
}

void spans_done(struct spans *spans)
{
	vec_done(&spans->all);
	vec_done(&spans->pieces);
}
