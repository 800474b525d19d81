/* gate_history.h - how much a command's numbers move from one measurement to the next by itself.
 *
 * Pure.  Owns: nothing; texts of rows are borrowed from the run and the view. */
#pragma once

#include <stdint.h>

#include "analyze/bench.h"
#include "analyze/budget.h"

struct history;
struct history_row;
struct run;

enum { GATE_HISTORY_LEAST = 8, GATE_HISTORY_MOST = 100 };

struct gate_noise {
	double iqr;	  /* of the changes between neighbours, as a share; 0: not known */
	uint32_t entries; /* with the same command and fingerprint key */
};

/* The noise of a metric, from the newest entries.  Not known below GATE_HISTORY_LEAST of them.  A
 * real change is one step among many, which quartiles do not feel. */
struct gate_noise gate_history_noise(const struct history *history, const char *command,
	const char *fingerprint, enum gate_metric metric);

/* The row of a command that was measured in `run`. */
struct history_row gate_history_row(const struct run *run, const struct bench_command *command);
