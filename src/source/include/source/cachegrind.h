/* cachegrind.h - what cachegrind or callgrind wrote, under the names that `assay stat -e` takes.
 *
 * Does: read the texts of one or several processes, emit WIRE_EVENT, WIRE_COUNT and WIRE_PLACE.
 * Does not: run valgrind (drive/simulate.h), trust the text. The events, and the columns of the
 * file that each is the sum of:
 *
 *     instructions               Ir         L1-icache-load-misses      I1mr
 *     LLC-code-misses            ILmr       L1-dcache-loads            Dr
 *     L1-dcache-load-misses      D1mr       LLC-load-misses            DLmr
 *     L1-dcache-stores           Dw         L1-dcache-store-misses     D1mw
 *     LLC-store-misses           DLmw       conditional-branches       Bc
 *     conditional-branch-misses  Bcm        indirect-branches          Bi
 *     indirect-branch-misses     Bim
 *     branches                   Bc + Bi    branch-misses              Bcm + Bim
 *     cache-references           I1mr + D1mr + D1mw
 *     cache-misses               ILmr + DLmr + DLmw
 *     calls                      calls=, at the line that calls; the function is the callee
 *     loop-entries, loop-trips   jumps and Ir, at the first line of the loop: callgrind_loops.h
 *
 * Only callgrind tells the last three, and only with --dump-instr=yes and --collect-jumps=yes.
 * cachegrind counts conditional and indirect branches only: direct jumps, calls and returns always
 * go where they went before.  Owns: nothing; a list owns its texts (source/event.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "source/event.h"
#include "wire/record.h"

enum {
	CACHEGRIND_COLUMNS = 13,
	/* What only callgrind tells. */
	CACHEGRIND_CALLS = CACHEGRIND_COLUMNS,
	CACHEGRIND_LOOP_ENTRIES,
	CACHEGRIND_LOOP_TRIPS,
	CACHEGRIND_ALL_COLUMNS,
};

/* The event of a column of the file ("instructions" of "Ir"); column < 13. */
const char *cachegrind_name(unsigned column);

/* The columns that an event of this name is the sum of, as bits; 0: it cannot be simulated.  Kernel
 * and hypervisor are not simulated, so :k has none. */
uint32_t cachegrind_columns_of(const char *event);

/* Add the events of `text` (as `assay stat -e` takes them, groups are taken apart) to the list;
 * what cannot be simulated gets the status WIRE_EVENT_NOT_SUPPORTED and a reason.  -EINVAL for what
 * is no event at all. */
int cachegrind_events_parse(struct event_list *list, const char *text, struct err *err);

/* All 13 that cachegrind has. */
void cachegrind_events_all(struct event_list *list);

/* Does the list need caches and branches, or instructions only? */
bool cachegrind_events_need_caches(const struct event_list *list);

/* Does it need calls or loops, so callgrind? */
bool cachegrind_events_need_calls(const struct event_list *list);

/* Emit the list, event i of it under the id i + 1. */
int cachegrind_emit_events(const struct event_list *list, const struct wire_sink *sink);

/* What was read so far; zeroed is ready. */
struct cachegrind_sums {
	bool has[CACHEGRIND_ALL_COLUMNS]; /* some text had this column */
	uint64_t totals[CACHEGRIND_ALL_COLUMNS];
	uint32_t texts;
	uint64_t cost_lines;
	uint64_t malformed; /* lines that could not be used */
};

/* Read one text into `sums` and, when `sink` is not NULL, emit one place for each line and event of
 * the list that is not 0.  -EINVAL when it is no such text or holds no cost; an error of the sink
 * is returned as it is. */
int cachegrind_read(struct cachegrind_sums *sums, const struct event_list *list, const char *bytes,
	size_t len, const struct wire_sink *sink);

/* Emit one count per event of the list. */
int cachegrind_emit_counts(const struct cachegrind_sums *sums, const struct event_list *list,
	uint32_t execution, const struct wire_sink *sink);
