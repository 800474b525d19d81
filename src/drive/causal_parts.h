/* causal_parts.h - what the files of the causal runner share. */
#pragma once

#include "base/map.h"
#include "base/random.h"
#include "drive/causal.h"
#include "drive/execution.h"

/* The first pairs are short: a rough answer soon, then time goes where it teaches most. */
enum { CAUSAL_WINDOW_QUICK_NS = 100000000 };

struct causal_runner {
	const struct causal_run_options *options;
	const struct wire_sink *sink;
	struct causal_summary *summary;
	struct causal *causal;
	struct execution execution;
	struct random random;
	uint64_t until_ns;	      /* the budget's end, UINT64_MAX: none */
	uint64_t window_ns;	      /* of the next pair */
	uint32_t targets;	      /* emitted */
	struct map files_known;	      /* whose code was looked at */
	bool ended;		      /* the program has */
	bool looked;		      /* where the program is, for a while */
	bool searched;		      /* for a progress point */
	uint64_t checked_ns;	      /* whether the program sandboxes itself */
	uint64_t hopeless_ns;	      /* since when nothing is known to be counted; 0: not so */
	struct causal_half halves[2]; /* speed-up 0, and the other */
};

/* The process that is experimented on; 0: it is not there yet, or no more. */
pid_t causal_target_process(const struct causal_runner *c);

/* Sleep, and answer the target's runtime and the user meanwhile.  1: all of the time is over,
 * 0: the program ended, or the user or the budget stopped it; or a negative errno. */
int causal_wait_ns(struct causal_runner *c, uint64_t ns, struct err *err);

/* Search for a progress point and count it from now on.  1: done, found or not; 0: cut short. */
int causal_search_points(struct causal_runner *c, struct err *err);

/* Tell the engine how to leave the code of others in files that the program has loaded meanwhile.
 */
int causal_learn_files(struct causal_runner *c, struct err *err);

/* Measure one pair and emit it.  1: done, 0: cut short, or a negative errno. */
int causal_measure_pair(struct causal_runner *c, struct causal_choice *choice, struct err *err);
