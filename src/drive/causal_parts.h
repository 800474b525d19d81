/* causal_parts.h - what the files of the causal runner share. */
#pragma once

#include "base/map.h"
#include "base/random.h"
#include "drive/causal.h"
#include "drive/execution.h"
#include "source/causal_points.h"

/* The first pairs are short: a rough answer soon, then time goes where it teaches most. */
enum { CAUSAL_WINDOW_QUICK_NS = 100000000 };

enum { CAUSAL_FINALISTS_MAX = CAUSAL_PROBED_MAX - 4 }; /* four are calls that put something out */

/* The search for a progress point.  It outlives an execution: a short program is started again. */
struct causal_searching {
	bool begun;
	bool has_chain;	 /* the stacks were looked at */
	uint32_t next;	 /* of the points on the stacks: not looked at yet */
	uint32_t others; /* of the other functions likewise */
	uint32_t finalists[CAUSAL_FINALISTS_MAX]; /* indexes of the points asked for */
	double rates[CAUSAL_FINALISTS_MAX];
	uint32_t finalist_count, looked, hot;
	bool is_chain_done;  /* none of those on the stacks is it */
	double rate_most[2]; /* what is visited more costs too much to count; of cheap probes */
};

struct causal_runner {
	const struct causal_run_options *options;
	const struct wire_sink *sink;
	struct causal_summary *summary;
	struct causal *causal;
	struct execution execution;
	struct random random;
	/* A stdin that is a file is shared with the target: the next one reads it from the same
	 * place on as the first.  -1: a pipe. */
	off_t input;
	uint64_t until_ns;	/* the budget's end, UINT64_MAX: none */
	uint64_t window_ns;	/* of the next pair */
	uint32_t targets;	/* emitted */
	struct map files_known; /* whose code was looked at */
	bool ended;		/* the program has */
	bool begun;		/* the one to experiment on was there */
	bool looked;		/* where the program is, for a while */
	bool searched;		/* for a progress point */
	struct causal_searching searching;
	uint64_t checked_ns;	      /* whether the program sandboxes itself */
	uint64_t hopeless_ns;	      /* since when nothing is known to be counted; 0: not so */
	struct causal_half halves[2]; /* speed-up 0, and the other */
	const struct causal_stack *reference; /* samples without the probes, if these cost much */
	uint32_t reference_count, share_target;
	double share_hits, share_samples; /* of that target so far, without a speed-up */
	uint64_t whole_ns;		  /* what a whole run took, of which the longest counts */
	uint32_t threads_most;		  /* at once, in a whole run */
	const char *whole_needs; /* why whole runs were no way out, as what to do; or NULL */
	char whole_text[200];
};

/* The process that is experimented on; 0: it is not there yet, or no more. */
pid_t causal_target_process(const struct causal_runner *c);

/* A signal could end the program: no more experiments, and it runs on.  It is not ended before its
 * time either.  Looked at again every now and then, or at once. */
bool causal_is_sealed(struct causal_runner *c, bool at_once);

/* Sleep, and answer the target's runtime and the user meanwhile.  1: all of the time is over,
 * 0: the program ended, or the user or the budget stopped it; or a negative errno. */
int causal_wait_ns(struct causal_runner *c, uint64_t ns, struct err *err);

/* Start the program, and see it end: by itself, or stopped. */
int causal_execution_begin(struct causal_runner *c, struct err *err);
int causal_execution_end(struct causal_runner *c, bool stop, struct err *err);

/* 1: it can be asked to pause, or must be left alone; 0: it ended first; or a negative errno. */
int causal_await_ready(struct causal_runner *c, struct err *err);

int causal_spots_show(struct causal_runner *c, struct err *err);

/* causal_whole.c: whole runs as experiments.  Whether they are the way out: no point was visited.
 * 1: there is enough, 0: the user stopped it, or they are no way out; or a negative errno. */
bool causal_whole_is_wanted(const struct causal_runner *c);
int causal_whole_run(struct causal_runner *c, struct err *err);

/* Search for a progress point and count it from now on.  1: done, found or not; 0: cut short. */
int causal_search_points(struct causal_runner *c, struct err *err);

/* causal_share.c: whether the probes change the program.  1: go on, also when it was refused
 * (summary->distorted), 0: the program ended, or a negative errno.  `visits` of probes while it was
 * watched, of the cheap ones second; and the pair in `halves`. */
int causal_share_watched(struct causal_runner *c, const struct causal_result *watched,
	const uint64_t visits[2], struct err *err);
int causal_share_measured(
	struct causal_runner *c, const struct causal_choice *choice, struct err *err);

/* Tell the engine how to leave the code of others in files that the program has loaded meanwhile.
 */
int causal_learn_files(struct causal_runner *c, struct err *err);

/* Keep and emit what was measured of one half of a pair. */
int causal_half_keep(struct causal_runner *c, const struct causal_order *order,
	struct causal_half *half, struct err *err);

/* Both halves in random order, each measured by `half`.  1: done, 0: cut short, or a negative
 * errno; so does `half`. */
typedef int causal_half_measure(
	struct causal_runner *c, const struct causal_choice *choice, bool faster, struct err *err);
int causal_pair_measure(struct causal_runner *c, const struct causal_choice *choice,
	causal_half_measure *half, struct err *err);

/* Measure one pair and emit it.  1: done, 0: cut short, or a negative errno. */
int causal_measure_pair(struct causal_runner *c, struct causal_choice *choice, struct err *err);
