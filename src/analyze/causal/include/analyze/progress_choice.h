/* progress_choice.h - which function of a program counts its work best, when the program says
 * nothing itself.
 *
 * Pure: how often each was called in each slice of time in, a ranking with reasons out.  A good one
 * is called at least 10 times a second, and so rarely that counting it costs next to nothing,
 * evenly, about as often as the program puts something out, stands on most stacks of the program,
 * and is called by nobody who would do as well: the outermost of those that are called in step.
 * Owns nothing. */
#pragma once

#include <stdint.h>

#include "base/str.h"

enum { PROGRESS_CANDIDATES_MAX = 64 };

struct progress_candidate {
	const char *name;
	const uint64_t *visits; /* in each slice */
	uint64_t callers;	/* bit i: candidate i calls it */
	double stack_share;	/* of the stacks that have it; 0: not known */
	double rate_most;	/* if it comes more often it costs too much to count; 0: 10,000 */
	uint64_t probe_ns;	/* what counting one visit costs; 0: not known */
	bool is_loop;		/* not a function, but a loop in one */
	bool is_output;		/* a system call that puts something out: for comparison only */
	bool is_hot;		/* was called too often to be counted on */
};

/* The slices of time that visits were counted in. */
struct progress_slices {
	uint32_t count;
	uint64_t each_ns;
	const uint64_t *busy_ns; /* CPU time of the program in each: visits are expected in
				    proportion, so that a busy machine does not look like bursts.
				    NULL: the same in each */
};

enum progress_verdict {
	PROGRESS_FIT,
	PROGRESS_RARE,	 /* fewer than 10 a second */
	PROGRESS_HOT,	 /* more than is affordable: counting would slow the program */
	PROGRESS_UNEVEN, /* comes in bursts: an experiment would see chance */
	PROGRESS_VERDICTS,
};

struct progress_rank {
	uint32_t candidate;
	enum progress_verdict verdict;
	double per_second;
	double variation;   /* from slice to slice: deviation over mean, less that of counting */
	const char *output; /* the system call it goes with, or NULL */
	bool is_inner;	    /* one that calls it would do as well */
	bool is_deeper;	    /* one nearer to the root of the stacks is visited often enough */
	double cost;	    /* of counting it, as a share of the time; 0: not known */
	double score;
};

/* Rank `count` (at most PROGRESS_CANDIDATES_MAX) candidates, the best first, those that are not fit
 * behind them.  Output calls are left out; how many ranks. */
uint32_t progress_choose(const struct progress_candidate *candidates, uint32_t count,
	const struct progress_slices *slices, struct progress_rank *ret_ranks);

/* "handle(): 210/s, evenly (varies by 3 %), as often as write()" */
void progress_words(struct str *out, const struct progress_candidate *candidates,
	const struct progress_rank *rank);
