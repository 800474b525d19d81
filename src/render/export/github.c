/* github.c - GitHub's workflow commands: annotations of a pull request.
 *
 * Notes come from strangers: every byte that ends a workflow command is escaped as GitHub's runner
 * decodes it (% CR LF, in properties also : and ,). */
#include "render/export.h"

#include <ctype.h>
#include <string.h>

#include "render/gate.h"

void github_escape(struct str *out, const char *text, bool property)
{
	size_t left = strlen(text), step;
	uint32_t point;

	for (; left; text += step, left -= step) {
		step = str_next(text, left, &point);
		if (step == 1 && strchr(property ? "%\r\n:," : "%\r\n", *text))
			str_addf(out, "%%%02X", (unsigned)point);
		else if (str_is_shown(point))
			str_add_bytes(out, text, step);
		else
			str_add_char(out, '?');
	}
}

void github_disarm(const struct str *text, struct str *out)
{
	bool in_line = false;

	for (const char *at = str_text(text); *at; at++) {
		bool is_command = !in_line && at[0] == ':' && at[1] == ':';

		str_add_char(out, *at);
		if (is_command || strncmp(at, "##[", 3) == 0)
			str_add_char(out, ' ');
		in_line = *at != '\n' && (in_line || !isspace((unsigned char)*at));
	}
}

static void annotation(struct str *out, bool error, const struct gate_page *page,
	const struct gate_budget *budget, const char *text)
{
	str_addf(out, "::%s ", error ? "error" : "warning");
	if (budget) {
		str_add(out, "file=");
		github_escape(out, page->budgets_path, true);
		str_addf(out, ",line=%u,", budget->budget->line);
	}
	str_addf(out, "title=%s::", budget ? "Performance budget" : "Performance gate");
	github_escape(out, text, false);
	str_add_char(out, '\n');
}

static void budget_annotation(
	struct str *out, const struct gate_page *page, const struct gate_budget *one)
{
	const struct budget *rule = one->budget;
	str_auto struct str text = {0};

	str_addf(&text, "%s: %s %s of %s is ", gate_budget_status_name(one->status),
		gate_metric_name(rule->metric), budget_statistic_name(rule->statistic),
		one->command ? one->command : rule->pattern);
	gate_value(&text, rule->metric, one->relative, one->value);
	str_add(&text, ", the budget ");
	gate_value(&text, rule->metric, one->relative, one->limit);
	if (*rule->note)
		str_addf(&text, " (%s)", rule->note);
	annotation(out, one->status == GATE_BUDGET_BROKEN, page, one, str_text(&text));
}

void gate_github(struct str *out, const struct gate_page *page)
{
	const struct gate_view *view = page->view;
	str_auto struct str sentence = {0};

	for (uint32_t i = 0; i < view->budget_count; i++)
		if (view->budgets[i].status != GATE_BUDGET_KEPT)
			budget_annotation(out, page, &view->budgets[i]);
	if (view->verdict.decision == GATE_PASS || view->verdict.budget)
		return;
	gate_sentence(&sentence, page);
	annotation(out, view->verdict.decision >= GATE_FAIL, page, NULL, str_text(&sentence));
}
