/* pmu_cost.h - what a miss at each level, a line and a mispredict cost on this machine, in ns.
 *
 * Does: time small works whose events are known, in CPU time: the median of several tries, and of a
 * cycle the best.  About 0.3 s and 64 MiB in all.  Does not: need a PMU.
 * Threads: any, one at a time. */
#pragma once

struct cache_sizes;

struct pmu_cost {
	double cycle_ns;  /* a step of the shortest loop: one cycle of the core */
	double memory_ns; /* a dependent load of a line that is in no cache */
	double line_ns;	  /* one line of 64 bytes of a sequential read from memory */
	double plain_ns;  /* the same when every word of it is read, one by one */
	double cache_ns;  /* a dependent load that misses L1 and hits L2 */
	double far_ns;	  /* one that misses L2 and hits L3; 0: there is no L3, or nobody tells */
	double mispredict_ns; /* a branch that goes the other way */
};

/* 0, or a negative errno when there is no memory for it. */
int pmu_cost_measure(const struct cache_sizes *sizes, struct pmu_cost *ret_cost);
