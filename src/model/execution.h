/* execution.h - executions packed: with run_execution() the one place that knows both forms. */
#pragma once

#include "model/run.h"

/* The quality that counts the values which did not fit. */
#define EXECUTION_SATURATED "saturated_values"

/* `row` as a run keeps it.  Its command and flags fit (EXECUTION_COMMANDS_MAX).  Adds to
 * `*saturated` how many other values did not. */
struct execution_packed execution_pack(const struct execution_row *row, uint64_t *saturated);
