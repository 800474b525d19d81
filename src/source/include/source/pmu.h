/* pmu.h - is there a PMU, how many counters really run together, and which events can be believed.
 *
 * A counter that opens and reads 0 is not a measurement: virtual PMUs and emulators accept events
 * that never count (facts: QEMU's TCG, AWS c7i guests).  So each generic event is counted over work
 * whose true number is known, and gets a verdict.  Numbers of an event that is not trusted must not
 * be shown, and no ratio may be made from them.
 *
 * Does: open counters on the calling thread, about 15 ms of work per core type, restore the
 * thread's affinity.  Does not: keep anything open, print.  Owns nothing.  Threads: any, one at a
 * time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define PMU_DEVICES "/sys/bus/event_source/devices"

enum pmu_verdict {
	PMU_TRUSTED,
	PMU_ZERO,	 /* opens, runs, and reads 0 where there was work */
	PMU_IMPLAUSIBLE, /* counts, but not what was done */
	PMU_NEVER_RAN,	 /* opens and is never put on a counter */
	PMU_ABSENT,	 /* this PMU has no such event */
	PMU_VERDICTS,
};

/* "trusted", "zero", "implausible", "never ran", "absent". */
const char *pmu_verdict_name(enum pmu_verdict verdict);

struct pmu_event {
	const char *name; /* as perf spells it: "branch-misses" */
	uint32_t type;	  /* and as the kernel does */
	uint64_t config;
	enum pmu_verdict verdict;
	char reason[128]; /* what was expected and what came */
};

enum { PMU_EVENTS = 12, PMU_CORE_TYPES = 4, PMU_GROUP_MAX = 16 };

/* One kind of core; a hybrid CPU has two. */
struct pmu_core {
	char name[64]; /* of the PMU in sysfs: "cpu", "cpu_core", "armv8_pmuv3" */
	uint32_t type;
	int cpu;	   /* a CPU of this kind, -1: all CPUs are alike */
	unsigned counters; /* general counters that ran together; 0: none did */
	unsigned events;
	struct pmu_event event[PMU_EVENTS];
};

struct pmu_report {
	bool present; /* false: this machine has no PMU, the rest is empty */
	unsigned cores;
	struct pmu_core core[PMU_CORE_TYPES];
};

/* The whole self-test.  0, also when there is no PMU; a negative errno with the true cause when
 * counting is not permitted, so that nothing is known. */
int pmu_selftest(struct pmu_report *ret_report, struct err *err);

/* Whether zeros and gaps among the generic events make other zeros of this core doubtful too. */
bool pmu_core_is_cut_down(const struct pmu_core *core);

/* Count an event that has no check of its own over all kinds of work: 1 it moved, 0 it read 0 each
 * time, or a negative errno. */
int pmu_event_moves(uint32_t type, uint64_t config);

/* Only open one event: 1 there is a PMU, 0 there is none, or a negative errno as above. */
int pmu_present(struct err *err);

/* --- the parts, for tests with a PMU that is not there --- */

/* Work whose events are known. */
enum pmu_work {
	PMU_WORK_LOOP,	 /* PMU_LOOP_STEPS times 4 instructions, one of them a branch */
	PMU_WORK_BRANCH, /* PMU_BRANCH_STEPS branches on random bits */
	PMU_WORK_CHASE, /* PMU_CHASE_STEPS dependent loads, each from a line flushed from all caches
			 */
	PMU_WORKS,
};
enum {
	PMU_LOOP_STEPS = 1000000,
	PMU_LOOP_INSTRUCTIONS = 4,
	PMU_BRANCH_STEPS = 100000,
	PMU_CHASE_STEPS = 16384,
};

struct pmu_group {
	enum pmu_work work;
	unsigned count;
	uint32_t type[PMU_GROUP_MAX];
	uint64_t config[PMU_GROUP_MAX];
};

struct pmu_count {
	uint64_t value, enabled_ns, running_ns;
};

/* Where counts come from: open the group on this thread, do the work, read.  0, or a negative errno
 * of the event that did not open. */
struct pmu_port {
	int (*measure)(void *context, const struct pmu_group *group, struct pmu_count *ret_counts);
	void *context;
};

/* Fill counters and verdicts of `core`, whose name, type and cpu are set.  `hybrid`: say the PMU's
 * type in each generic event. */
void pmu_test_core(const struct pmu_port *port, bool hybrid, struct pmu_core *core);

/* As pmu_event_moves(), through the port. */
int pmu_test_event(const struct pmu_port *port, uint32_t type, uint64_t config);

/* The core PMUs below `devices` (normally /sys/bus/event_source/devices), at most `max`. */
unsigned pmu_list(const char *devices, struct pmu_core *ret_cores, unsigned max);

/* Do the work once; `before` is called when all is prepared, `after` at once when it is done. */
int pmu_do_work(enum pmu_work work, void (*before)(void *), void (*after)(void *), void *context);
