/* budget.h - what commands may take at most: a text file that is read in review.
 *
 *     # comment
 *     [./prog data]                       the command as typed; * and ? match, [*] is every command
 *     wall median <= 250ms +5%            absolute, relative to the baseline, or both
 *     wall p95    <= 400ms                # what the user sees
 *     max_rss     <= 64MiB
 *
 * METRIC is wall, cpu or max_rss; the statistic is median (default), mean, min, max, p75, p90, p95
 * or p99.  What stands behind # is the note that is shown when the budget breaks.
 * Does not: read files, measure.  Owns: the book owns its rows and texts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyze/summary.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

/* What is measured of a command. */
enum gate_metric { GATE_WALL, GATE_CPU, GATE_RSS, GATE_METRICS };

enum budget_statistic {
	BUDGET_MEDIAN,
	BUDGET_MEAN,
	BUDGET_MIN,
	BUDGET_MAX,
	BUDGET_P75,
	BUDGET_P90,
	BUDGET_P95,
	BUDGET_P99,
	BUDGET_STATISTICS,
};

struct budget {
	const char *pattern; /* of the command */
	enum gate_metric metric;
	enum budget_statistic statistic;
	double absolute; /* nanoseconds or bytes; NAN: none */
	double relative; /* share of change against the baseline; NAN: none */
	const char *note;
	unsigned line; /* in the file */
};

struct budget_book {
	struct arena texts;
	const char *name; /* of the file */
	vec_of(struct budget) rows;
};

/* Read a text.  -EINVAL with "NAME:LINE: what is wrong" and what is expected there. */
int budget_book_read(
	struct budget_book *book, const char *text, size_t len, const char *name, struct err *err);
void budget_book_done(struct budget_book *book);
#define budget_book_auto __attribute__((cleanup(budget_book_done)))

bool budget_applies(const struct budget *budget, const char *command);

const char *gate_metric_name(enum gate_metric metric);
/* GATE_METRICS for a word that is none. */
enum gate_metric gate_metric_named(const char *name);
const char *budget_statistic_name(enum budget_statistic statistic);

/* The statistic of a series and its 95 % interval, both the value itself where there is none. */
double budget_value(const struct summary *summary, enum budget_statistic statistic,
	struct interval *ret_interval);
