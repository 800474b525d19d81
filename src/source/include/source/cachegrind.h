/* cachegrind.h - what cachegrind wrote: cost by line, summed over the files of several processes.
 *
 * Does: read cachegrind.out (and callgrind.out) texts, sum equal lines, emit WIRE_EVENT, WIRE_COUNT
 * and WIRE_PLACE.  Does not: run valgrind (drive/simulate.h), trust the text.
 * The events have the names that `assay stat -e` takes; what each is made of:
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
 *
 * cachegrind counts conditional and indirect branches only: direct jumps, calls and returns always
 * go where they went.
 * Owns: the sums, until cachegrind_done(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "source/event.h"
#include "wire/record.h"

enum { CACHEGRIND_COLUMNS = 13 };

/* How an event is spelled in the file ("Ir") and by us ("instructions"); column < 13. */
const char *cachegrind_column(unsigned column);
const char *cachegrind_name(unsigned column);

struct cachegrind_line {
	const char *function, *file; /* NULL: not known */
	uint32_t line;		     /* 0: not known */
	uint64_t counts[CACHEGRIND_COLUMNS];
};

struct cachegrind {
	struct arena arena;
	struct map texts, lines; /* -> index */
	vec_of(const char *) names;
	vec_of(struct cachegrind_line) rows;
	bool has[CACHEGRIND_COLUMNS]; /* some file had this column */
	uint64_t totals[CACHEGRIND_COLUMNS];
	uint32_t files;
	uint64_t malformed; /* lines that could not be used */
};

/* Add one text.  -EINVAL when it holds no cost at all; what stands before a damage is added. */
int cachegrind_add(struct cachegrind *book, const char *bytes, size_t len, struct err *err);

/* Which columns an event of this name is the sum of, as bits; 0: it cannot be simulated. */
uint32_t cachegrind_columns_of(const char *event);

/* Emit the events once.  `events` NULL: one per column that is there, else those of the list. */
int cachegrind_emit_events(
	const struct event_list *events, bool instructions_only, const struct wire_sink *sink);

/* Emit one count per event, and one place per event and line that is not 0. */
int cachegrind_emit_counts(const struct cachegrind *book, const struct event_list *events,
	uint32_t execution, const struct wire_sink *sink);
int cachegrind_emit_places(const struct cachegrind *book, const struct event_list *events,
	const struct wire_sink *sink);

void cachegrind_done(struct cachegrind *book);
#define cachegrind_auto __attribute__((cleanup(cachegrind_done)))
