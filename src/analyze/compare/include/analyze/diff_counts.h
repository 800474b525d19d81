/* diff_counts.h - what changed between the counts of two runs, and which event explains the time.
 *
 * Each event has its ratio B over A of the medians, with the interval of Hodges and Lehmann on the
 * logarithms of the executions; fewer than about 4 executions on a side have none.
 * cycles = instructions * cycles per instruction, so the logarithms of the two ratios add up to
 * that of the cycles; a miss explains its increase at a usual price in cycles (ab_explain() has the
 * same).  What an event explains is a share of the change of the CPU time; it is an estimate where
 * a price is in it, and the shares of misses are parts of what cycles per instruction explain.
 * Simulated counts are exact: two of them have a difference and no interval.  A simulation tells no
 * time, and its counts are not compared with those of a machine.
 * Pure.  Owns: everything is in the caller's arena; texts are the runs'. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/ab.h"
#include "base/arena.h"

struct run;

struct diff_count_row {
	const char *name, *unit, *core;
	double a, b;	       /* medians; NAN: see the reason */
	double change;	       /* B over A - 1 */
	double difference;     /* B - A; NAN: see the reason */
	double lo, hi;	       /* of the change, 95 %; NAN: too few executions, or exact */
	bool simulated;	       /* on both sides */
	bool exact;	       /* simulated, and the same in each execution of its side */
	bool moved;	       /* the interval leaves 0 out; exact: A and B differ */
	double explains_share; /* of the change of the time; NAN: nothing can be said */
	bool priced;	       /* the share rests on a usual price */
	const char *reason;    /* why there is no change, or "" */
};

struct diff_counts_view {
	struct diff_count_row *rows; /* what explains most first, then what moved most */
	uint32_t row_count;
	struct diff_count_row time; /* CPU time, else wall time */
	uint32_t executions_a, executions_b;
	bool simulated_a, simulated_b; /* every event of that side is */
	double work_share, stall_share,
		clock_share; /* of the time's logarithm: instructions, cycles
			      * per instruction, clock rate; NAN: no PMU */
	struct ab_explanation explanation;
};

/* True when both runs have counts of executions. */
bool diff_counts_possible(const struct run *a, const struct run *b);

void diff_counts_make(const struct run *a, const struct run *b, struct arena *arena,
	struct diff_counts_view *ret_view);
