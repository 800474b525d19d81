/* experiment_rows.h - the rows of causal experiments.
 *
 * Part of rows.h, which is what everybody includes. */
#pragma once

#include "model/rows.h"

enum causal_target_kind { CAUSAL_TARGET_CPU, CAUSAL_TARGET_WAIT, CAUSAL_TARGET_KINDS };

/* Code that causal experiments were made on. */
struct causal_target_row {
	text_id name, file, function;
	uint32_t line; /* 0: not one line */
	enum causal_target_kind kind;
};

enum progress_kind { PROGRESS_THROUGHPUT, PROGRESS_LATENCY, PROGRESS_END, PROGRESS_KINDS };

/* Where the program makes progress. */
struct progress_point_row {
	text_id name;
	enum progress_kind kind;
};

enum {
	EXPERIMENT_CUT = 1,	/* the process ended meanwhile: not to be used */
	EXPERIMENT_INSIDE = 2,	/* measured from inside the target, without a kernel side */
	EXPERIMENT_WHOLE = 4,	/* a whole run; the other of its pair is another one */
	EXPERIMENT_PACE = 8,	/* it is known what set the pace: one of these, or neither */
	EXPERIMENT_CLOCK = 16,	/* a clock */
	EXPERIMENT_PEER = 32,	/* another program */
	EXPERIMENT_ROBBED = 64, /* other programs had the CPUs; virtual_ns has that time */
};

/* One causal experiment: a target runs virtually faster for a while.  Those of one `pair` belong
 * together: speed-up 0 and another one.  See docs/format.md for the guard rails. */
struct experiment_row {
	row_id target, execution;
	uint32_t pair, speedup_permille, threads, flags; /* flags: EXPERIMENT_* */
	uint64_t start_ns, wall_ns, virtual_ns, owed_ns, unpaid_ns;
	uint64_t samples, hits, hit_ns, lost;
	uint64_t handed, outside, timer, signals, unheard;
	uint64_t paused_ns, queued_ns, ran_ns;
};

/* Progress made at one point during one experiment. */
struct visit_row {
	row_id experiment, point;
	uint64_t arrivals, departures;	  /* the same for throughput */
	uint64_t open_before, open_after; /* latency: begun and not ended */
};
