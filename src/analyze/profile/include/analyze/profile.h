/* profile.h - who used the time: the rows of `assay report`, and how far to trust them.
 *
 * Self is what was sampled in the row itself (its innermost frame), total what was sampled in it or
 * in anything it called; a recursive function counts a sample once.  Shares are of the weight of
 * the samples that the filter lets through (profile_filter.h).
 * Owns: its rows; texts are the run's, which must live longer.  Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile_filter.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct run;

enum profile_by { PROFILE_FUNCTION, PROFILE_LINE, PROFILE_MODULE, PROFILE_FILE, PROFILE_THREAD };

struct profile_options {
	struct profile_filter filter;
	enum profile_by by;
	bool by_total;	  /* order: total, not self */
	double min_share; /* rows below it are left out */
	uint32_t limit;	  /* rows at most, 0: all */
};

struct profile_row {
	const char *name;   /* function, module, file or thread; "[unknown]", "[no stack]" */
	const char *module; /* "": not known */
	const char *file;   /* "": not known */
	uint32_t line;	    /* 0: not known */
	uint32_t pid, tid;  /* by thread only */
	uint32_t flags;	    /* LABEL_* of label.h */
	struct profile_cost self, total;
	double self_share, total_share;
};

/* One sentence on what the numbers suffer from, and the way out. */
struct profile_warning {
	const char *code, *text, *hint;
};

/* What is NAN was not measured. */
struct profile_quality {
	const char *event;	/* as it really was sampled */
	const char *event_note; /* why this one, "" */
	const char *unit;	/* of the weights */
	const char *target;
	bool precise;  /* the event says where it happened; false: samples skid */
	bool weighted; /* false: every sample counts the same */
	bool merged;   /* a sample weighs 1, and a row of the run stands for several */
	bool partial;
	bool filtered; /* `samples` is a part of the event's */
	uint64_t samples, weight;
	uint64_t span_ns; /* from the first sample to the last */
	double lost_samples, lost_records;
	double lost_share; /* of all that should have been taken */
	double truncated_share, broken_share, unknown_share, kernel_share;
	double rate_hz; /* samples per second of the span */
	double recorder_cpu_ns, target_cpu_ns, overhead_share;
	uint64_t unnamed_locations; /* addresses without a name, of how many */
	uint64_t locations;
	vec_of(const char *) other_events;
	vec_of(struct profile_warning) warnings;
	struct arena texts;
};

struct profile_view {
	enum profile_by by;
	bool by_total;
	struct profile_cost all; /* what the filter let through */
	vec_of(struct profile_row) rows;
	uint32_t row_count_all; /* before limit and min_share */
	struct profile_quality quality;
};

/* -EINVAL as profile_samples_take(). */
int profile_make(const struct run *run, const struct profile_options *options,
	struct profile_view *ret_view, struct err *err);
void profile_done(struct profile_view *view);
#define profile_auto __attribute__((cleanup(profile_done)))

/* The same words about samples that were taken already (a call tree's). */
void profile_quality_make(const struct run *run, const struct profile_filter *filter,
	const struct profile_samples *samples, struct profile_quality *ret_quality);
void profile_quality_done(struct profile_quality *quality);
#define profile_quality_auto __attribute__((cleanup(profile_quality_done)))
