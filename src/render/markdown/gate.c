/* gate.c - the gate for a pull request: a comment.  Command lines and notes come from strangers. */
#include "render/markdown.h"

#include "render/gate.h"

/* The numbers; the verdict comes behind them. */
static void item_numbers(
	struct str *out, const struct gate_command *command, const struct gate_item *item)
{
	const struct comparison *one = &item->comparison;

	str_add(out, "| ");
	markdown_code(out, command->candidate->name, true);
	markdown_add_cells(out, " | %s | ", one->name);
	gate_value(out, item->metric, false, one->median_a);
	str_add(out, " | ");
	gate_value(out, item->metric, false, one->median_b);
	str_add(out, " | ");
	gate_percent(out, one->effect);
	str_add(out, " | ");
	gate_interval(out, one);
}

static void item_line(
	struct str *out, const struct gate_command *command, const struct gate_item *item)
{
	item_numbers(out, command, item);
	str_addf(out, " | %s%s%s |\n", compare_outcome_name(item->comparison.outcome),
		item->severity ? ", " : "",
		item->severity ? gate_severity_name(item->severity) : "");
}

static void command_lines(struct str *out, const struct gate_command *command)
{
	for (uint32_t i = 0; i < command->item_count; i++)
		item_line(out, command, &command->items[i]);
	if (command->corrected) {
		item_numbers(out, command, &command->plain_wall);
		str_add(out, " | shown only |\n");
	}
}

static void items_table(struct str *out, const struct gate_view *view)
{
	bool any = false;

	for (uint32_t i = 0; i < view->command_count; i++) {
		if (!view->commands[i].item_count)
			continue;
		if (!any)
			str_add(out, "| command | metric | before | after | change | "
				     "interval | verdict |\n"
				     "|---|---|---:|---:|---:|---:|---|\n");
		any = true;
		command_lines(out, &view->commands[i]);
	}
	str_add(out, any ? "\n" : "");
}

static void budgets_table(struct str *out, const struct gate_view *view)
{
	if (view->budget_count)
		str_add(out, "| budget for | metric | measured | at most | "
			     "|\n|---|---|---:|---:|---|\n");
	for (uint32_t i = 0; i < view->budget_count; i++) {
		const struct gate_budget *one = &view->budgets[i];
		const struct budget *rule = one->budget;

		str_add(out, "| ");
		markdown_code(out, one->command ? one->command : rule->pattern, true);
		str_addf(out, " | %s %s | ", gate_metric_name(rule->metric),
			budget_statistic_name(rule->statistic));
		gate_value(out, rule->metric, one->relative, one->value);
		str_add(out, " | ");
		gate_value(out, rule->metric, one->relative, one->limit);
		str_addf(out, " | %s", gate_budget_status_name(one->status));
		if (*rule->note) {
			str_add(out, " ");
			markdown_code(out, rule->note, true);
		}
		str_add(out, " |\n");
	}
	str_add(out, view->budget_count ? "\n" : "");
}

static void machines_line(struct str *out, const struct gate_page *page)
{
	const struct gate_comparability *machines = page->machines;

	if (!page->baseline_count)
		return;
	str_addf(out, "Machines: **%s**", fingerprint_class_name(machines->class));
	for (uint32_t i = 0; i < machines->count; i++)
		vec_foreach (const struct fingerprint_difference, d, &machines->each[i].differences)
			if (d->severity == FINGERPRINT_BLOCK ||
				(d->severity == FINGERPRINT_WARN && machines->class == ADVISORY)) {
				str_add(out, "; ");
				markdown_code(out, d->field, false);
				str_add(out, " ");
				markdown_code(out, d->a ? d->a : d->a_missing, false);
				str_add(out, " then, ");
				markdown_code(out, d->b ? d->b : d->b_missing, false);
				str_add(out, " now");
			}
	str_add(out, machines->known ? ".\n\n" : "; a side has no fingerprint.\n\n");
}

static void caveats(struct str *out, const struct gate_page *page)
{
	const struct envelope_view *envelope = page->envelope;
	const char *note = compare_note_text(page->view->verdict.note);

	if (*note)
		markdown_add(out, "Note: %s.\n\n", note);
	if (page->baseline_count)
		str_add(out, "Variance: before and after were measured in two sessions, not "
			     "interleaved, so the numbers include what the machine did in between. "
			     "`assay ab` on both builds is more reliable.\n\n");
	if (envelope)
		str_addf(out, "Envelope of the %u baselines: **%s**%s.\n\n", envelope->repeats,
			envelope_class_name(envelope->class),
			envelope->class >= ENVELOPE_INVESTIGATE
				? "; they differ from each other by more than the change under test"
				: "");
}

void gate_markdown(struct str *out, const struct gate_page *page)
{
	str_auto struct str sentence = {0};

	gate_sentence(&sentence, page);
	str_add(out, "## Performance gate: ");
	str_addf(out, "%s\n\n", gate_decision_name(page->view->verdict.decision));
	markdown_code(out, str_text(&sentence), false);
	str_add(out, "\n\n");
	items_table(out, page->view);
	budgets_table(out, page->view);
	machines_line(out, page);
	caveats(out, page);
	str_add(out, "Reproduce: ");
	markdown_code(out, page->reproduce, false);
	str_add(out, "\n");
}
