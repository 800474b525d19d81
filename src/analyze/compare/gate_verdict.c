/* gate_verdict.c - one verdict of all metrics and budgets, and its confirmation.
 *
 * The worst decides: a failure, then what cannot be told, then a warning. */
#include <math.h>

#include "gate_parts.h"

static enum gate_decision budget_decision(const struct gate_budget *budget)
{
	static const enum gate_decision decisions[] = {
		[GATE_BUDGET_KEPT] = GATE_PASS,
		[GATE_BUDGET_UNUSED] = GATE_PASS,
		[GATE_BUDGET_UNCLEAR] = GATE_UNKNOWN,
		[GATE_BUDGET_UNKNOWN] = GATE_UNKNOWN,
		[GATE_BUDGET_BROKEN] = GATE_FAIL,
	};

	return decisions[budget->status];
}

/* Of one command the first metric is named, wall time before CPU time; of several the command that
 * changed most. */
static bool is_worse(const struct gate_verdict *verdict, const struct gate_command *command,
	const struct gate_item *item)
{
	const struct gate_item *known = verdict->item;

	if (!known || item->decision != known->decision)
		return !known || item->decision > known->decision;
	if (item->severity != known->severity)
		return item->severity > known->severity;
	return command != verdict->command && item->comparison.effect > known->comparison.effect;
}

static void item_weigh(struct gate_verdict *verdict, const struct gate_command *command,
	const struct gate_item *item)
{
	if (item->severity > verdict->severity)
		verdict->severity = item->severity;
	if (!is_worse(verdict, command, item))
		return;
	verdict->item = item;
	verdict->command = command;
	verdict->note = command->verdict.note;
	verdict->decision = item->decision;
}

/* The word for it, as `ab` says it where there is one. */
static const char *outcome_of(const struct gate_view *view)
{
	const struct gate_verdict *verdict = &view->verdict;
	bool improved = false, told = false;

	if (verdict->budget)
		return verdict->budget->status == GATE_BUDGET_BROKEN ? "budget_broken"
								     : "inconclusive";
	if (verdict->item && verdict->item->comparison.outcome == COMPARE_REGRESSED)
		return "regressed";
	for (uint32_t i = 0; i < view->command_count; i++) {
		improved |= view->commands[i].verdict.outcome == COMPARE_IMPROVED;
		told |= view->commands[i].item_count > 0;
	}
	if (verdict->decision == GATE_UNKNOWN)
		return "inconclusive";
	if (!told)
		return view->budget_count ? "budgets_kept" : "no_baseline";
	/* Not worse than what passes; equivalent only where the data says so. */
	if (!improved && verdict->item->comparison.outcome == COMPARE_INCONCLUSIVE)
		return "no_regression";
	return improved ? "improved" : "equivalent";
}

void gate_decide(struct gate_view *view)
{
	struct gate_verdict *verdict = &view->verdict;

	*verdict = (struct gate_verdict){.decision = GATE_PASS};
	for (uint32_t i = 0; i < view->command_count; i++)
		for (uint32_t k = 0; k < view->commands[i].item_count; k++)
			item_weigh(verdict, &view->commands[i], &view->commands[i].items[k]);
	for (uint32_t i = 0; i < view->budget_count; i++) {
		enum gate_decision decision = budget_decision(&view->budgets[i]);

		if (decision > verdict->decision) {
			verdict->decision = decision;
			verdict->budget = &view->budgets[i];
		}
	}
	verdict->outcome = outcome_of(view);
}

void gate_settle(struct gate_view *view, enum gate_decision decision, const char *outcome)
{
	view->verdict = (struct gate_verdict){.decision = decision, .outcome = outcome};
}

void gate_confirm_begin(struct gate_view *view, uint32_t extra)
{
	view->confirm = (struct gate_confirm){
		.rounds = 1,
		.failed = 1,
		.most = 1 + extra,
		.needed = (1 + extra) / 2 + 1,
	};
}

bool gate_confirm_add(struct gate_view *view, const struct gate_view *again)
{
	struct gate_confirm *confirm = &view->confirm;

	confirm->rounds++;
	confirm->failed += again->verdict.decision == GATE_FAIL;
	confirm->passed += again->verdict.decision <= GATE_WARN;
	if (confirm->failed >= confirm->needed)
		return true;
	if (confirm->passed < confirm->needed && confirm->rounds < confirm->most)
		return false;
	/* It did not come again often enough to be the code. */
	if (confirm->passed >= confirm->needed) {
		view->verdict.decision = GATE_WARN;
		view->verdict.outcome = "not_confirmed";
	} else {
		view->verdict.decision = GATE_UNKNOWN;
		view->verdict.outcome = "inconclusive";
	}
	return true;
}
