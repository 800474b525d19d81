/* gate.c - the gate's answer for people and agents: what changed, the budgets, one verdict, and the
 * way to be surer.  The sentence of the verdict is the same in every form. */
#include "render/gate.h"

#include <math.h>

#include "render/bench.h"
#include "render/shorten.h"

enum { NAME_COLUMNS = 72, AGENT_ITEMS = 12, AGENT_BUDGETS = 6, DIFFERENCES_SHOWN = 6 };

static enum ink decision_ink(enum gate_decision decision)
{
	static const enum ink inks[] = {
		[GATE_PASS] = INK_GOOD,
		[GATE_WARN] = INK_WARN,
		[GATE_UNKNOWN] = INK_WARN,
		[GATE_FAIL] = INK_BAD,
		[GATE_REFUSED] = INK_BAD,
	};

	return inks[decision];
}

void gate_percent(struct str *out, double share)
{
	if (isfinite(share))
		str_addf(out, "%+.2f %%", share * 100);
	else
		str_add(out, "no bound");
}

void gate_interval(struct str *out, const struct comparison *one)
{
	gate_percent(out, one->lo);
	str_add(out, " .. ");
	gate_percent(out, one->hi);
}

void gate_value(struct str *out, enum gate_metric metric, bool share, double value)
{
	char text[32];

	if (share)
		gate_percent(out, value);
	else if (isnan(value))
		str_add(out, "-");
	else
		str_add(out, metric == GATE_RSS ? paper_bytes(text, sizeof(text), value)
						: paper_time(text, sizeof(text), value));
}

static void item_row(struct table *table, const struct gate_item *item)
{
	const struct comparison *one = &item->comparison;
	str_auto struct str then = {0}, now = {0}, change = {0}, interval = {0};

	gate_value(&then, item->metric, false, one->median_a);
	gate_value(&now, item->metric, false, one->median_b);
	gate_percent(&change, one->effect);
	gate_interval(&interval, one);
	table_cell(table, INK_PLAIN, "%s", one->name);
	table_cell(table, INK_PLAIN, "%s", str_text(&then));
	table_cell(table, INK_PLAIN, "%s", str_text(&now));
	table_cell(table, INK_BOLD, "%s", str_text(&change));
	table_cell(table, INK_DIM, "%s", str_text(&interval));
	table_cell(table, INK_DIM, "%.2g", one->adjusted_p);
	table_cell(table, decision_ink(item->decision), "%s%s%s",
		compare_outcome_name(one->outcome), item->severity ? ", " : "",
		item->severity ? gate_severity_name(item->severity) : "");
}

/* Wall time as it was and what was taken out of it, or why nothing could be though others may
 * have had the CPUs. */
static void corrected_words(struct str *out, const struct gate_command *command)
{
	const struct comparison *wall = &command->plain_wall.comparison;

	if (command->uncorrected && command->may_have_waited)
		str_addf(out, "wall time includes the wait for a CPU: %s", command->uncorrected);
	if (!command->corrected)
		return;
	str_add(out, "corrected wall: wall time less the time it waited for a CPU; wall time went "
		     "from ");
	gate_value(out, GATE_WALL, false, wall->median_a);
	str_add(out, " to ");
	gate_value(out, GATE_WALL, false, wall->median_b);
	str_addf(out, ", of which %.1f %% is waiting now", command->candidate->queue_share * 100);
}

static void corrected_text(struct paper *paper, const struct gate_command *command)
{
	str_auto struct str line = {0};

	corrected_words(&line, command);
	if (line.len)
		paper_wrap(paper, 4, INK_DIM, str_text(&line));
}

static void command_text(struct paper *paper, const struct gate_command *command)
{
	table_auto struct table table = {0};
	str_auto struct str name = {0};

	name_shorten(command->candidate->name, NAME_COLUMNS, &name);
	paper_add(paper, "  ");
	paper_ink(paper, INK_BOLD, "%s", str_text(&name));
	paper_add(paper, "  %u runs now", command->candidate->used_count);
	if (command->baseline_runs)
		paper_add(paper, ", %u then", command->baseline_runs);
	paper_add(paper, "\n");
	table_columns(&table, "", ">baseline", ">now", ">change", ">interval", ">p", "");
	for (uint32_t i = 0; i < command->item_count; i++)
		item_row(&table, &command->items[i]);
	if (command->item_count)
		table_print(&table, paper, 4);
	corrected_text(paper, command);
	for (enum gate_metric metric = 0; metric < GATE_METRICS; metric++)
		if (command->unjudged[metric])
			paper_ink(paper, INK_DIM, "    %s: not judged, %s\n",
				gate_metric_name(metric), command->unjudged[metric]);
}

static void budget_words(struct str *out, const struct gate_budget *budget)
{
	const struct budget *rule = budget->budget;

	str_addf(out, "%s %s ", gate_metric_name(rule->metric),
		budget_statistic_name(rule->statistic));
	gate_value(out, rule->metric, budget->relative, budget->value);
	str_add(out, ", budget ");
	gate_value(out, rule->metric, budget->relative, budget->limit);
}

static void budgets_text(struct paper *paper, const struct gate_view *view)
{
	static const enum ink inks[] = {
		[GATE_BUDGET_KEPT] = INK_GOOD,
		[GATE_BUDGET_UNUSED] = INK_WARN,
		[GATE_BUDGET_UNCLEAR] = INK_WARN,
		[GATE_BUDGET_UNKNOWN] = INK_WARN,
		[GATE_BUDGET_BROKEN] = INK_BAD,
	};

	if (view->budget_count)
		paper_add(paper, "\n  budgets\n");
	for (uint32_t i = 0; i < view->budget_count; i++) {
		const struct gate_budget *one = &view->budgets[i];
		str_auto struct str words = {0};

		budget_words(&words, one);
		paper_add(paper, "    ");
		paper_ink(paper, inks[one->status], "%-7s", gate_budget_status_name(one->status));
		paper_add(paper, " %s", str_text(&words));
		if (view->command_count > 1 || !one->command)
			paper_add(paper, "  [%s]", one->budget->pattern);
		if (*one->reason)
			paper_ink(paper, INK_DIM, "  %s", one->reason);
		if (*one->budget->note && one->status != GATE_BUDGET_KEPT)
			paper_ink(paper, INK_DIM, "  (%s)", one->budget->note);
		paper_add(paper, "\n");
	}
}

/* The metric that decided: "wall of ./prog +30.1 % (+29 .. +31 %), major". */
static void item_words(struct str *out, const struct gate_page *page)
{
	const struct gate_verdict *verdict = &page->view->verdict;
	const struct comparison *one = &verdict->item->comparison;

	str_addf(out, ": %s of ", one->name);
	name_shorten(verdict->command->candidate->name, NAME_COLUMNS, out);
	str_add(out, " ");
	gate_percent(out, one->effect);
	str_add(out, " (");
	gate_interval(out, one);
	str_add(out, ")");
	if (verdict->severity)
		str_addf(out, ", %s", gate_severity_name(verdict->severity));
}

void gate_sentence(struct str *out, const struct gate_page *page)
{
	const struct gate_view *view = page->view;
	const struct gate_verdict *verdict = &view->verdict;

	str_add(out, gate_decision_name(verdict->decision));
	if (!str_equal(gate_decision_name(verdict->decision), verdict->outcome))
		str_addf(out, ", %s", verdict->outcome);
	if (verdict->budget) {
		str_add(out, ": ");
		budget_words(out, verdict->budget);
		if (*verdict->budget->reason)
			str_addf(out, ", %s", verdict->budget->reason);
	} else if (verdict->item) {
		item_words(out, page);
	}
	if (view->confirm.most)
		str_addf(out, "; seen in %u of %u measurements, needs %u", view->confirm.failed,
			view->confirm.rounds, view->confirm.needed);
}

static void differences_text(struct paper *paper, const struct gate_comparability *machines)
{
	unsigned shown = 0;

	for (uint32_t i = 0; i < machines->count; i++)
		vec_foreach (
			const struct fingerprint_difference, d, &machines->each[i].differences) {
			if (d->severity == FINGERPRINT_INFO || shown++ >= DIFFERENCES_SHOWN)
				continue;
			paper_add(paper, "    %s %s: %s, now %s (%s)\n",
				fingerprint_severity_name(d->severity), d->field,
				d->a ? d->a : d->a_missing, d->b ? d->b : d->b_missing, d->reason);
		}
	if (shown > DIFFERENCES_SHOWN)
		paper_add(paper, "    and %u more, see --json\n", shown - DIFFERENCES_SHOWN);
}

static void machines_text(struct paper *paper, const struct gate_page *page)
{
	const struct gate_comparability *machines = page->machines;

	if (!page->baseline_count)
		return;
	paper_add(paper, "  machines: %s%s%s\n", fingerprint_class_name(machines->class),
		machines->known ? "" : ", a side has no fingerprint",
		page->mismatch_allowed && machines->class == NOT_COMPARABLE
			? ", allowed by --allow-mismatch: the result is advisory"
			: "");
	differences_text(paper, machines);
}

/* Where the answer can be had with more certainty, or what to do next. */
static const char *next_step(const struct gate_page *page)
{
	if (page->envelope && !page->view->command_count)
		return "assay tune plan shows how to quiet the machine; then measure the repeats "
		       "again";
	switch (page->view->verdict.decision) {
	case GATE_REFUSED:
		return "remove the BLOCK differences, measure a new baseline on this machine "
		       "(assay bench --save NAME), or use --allow-mismatch for an advisory result";
	case GATE_FAIL:
	case GATE_UNKNOWN:
		return "keep the old build and run assay ab 'OLD' -- 'NEW': interleaved runs "
		       "detect smaller changes than a stored baseline";
	case GATE_WARN:
		return "assay record -- PROGRAM, then assay diff, shows where the time went";
	case GATE_PASS:
		break;
	}
	return "assay bench --save NAME makes this the next baseline";
}

static void floors_text(struct paper *paper, const struct gate_view *view)
{
	for (uint32_t i = 0; i < view->command_count; i++)
		for (uint32_t k = 0; k < view->commands[i].item_count; k++) {
			const struct gate_item *item = &view->commands[i].items[k];

			if (item->comparison.min_effect > view->min_effect)
				paper_ink(paper, INK_DIM,
					"  %s varies by itself: changes below %.2f %% are ignored, "
					"from %u history entries\n",
					item->comparison.name, item->comparison.min_effect * 100,
					item->noise.entries);
		}
}

void gate_text(struct paper *paper, const struct gate_page *page)
{
	const struct gate_view *view = page->view;
	const char *note = compare_note_text(view->verdict.note);
	str_auto struct str sentence = {0};

	paper_add(paper, "\n");
	for (uint32_t i = 0; i < view->command_count; i++)
		command_text(paper, &view->commands[i]);
	budgets_text(paper, view);
	paper_add(paper, view->command_count || view->budget_count ? "\n" : "");
	if (page->envelope)
		envelope_text(paper, page->envelope);
	machines_text(paper, page);
	floors_text(paper, view);
	gate_sentence(&sentence, page);
	paper_wrap(paper, 2, decision_ink(view->verdict.decision), str_text(&sentence));
	if (*note)
		paper_wrap(paper, 2, INK_DIM, note);
	if (view->verdict.decision != GATE_PASS)
		paper_wrap(paper, 2, INK_DIM, next_step(page));
	for (uint32_t i = 0; i < view->command_count; i++)
		bench_troubles(paper, "", view->commands[i].candidate);
	paper_add(paper, "\n");
}

static void agent_items(struct paper *paper, const struct gate_view *view)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < view->command_count; i++)
		for (uint32_t k = 0; k < view->commands[i].item_count; k++) {
			const struct gate_item *item = &view->commands[i].items[k];
			const struct comparison *one = &item->comparison;

			if (shown++ >= AGENT_ITEMS)
				continue;
			paper_add(paper,
				"%.80s: %s %.0f -> %.0f %s, %+.4f [%+.4f .. %+.4f] p = %.2g %s, "
				"severity %s, %s\n",
				view->commands[i].candidate->name, one->name, one->median_a,
				one->median_b, item->metric == GATE_RSS ? "bytes" : "ns",
				one->effect, one->lo, one->hi, one->adjusted_p,
				compare_outcome_name(one->outcome),
				gate_severity_name(item->severity),
				gate_decision_name(item->decision));
		}
	if (shown > AGENT_ITEMS)
		paper_add(paper, "and %u more, see --json\n", shown - AGENT_ITEMS);
}

static void agent_budgets(struct paper *paper, const struct gate_view *view)
{
	for (uint32_t i = 0; i < view->budget_count && i < AGENT_BUDGETS; i++) {
		str_auto struct str words = {0};

		budget_words(&words, &view->budgets[i]);
		paper_add(paper, "budget %s: %.60s: %s\n",
			gate_budget_status_name(view->budgets[i].status),
			view->budgets[i].budget->pattern, str_text(&words));
	}
	if (view->budget_count > AGENT_BUDGETS)
		paper_add(paper, "and %u more budgets, see --json\n",
			view->budget_count - AGENT_BUDGETS);
}

void gate_agent(struct paper *paper, const struct gate_page *page)
{
	const char *note = compare_note_text(page->view->verdict.note);
	str_auto struct str sentence = {0}, corrected = {0};

	agent_items(paper, page->view);
	agent_budgets(paper, page->view);
	if (page->envelope)
		envelope_agent(paper, page->envelope);
	if (page->baseline_count)
		paper_add(paper, "machines: %s\n", fingerprint_class_name(page->machines->class));
	if (page->machines->class == NOT_COMPARABLE)
		differences_text(paper, page->machines);
	gate_sentence(&sentence, page);
	paper_add(paper, "verdict: %s\n", str_text(&sentence));
	if (page->view->verdict.command)
		corrected_words(&corrected, page->view->verdict.command);
	if (corrected.len)
		paper_add(paper, "%s\n", str_text(&corrected));
	if (*note)
		paper_add(paper, "note: %s\n", note);
	paper_add(paper, "next: %s\n", next_step(page));
}
