/* topdown_plan.h - which events are counted together, in how many runs of the program.
 *
 * Events whose quotient is wanted must be on the PMU at the same time, and a group that is larger
 * than the PMU never runs.  So the groups of the CPU's table are cut to the counters that the
 * self-test found, and each group gets a run of its own: nothing is multiplexed.
 * Pure.  Owns: everything is in the caller's arena; tables are borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cpu_book.h"

enum { TOPDOWN_CORES = 4, TOPDOWN_LEVELS = 2 };

/* One kind of core of this machine; a hybrid CPU has two. */
struct topdown_core {
	const char *pmu;	       /* its PMU in sysfs: "cpu", "cpu_core", "armv8_pmuv3" */
	const struct cpu_table *table; /* NULL: no table for this CPU */
	unsigned counters;	       /* general ones that ran together, 0: not known */
	unsigned width;		       /* slots per cycle as the kernel tells, 0: not told */
};

/* Events of one core that are counted together. */
struct topdown_group {
	unsigned core;
	const uint32_t *events; /* index into the table's events */
	uint32_t count;
};

/* What one run of the program counts. */
struct topdown_pass {
	const char *generic; /* generic events as `assay stat -e` takes them, or "" */
	const struct topdown_group *groups; /* at most one per core */
	uint32_t group_count;
};

struct topdown_plan {
	struct topdown_pass *passes;
	uint32_t pass_count;
	bool cut;     /* a group of a table was too large for the counters that are free */
	bool metrics; /* events that the kernel must be asked for every second (perf-metrics) */
};

struct topdown_wish {
	unsigned level; /* 1 or 2; 0: generic events alone */
	bool together;	/* all in one pass: the kernel multiplexes */
};

/* Make the plan.  Generic events (IPC, branch and cache misses) always have passes of their own;
 * cycles without progress too where a core has no table. */
void topdown_plan_make(const struct topdown_core *cores, unsigned core_count,
	const struct topdown_wish *wish, struct arena *arena, struct topdown_plan *ret_plan);

/* Other sets of the core's table (`sets` ends with NULL), cut to its counters in the same way, as
 * `assay stat -e` takes them: "{A,B},{A,C}".  A set that the table has not is left out; "" when
 * none is left. */
const char *topdown_plan_sets(
	const struct topdown_core *core, const char *const *sets, struct arena *arena);
