/* gate_parts.h - the steps of gate_make() that have their own file. */
#pragma once

#include "analyze/gate.h"

/* gate_budget.c: every limit of every budget on every command. */
void gate_budgets_judge(
	struct gate_view *view, const struct budget_book *book, struct arena *arena);

/* gate_verdict.c: one verdict of all items and budgets. */
void gate_decide(struct gate_view *view);

/* gate.c: the metric of a command, NULL when it was not judged. */
const struct gate_item *gate_item_of(const struct gate_command *command, enum gate_metric metric);
