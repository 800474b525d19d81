/* topdown_parts.h - private to topdown*.c, and for tests. */
#pragma once

#include "job/topdown.h"

/* The simulator's answer; as topdown_job_do(). */
int topdown_simulate(struct topdown_job *job, struct err *err);

/* What the self-test of a PMU says about it. */
void topdown_tier_find(
	const struct pmu_report *report, struct arena *arena, struct topdown_facts *facts);
/* Whether there is anything to work with; else the reason in `err`. */
int topdown_pmu_check(const struct pmu_report *report, struct err *err);
/* Options that have nothing to choose in the simulator: "--level, --once". */
void topdown_unused(const struct topdown_options *options, struct str *out);
