/* spans.h - what a program said of itself: its spans, ranked, and its claims.
 *
 * Pure.  NAN: the program did not say.  Owns: everything is in the caller's arena; texts are the
 * run's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct run;

enum spans_by { SPANS_BY_CUMULATIVE, SPANS_BY_COUNT, SPANS_BY_P95 };

struct span_view {
	const char *name, *category, *evidence;
	uint64_t count;
	double total_ns, p50_ns, p95_ns, p99_ns, p999_ns, max_ns;
	double share; /* of the time of all spans; spans may lie in each other */
};

struct claim_view {
	const char *name, *verdict, *evidence;
};

/* A number about the whole run, such as its length. */
struct spans_fact {
	const char *name, *unit;
	double value;
};

struct spans_view {
	const char *target; /* "FILE (kind)" */
	enum spans_by by;
	struct span_view *spans; /* the largest first; what is not known comes last */
	uint32_t span_count;
	struct claim_view *claims; /* in the order of the file */
	uint32_t claim_count;
	struct spans_fact *facts;
	uint32_t fact_count;
	const char *scenario; /* "": it has no name */
};

/* "cumulative", "count" or "p95"; false for any other word.  NULL is "cumulative". */
bool spans_by_of(const char *word, enum spans_by *ret_by);
const char *spans_by_word(enum spans_by by);

void spans_view_make(
	const struct run *run, enum spans_by by, struct arena *arena, struct spans_view *ret_view);
