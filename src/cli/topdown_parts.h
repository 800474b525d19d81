/* topdown_parts.h - the engines behind `assay topdown`. */
#pragma once

#include "cli.h"

/* The simulator's answer, for machines without a usable PMU: run the program under it, judge, show
 * the page of `assay topdown` with the shared verdict (analyze/verdict.h, render/verdict.h).
 * `reason` is why the PMU was not used, "" when the user asked for the simulator.  Returns what a
 * command's run() returns; ERR_UNAVAILABLE when the simulator is not here. */
int topdown_simulated(struct cli *cli, const char *reason, struct err *err);
