/* metric.h - derived numbers, their thresholds and the event sets that feed them.
 *
 * Does: read the texts of data/ (docs/metrics.md has the format), answer names, compute results.
 * Does not: open events, scale counts, print.
 * Owns: a book owns all its texts; results borrow from the book, the inputs and the caller's arena.
 * Threads: a filled book is never changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/formula.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

/* "> 1.5" or "< 0.7". */
struct metric_limit {
	char sign; /* '<' or '>', 0: no limit */
	double number;
};

/* "cpu_ns > 1e8". */
struct metric_condition {
	struct formula formula;
	struct metric_limit limit; /* sign 0: it always holds */
};

enum { METRIC_FORMULAS = 4 };

struct metric {
	const char *name;
	const char *unit; /* "share" is a fraction 0..1 */
	const char *meaning;
	const char *threshold; /* "healthy > 1.5, investigate < 0.7", or "" */
	/* The same for people, who see a share in percent: "healthy < 1 %, investigate > 5 %" */
	const char *threshold_words;
	struct formula
		formulas[METRIC_FORMULAS]; /* alternatives, the first that has a value wins */
	unsigned formulas_count;
	struct metric_limit healthy, investigate;
	struct metric_condition when;  /* only assessed when this holds */
	struct metric_condition needs; /* no measurement unless this holds ... */
	const char *needs_reason;      /* ... and this is why not */
	double low, high;	       /* a result outside is no measurement; NAN: no bound */
	const char *core;	       /* only for this core type of a hybrid CPU; NULL: for all */
};

struct event_set {
	const char *name;
	const char *meaning;
	const char *events;  /* as `assay stat -e` takes them, groups in braces */
	const char *metrics; /* names, with blanks between */
};

struct metric_alias {
	const char *name, *other;
	const char *core; /* as in struct metric */
};

struct metric_book {
	struct arena arena;
	vec_of(struct metric) metrics;
	vec_of(struct event_set) sets;
	vec_of(struct metric_alias) aliases; /* in the order they are tried */
};

/* Fill a zeroed book from the texts compiled in. */
int metric_book_load(struct metric_book *book, struct err *err);

/* Add one text, `name` being its file name for the sentence. */
int metric_book_add(struct metric_book *book, const char *name, const char *text, struct err *err);

/* The same for one core type of a hybrid CPU: its rows come from that core type alone, and another
 * core type may have metrics of the same names.  NULL: for all. */
int metric_book_add_core(struct metric_book *book, const char *core, const char *name,
	const char *text, struct err *err);

void metric_book_done(struct metric_book *book);
#define metric_book_auto __attribute__((cleanup(metric_book_done)))

/* NULL, with `err` naming the nearest one, when there is none of that name. */
const struct metric *metric_find(const struct metric_book *book, const char *name, struct err *err);
const struct event_set *event_set_find(
	const struct metric_book *book, const char *name, struct err *err);

/* Append the events to count for this metric, in one group when it needs several:
 * "{instructions,cycles}".  Nothing is appended when the execution itself is enough. */
void metric_events(const struct metric *metric, struct str *out);

/* One thing that was asked for.  Counts come as the user is shown them (scaled, in their unit), so
 * clocks are in ns.  From the execution itself: wall_ns, cpu_ns, user_ns, system_ns, max_rss_bytes,
 * minor_faults, major_faults, voluntary_switches, involuntary_switches. */
struct metric_input {
	const char *name;   /* "cycles:u" as asked for */
	const char *core;   /* core type on a hybrid CPU, else NULL or "" */
	const char *reason; /* why it is not known */
	double value;
	bool known;
};

enum metric_assessment {
	METRIC_NONE, /* no thresholds, or they do not apply to a run this short */
	METRIC_HEALTHY,
	METRIC_WATCH,
	METRIC_INVESTIGATE,
};

struct metric_result {
	const struct metric *metric;
	const char *core;      /* "" unless hybrid */
	const char *modifiers; /* of its events: "u", or "" */
	const char *reason;    /* why there is no value */
	double value;
	bool known;
	enum metric_assessment assessment;
};

struct metric_results {
	vec_of(struct metric_result) rows;
};

/* Append the results of one metric.  It has a row for each core type and for each set of modifiers
 * its inputs share; a row without a value says which input is missing and why.  No row at all when
 * one of its inputs was never asked for.  Texts go to `arena`. */
void metric_compute(const struct metric_book *book, const struct metric *metric,
	const struct metric_input *inputs, uint32_t count, struct arena *arena,
	struct metric_results *results);

/* The same for every metric of the book, in its order. */
void metric_compute_all(const struct metric_book *book, const struct metric_input *inputs,
	uint32_t count, struct arena *arena, struct metric_results *results);

void metric_results_done(struct metric_results *results);
#define metric_results_auto __attribute__((cleanup(metric_results_done)))

/* What the thresholds say of a value, whatever `when` says; METRIC_NONE without thresholds, for NAN
 * and for a value outside the range. */
enum metric_assessment metric_assess(const struct metric *metric, double value);

/* "healthy", "watch", "investigate" or "none". */
const char *metric_assessment_word(enum metric_assessment assessment);
