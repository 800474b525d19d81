/* site_summary.h - what stands above a table of sites: the engine, the machine, the rates of the
 * whole program with their assessment, and the verdict.
 *
 * Pure.  Owns: rows and sentences are in the caller's arena; the rest is the run's or the book's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/metric.h"
#include "analyze/stat.h"
#include "analyze/verdict.h"
#include "base/arena.h"

struct run;

struct site_summary {
	const char *target;
	const char *engine; /* "pmu", "sim", or "none": nothing of the kind is in the run */
	const char *arch;   /* the CPU's name; "": not known */
	bool simulated, user_only;
	struct stat_view stat;
	struct metric_result *metrics; /* one per name asked for, at least */
	uint32_t metric_count;
	struct verdict verdict;
};

/* `names` (ends with NULL) are the metrics that are wanted; one that was not counted has a row
 * without a value that says so. */
void site_summary_make(const struct run *run, const struct metric_book *book,
	const char *const *names, struct arena *arena, struct site_summary *ret_summary);

/* The first row of a metric, or NULL. */
const struct metric_result *site_summary_metric(
	const struct site_summary *summary, const char *name);

/* The value of the first event of this name (without its modifier) that has one; NAN: none has. */
double site_summary_event(const struct site_summary *summary, const char *name);

/* The same of the event that was counted together with `beside`: in one group, so over the same
 * time; NAN: there is none. */
double site_summary_event_beside(
	const struct site_summary *summary, const char *name, const char *beside);

/* Somebody asked for an event of this name, whether or not it has a value. */
bool site_summary_asked(const struct site_summary *summary, const char *name);

/* Why an event of this name has no value: as it was told, or that nobody asked for it. */
const char *site_summary_reason(const struct site_summary *summary, const char *name);
