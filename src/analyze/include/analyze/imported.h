/* imported.h - what an imported run holds, event by event.
 *
 * Pure; borrows its texts from the run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct run;

struct imported_event {
	const char *name, *core, *unit, *status, *reason;
	double value; /* in `unit`; only with `known` */
	bool known;
	uint64_t enabled_ns, running_ns;
};

struct imported_view {
	vec_of(struct imported_event) events;
	uint32_t intervals; /* different ends of intervals, 0: counted as a whole */
};

void imported_view_make(const struct run *run, struct imported_view *ret_view);
void imported_view_done(struct imported_view *view);
#define imported_view_auto __attribute__((cleanup(imported_view_done)))
