/* store_pace.c - see store_pace.h. */
#include "job/store_pace.h"

enum { STORE_SHARE = 20 };

bool store_pace_is_due(const struct store_pace *pace, uint64_t now_ns)
{
	return now_ns - pace->stored_ns >= STORE_SHARE * pace->cost_ns;
}

void store_pace_take(struct store_pace *pace, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t cost_ns = pace->stored_ns ? end_ns - begin_ns : 0;

	if (!pace->cost_ns || cost_ns < pace->cost_ns)
		pace->cost_ns = cost_ns;
	pace->stored_ns = begin_ns;
}
