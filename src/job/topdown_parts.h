/* topdown_parts.h - the engines behind topdown.h: private to topdown*.c. */
#pragma once

#include "job/topdown.h"

struct pmu_report;

/* As topdown_job_do().  `report` is the self-test, which found something to work with. */
int topdown_measure(struct topdown_job *job, const struct pmu_report *report, struct err *err);
int topdown_simulate(struct topdown_job *job, struct err *err);

/* What the self-test of a PMU says about it. */
struct topdown_facts;
void topdown_tier_find(
	const struct pmu_report *report, struct arena *arena, struct topdown_facts *facts);
/* Whether there is anything to work with; else the reason in `err`. */
int topdown_pmu_check(const struct pmu_report *report, struct err *err);
/* Options that choose among counters and have nothing to choose in the simulator: "--level,
 * --once"; "" */
void topdown_unused(const struct topdown_options *options, struct str *out);
