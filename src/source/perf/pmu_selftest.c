/* pmu_selftest.c - verdicts from counts over known work; pure logic over a pmu_port.
 *
 * Counters: the kernel checks the size of a group only roughly.  On a PMU with 6 counters a group
 * of 7 opens without an error and never runs (measured, armv8_pmuv3, Linux 6.1 and 6.12), so groups
 * are grown until one does not run all the time.
 * Verdicts: wide bounds on purpose.  They are to catch zeros and nonsense, not to grade a PMU;
 * only instructions and branches of a loop are known exactly. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "source/pmu.h"

enum check_kind {
	CHECK_STEPS, /* value / steps of the work within [low, high] */
	CHECK_GHZ,   /* value / running time within [low, high] */
	CHECK_MOVES, /* only not 0: how much is right is not known */
};

#define CACHE_EVENT(cache, result)                                                                 \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 |                          \
		PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* Bounds in steps.  cache-references is L1 accesses on ARM, L2 or L3 requests elsewhere: at least
 * one for each load that misses everything. */
static const struct check {
	const char *name;
	uint32_t type;
	uint64_t config;
	enum pmu_work work;
	enum check_kind kind;
	double low, high;
} checks[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, PMU_WORK_LOOP, CHECK_GHZ, 0.2, 7},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, PMU_WORK_LOOP, CHECK_STEPS,
		PMU_LOOP_INSTRUCTIONS * 0.99, PMU_LOOP_INSTRUCTIONS * 1.01},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PMU_WORK_LOOP,
		CHECK_STEPS, 0.99, 1.01},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, PMU_WORK_BRANCH,
		CHECK_STEPS, 0.2, 1.1},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, PMU_WORK_CHASE,
		CHECK_STEPS, 0.5, 50},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, PMU_WORK_CHASE,
		CHECK_STEPS, 0.5, 10},
	{"L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE_EVENT(L1D, ACCESS), PMU_WORK_CHASE,
		CHECK_STEPS, 0.9, 50},
	{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE_EVENT(L1D, MISS), PMU_WORK_CHASE,
		CHECK_STEPS, 0.5, 10},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
		PMU_WORK_BRANCH, CHECK_MOVES, 0, 0},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
		PMU_WORK_CHASE, CHECK_MOVES, 0, 0},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, PMU_WORK_LOOP, CHECK_GHZ,
		0.01, 7},
};
_Static_assert(sizeof(checks) / sizeof(*checks) <= PMU_EVENTS, "room for every check");

static const unsigned work_steps[PMU_WORKS] = {
	[PMU_WORK_LOOP] = PMU_LOOP_STEPS,
	[PMU_WORK_BRANCH] = PMU_BRANCH_STEPS,
	[PMU_WORK_CHASE] = PMU_CHASE_STEPS,
};

const char *pmu_verdict_name(enum pmu_verdict verdict)
{
	static const char *const names[PMU_VERDICTS] = {
		"trusted", "zero", "implausible", "never ran", "absent"};

	return verdict < PMU_VERDICTS ? names[verdict] : "unknown";
}

static uint64_t config_on(const struct pmu_core *core, bool hybrid, const struct check *check)
{
	return hybrid ? check->config | (uint64_t)core->type << 32 : check->config;
}

static void judge_value(
	const struct check *check, const struct pmu_count *count, struct pmu_event *event)
{
	bool rate = check->kind == CHECK_GHZ;
	double base = rate ? (double)count->running_ns : (double)work_steps[check->work];
	double measured = (double)count->value / base;

	if (check->kind == CHECK_MOVES) {
		event->verdict = PMU_TRUSTED;
		snprintf(event->reason, sizeof(event->reason),
			"it counts, but its accuracy cannot be checked");
		return;
	}
	event->verdict =
		measured >= check->low && measured <= check->high ? PMU_TRUSTED : PMU_IMPLAUSIBLE;
	snprintf(event->reason, sizeof(event->reason), "%.3g %s, expected %.3g to %.3g", measured,
		rate ? "GHz" : "per step of known work", check->low, check->high);
}

static void judge(const struct check *check, int opened, const struct pmu_count *count,
	struct pmu_event *event)
{
	event->name = check->name;
	event->type = check->type;
	event->config = check->config;
	if (opened < 0) {
		event->verdict = PMU_ABSENT;
		snprintf(event->reason, sizeof(event->reason), "does not open: %s",
			opened == -ENOENT || opened == -EOPNOTSUPP || opened == -EINVAL
				? "this PMU has no such event"
				: err_words(-opened));
	} else if (!count->running_ns) {
		event->verdict = PMU_NEVER_RAN;
		snprintf(event->reason, sizeof(event->reason),
			"opens without an error but never gets a counter");
	} else if (!count->value) {
		event->verdict = PMU_ZERO;
		snprintf(event->reason, sizeof(event->reason),
			"opens and runs, but reads 0 after %u steps of work",
			work_steps[check->work]);
	} else
		judge_value(check, count, event);
}

static bool group_ran_together(const struct pmu_port *port, struct pmu_group *group, unsigned count)
{
	struct pmu_count counts[PMU_GROUP_MAX] = {0};

	group->count = count;
	if (port->measure(port->context, group, counts) < 0)
		return false;
	/* One percent is room for the moment between enabling and scheduling. */
	return counts[0].running_ns && counts[0].running_ns * 100 >= counts[0].enabled_ns * 99;
}

/* Branches first: instructions and cycles have fixed counters of their own on Intel, cycles on ARM,
 * and would be counted beside the general ones.  They are for PMUs that have nothing else. */
static unsigned counters_find(const struct pmu_port *port, bool hybrid, const struct pmu_core *core)
{
	static const unsigned tries[] = {2, 1, 0};

	for (unsigned t = 0; t < sizeof(tries) / sizeof(*tries); t++) {
		struct pmu_group group = {.work = PMU_WORK_LOOP};
		unsigned found = 0;

		for (unsigned i = 0; i < PMU_GROUP_MAX; i++) {
			group.type[i] = checks[tries[t]].type;
			group.config[i] = config_on(core, hybrid, &checks[tries[t]]);
		}
		while (found < PMU_GROUP_MAX && group_ran_together(port, &group, found + 1))
			found++;
		if (found)
			return found;
	}
	return 0;
}

bool pmu_core_is_cut_down(const struct pmu_core *core)
{
	static const char *const everywhere[] = {
		"cycles", "instructions", "branches", "branch-misses", "cache-misses"};

	for (unsigned i = 0; i < core->events; i++) {
		if (core->event[i].verdict == PMU_ZERO)
			return true;
		for (unsigned k = 0; k < sizeof(everywhere) / sizeof(*everywhere); k++)
			if (strcmp(core->event[i].name, everywhere[k]) == 0 &&
				core->event[i].verdict == PMU_ABSENT)
				return true;
	}
	return false;
}

int pmu_test_event(const struct pmu_port *port, uint32_t type, uint64_t config)
{
	for (enum pmu_work work = 0; work < PMU_WORKS; work++) {
		struct pmu_group group = {
			.work = work, .count = 1, .type = {type}, .config = {config}};
		struct pmu_count count = {0};
		int r = port->measure(port->context, &group, &count);

		/* What never ran has told nothing. */
		if (r < 0 || count.value || !count.running_ns)
			return r < 0 ? r : 1;
	}
	return 0;
}

void pmu_test_core(const struct pmu_port *port, bool hybrid, struct pmu_core *core)
{
	core->events = 0;
	for (unsigned i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct pmu_count count = {0};
		struct pmu_group group = {
			.work = checks[i].work,
			.count = 1,
			.type = {checks[i].type},
			.config = {config_on(core, hybrid, &checks[i])},
		};
		int opened = port->measure(port->context, &group, &count);

		judge(&checks[i], opened, &count, &core->event[core->events++]);
	}
	core->counters = counters_find(port, hybrid, core);
}
