/* topdown_parts.h - the engines behind `assay topdown`. */
#pragma once

#include "cli.h"

struct pmu_report;

/* The simulator's answer, for machines without a usable PMU: run the program under it, judge, show
 * the page of `assay topdown` with the shared verdict (analyze/verdict.h, render/verdict.h).
 * `reason` is why the PMU was not used, "" when the user asked for the simulator.  Returns what a
 * command's run() returns; ERR_UNAVAILABLE when the simulator is not here. */
int topdown_simulated(struct cli *cli, const char *reason, struct err *err);

/* The PMU's answer; `report` is its self-test, which found something to work with. */
int topdown_measured(struct cli *cli, const struct pmu_report *report, struct err *err);
