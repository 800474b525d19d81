/* profile_filter.h - which samples of a run are meant, and what they weigh.
 *
 * One pass over the samples sums them by stack and by thread; everything after it walks stacks,
 * which are a hundred times fewer.  A sample weighs its period (time for clocks, events for
 * counters) as in perf, so that samples of a varying period add up to what really happened; where a
 * sample of the event has no period, each weighs 1.
 * Owns: the sums, until profile_samples_done().  Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct run;

enum profile_side { PROFILE_BOTH_SIDES, PROFILE_USER, PROFILE_KERNEL };

/* Zeroed: every sample of the first event that has any. */
struct profile_filter {
	const char *event;    /* its name, or the only one that starts so */
	const char *thread;   /* a name or a tid */
	const char *module;   /* taken in this module: path, or what follows its last '/' */
	const char *function; /* with this function anywhere on the stack: see label_book_find() */
	uint64_t from_ns;     /* since the first sample of the run */
	uint64_t to_ns;	      /* 0: to the end */
	enum profile_side side;
};

struct profile_cost {
	uint64_t samples;
	uint64_t weight;
};

/* A stack that samples were taken at. */
struct profile_stack {
	uint32_t stack; /* its id */
	struct profile_cost cost;
};

struct profile_samples {
	uint32_t event;	  /* row id */
	const char *name; /* of the event */
	const char *unit; /* of a weight: "ns", "samples", else the event's own name */
	bool weighted;	  /* false: every sample weighs 1 */
	bool merged;	  /* a row of the run stands for several samples, which weigh 1 each */
	double weight_squares;
	uint64_t truncated, broken, kernel, unnamed; /* samples; unnamed: the innermost frame */
	uint64_t first_ns, last_ns;		     /* of the samples let through */
	struct profile_cost total;
	struct profile_cost no_stack;	     /* samples without one */
	vec_of(struct profile_stack) stacks; /* by their ids */
	struct profile_cost *by_thread;	     /* by the thread's id, 0: unknown */
	uint64_t *by_event;		     /* all samples of each event, filtered or not */
};

/* False for "" and "samples", which is what importers write where a file does not say of what. */
static inline bool profile_event_is_told(const char *name)
{
	return *name && !str_equal(name, "samples");
}

/* -EINVAL with the nearest name when an event, thread, module or function is not in the run, or
 * when the run has no samples at all. */
int profile_samples_take(const struct run *run, const struct profile_filter *filter,
	struct profile_samples *ret_samples, struct err *err);
void profile_samples_done(struct profile_samples *samples);
#define profile_samples_auto __attribute__((cleanup(profile_samples_done)))

/* Which samples pass, one by one: ret_marks[i] for row i.  Errors as above. */
int profile_filter_mark(const struct run *run, const struct profile_filter *filter, bool *ret_marks,
	struct err *err);

/* "2s..5s", "..500ms", "1m.." into from_ns and to_ns. */
int profile_filter_time(struct profile_filter *filter, const char *text, struct err *err);
