/* causal_result.h - what one experiment measured.
 *
 * Part of causal.h, which is what everybody includes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What happened during the measured part of an experiment, beyond the result. */
struct causal_counts {
	uint64_t samples, hits, lost;
	uint64_t hit_ns;			      /* time that the hits stand for */
	uint64_t handed;			      /* wakes of one thread by another */
	uint64_t outside, irq, timer;		      /* wakes by others */
	uint64_t signals, masked, unheard, in_kernel; /* pauses asked for, and why not */
	uint64_t filtered, no_stack;		      /* ...because they could end the program */
	uint64_t pauses, paused_ns;
	uint64_t queued_ns, ran_ns; /* threads waited for a CPU, were on one */
	uint64_t others_ns;	    /* so were other programs, on any CPU (preload) */
	uint64_t no_seat, inside;
	uint64_t marked, by_clock, by_peer; /* visits of probes, and what set them off */
	uint64_t ticks, calls;		    /* wakes by a clock, and by a program that sent */
};

struct causal_result {
	uint64_t start_ns;   /* CLOCK_MONOTONIC */
	uint64_t wall_ns;    /* of the measured part */
	uint64_t virtual_ns; /* the same on the program's virtual clock; 0: it did not move */
	uint64_t owed_ns;    /* delay that the target bought, or other programs made */
	uint64_t unpaid_ns;  /* owed by running threads at the end, the largest debt */
	uint64_t busiest_ns; /* CPU time of the thread that used most, since the warm-up began */
	uint32_t threads;    /* that were seen */
	bool cut;	     /* the process ended or changed its program meanwhile */
	struct causal_counts counts;
};
