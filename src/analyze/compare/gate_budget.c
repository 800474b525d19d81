/* gate_budget.c - the budgets of a gate: each limit against what was measured.
 *
 * A limit is broken when the value is above it and so is its whole interval; above with an interval
 * that reaches below is unclear, never a pass in silence.  A median against the baseline rests on
 * the comparison that was made already, which has a test; other statistics have none, so the
 * candidate's own interval must clear the baseline's value. */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "gate_parts.h"

const char *gate_budget_status_name(enum gate_budget_status status)
{
	static const char *const names[] = {"kept", "unused", "unclear", "unknown", "broken"};

	return names[status];
}

static const struct summary *summary_of(
	const struct bench_command *command, enum gate_metric metric)
{
	return metric == GATE_WALL  ? &command->wall
	       : metric == GATE_CPU ? &command->cpu
				    : &command->rss;
}

static enum gate_budget_status status_of(double value, double lo, double limit)
{
	return value <= limit ? GATE_BUDGET_KEPT
	       : lo > limit   ? GATE_BUDGET_BROKEN
			      : GATE_BUDGET_UNCLEAR;
}

static struct gate_budget absolute_judge(
	const struct budget *budget, const struct gate_command *command)
{
	const struct summary *summary = summary_of(command->candidate, budget->metric);
	struct gate_budget one = {
		.budget = budget,
		.command = command->candidate->name,
		.limit = budget->absolute,
		.status = GATE_BUDGET_UNKNOWN,
		.reason = "it was not measured",
	};
	struct interval interval;

	one.value = budget_value(summary, budget->statistic, &interval);
	if (!summary->count || !(one.value > 0))
		return one;
	one.reason = "";
	one.status = status_of(one.value, interval.lo, one.limit);
	return one;
}

/* The statistic of the baselines: of several, the middle one by nearest rank. */
static double baseline_value(const struct gate_command *command, const struct budget *budget)
{
	mem_auto double *values = mem_new(command->baseline_count, sizeof(*values));
	struct interval ignored;

	for (uint32_t i = 0; i < command->baseline_count; i++)
		values[i] = budget_value(summary_of(command->baselines[i], budget->metric),
			budget->statistic, &ignored);
	stats_sort(values, command->baseline_count);
	return stats_nearest_sorted(values, command->baseline_count, 0.5);
}

static struct gate_budget relative_judge(
	const struct budget *budget, const struct gate_command *command, bool advisory)
{
	const struct summary *summary = summary_of(command->candidate, budget->metric);
	const struct gate_item *item = gate_item_of(command, budget->metric);
	struct gate_budget one = {
		.budget = budget,
		.command = command->candidate->name,
		.relative = true,
		.limit = budget->relative,
		.value = (double)NAN,
		.status = GATE_BUDGET_UNKNOWN,
		.reason = "it has no baseline",
	};
	struct interval interval;
	double then = baseline_value(command, budget);
	double now = budget_value(summary, budget->statistic, &interval);

	if (budget->statistic == BUDGET_MEDIAN && item) {
		const struct comparison *two = &item->comparison;
		bool certain = two->adjusted_p < two->alpha;

		one.value = two->effect;
		one.status = status_of(two->effect, certain ? two->lo : -1, one.limit);
	} else if (then > 0 && now > 0) {
		one.value = now / then - 1;
		one.status = status_of(one.value, interval.lo / then - 1, one.limit);
	} else {
		return one;
	}
	one.reason = "";
	if (advisory && one.status == GATE_BUDGET_BROKEN)
		one.status = GATE_BUDGET_UNCLEAR;
	return one;
}

static void budget_judge(
	struct gate_view *view, const struct budget *budget, const struct gate_command *command)
{
	if (!isnan(budget->absolute))
		view->budgets[view->budget_count++] = absolute_judge(budget, command);
	if (!isnan(budget->relative))
		view->budgets[view->budget_count++] =
			relative_judge(budget, command, view->advisory);
}

void gate_budgets_judge(struct gate_view *view, const struct budget_book *book, struct arena *arena)
{
	size_t most = book ? (size_t)book->rows.count * (2 * (size_t)view->command_count + 1) : 0;

	view->budgets = arena_take(arena, most * sizeof(*view->budgets));
	for (uint32_t i = 0; book && i < book->rows.count; i++) {
		const struct budget *budget = &book->rows.at[i];
		bool applied = false;

		for (uint32_t k = 0; k < view->command_count; k++) {
			if (!budget_applies(budget, view->commands[k].candidate->name))
				continue;
			applied = true;
			budget_judge(view, budget, &view->commands[k]);
		}
		if (!applied)
			view->budgets[view->budget_count++] = (struct gate_budget){
				.budget = budget,
				.value = (double)NAN,
				.limit = isnan(budget->absolute) ? budget->relative
								 : budget->absolute,
				.relative = isnan(budget->absolute),
				.status = GATE_BUDGET_UNUSED,
				.reason = "no command matches it",
			};
	}
}
