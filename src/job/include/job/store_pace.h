/* store_pace.h - when a run file is brought up to date while its run grows.
 *
 * Each time, as long as that takes a twentieth of the time: what kill -9 can take is the run under
 * way, of runs below some ms a few more.  The first time makes the tables and says nothing about
 * the others, so the cheapest counts.  Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zero: nothing was stored yet. */
struct store_pace {
	uint64_t stored_ns; /* when it last began */
	uint64_t cost_ns;   /* of the cheapest time but the first */
};

bool store_pace_is_due(const struct store_pace *pace, uint64_t now_ns);

/* It was stored, from then to then. */
void store_pace_take(struct store_pace *pace, uint64_t begin_ns, uint64_t end_ns);
