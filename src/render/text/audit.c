/* audit.c - see audit.h.  The worst stands first; what to do stands below each finding; the end is
 * what may be said. */
#include "render/audit.h"

#include "render/shorten.h"

enum { RULE_FINDINGS = 6, NAME_COLUMNS = 60 };

static enum ink severity_ink(enum audit_severity severity)
{
	return severity == AUDIT_HIGH ? INK_BAD : severity == AUDIT_MEDIUM ? INK_WARN : INK_DIM;
}

/* "FILE, `CMD`: " as far as it says something. */
static void place_text(
	const struct audit_view *view, const struct audit_finding *finding, struct str *out)
{
	if (finding->file && view->file_count > 1)
		str_addf(out, "%s%s", finding->file, finding->command ? ", " : "");
	if (finding->command && view->command_count > 1) {
		str_add_char(out, '`');
		name_shorten(finding->command, NAME_COLUMNS, out);
		str_add_char(out, '`');
	}
	if (out->len) {
		str_flatten(out->at);
		str_add(out, ": ");
	}
}

/* All findings of one rule: the evidence of each, what it means and what to do once. */
static void rule_text(
	struct paper *paper, const struct audit_view *view, const struct audit_rule *rule)
{
	uint32_t shown = 0, more = 0;

	vec_foreach (const struct audit_finding, finding, &view->findings) {
		str_auto struct str line = {0};

		if (finding->rule != rule || shown == RULE_FINDINGS) {
			more += finding->rule == rule;
			continue;
		}
		if (!shown++) {
			paper_ink(paper, severity_ink(rule->severity), "%-6s",
				audit_severity_name(rule->severity));
			paper_ink(paper, INK_BOLD, "  %s", rule->code);
			paper_add(paper, "\n");
		}
		place_text(view, finding, &line);
		str_add(&line, finding->evidence);
		paper_wrap(paper, 8, INK_PLAIN, str_text(&line));
	}
	if (more)
		paper_add(paper, "        and %u more: use --json\n", more);
	if (!shown)
		return;
	paper_wrap(paper, 8, INK_DIM, rule->means);
	paper_wrap(paper, 8, INK_DIM, rule->fix);
}

/* One line of the worst, and how many there are. */
static void rule_agent(
	struct paper *paper, const struct audit_view *view, const struct audit_rule *rule)
{
	const struct audit_finding *first = NULL;
	str_auto struct str place = {0};
	uint32_t count = 0;

	vec_foreach (const struct audit_finding, finding, &view->findings) {
		if (finding->rule != rule)
			continue;
		first = first ? first : finding;
		count++;
	}
	if (!first)
		return;
	place_text(view, first, &place);
	paper_add(paper, "%s %s: %s%.160s", audit_severity_name(rule->severity), rule->code,
		str_text(&place), first->evidence);
	if (count > 1)
		paper_add(paper, " (and %u more)", count - 1);
	paper_add(paper, "\n");
}

/* Each rule of the book, the worst first. */
static void rules_tell(struct paper *paper, const struct audit_view *view,
	void (*tell)(struct paper *, const struct audit_view *, const struct audit_rule *))
{
	for (int severity = AUDIT_HIGH; severity >= AUDIT_LOW; severity--)
		vec_foreach (const struct audit_rule, rule, &view->book->rules)
			if ((int)rule->severity == severity)
				tell(paper, view, rule);
}

static void fairness_text(struct paper *paper, const struct audit_view *view)
{
	table_auto struct table table = {0};

	paper_add(paper, "\nfairness of the comparison: ");
	paper_ink(paper, INK_BOLD, "%s",
		view->reached >= 0 ? view->steps[view->reached].level->name : "no level");
	paper_add(paper, ", %s\n", fingerprint_class_name(view->class));
	table_columns(&table, "", "", "", "");
	for (unsigned i = 0; i < AUDIT_LEVELS && view->steps[i].level; i++) {
		const struct audit_step *step = &view->steps[i];

		table_cell(&table, INK_BOLD, "%s", step->level->name);
		table_cell(&table,
			step->answer == AUDIT_YES  ? INK_GOOD
			: step->answer == AUDIT_NO ? INK_BAD
						   : INK_DIM,
			"%s", audit_answer_name(step->answer));
		table_cell(&table, INK_PLAIN, "%s", step->level->needs);
		table_cell(&table, INK_DIM, "%s", step->evidence);
	}
	table_print(&table, paper, 2);
}

static void claim_text(struct paper *paper, const struct audit_view *view)
{
	str_auto struct str line = {0};

	str_addf(&line, "supports: %s", view->supports);
	paper_wrap(paper, 0, INK_GOOD, str_text(&line));
	str_clear(&line);
	str_addf(&line, "does not support: %s", view->lacks);
	paper_wrap(paper, 0, INK_WARN, str_text(&line));
}

static void counts_line(struct paper *paper, const struct audit_view *view)
{
	paper_add(paper, "%u HIGH, %u MEDIUM, %u LOW in %u command%s, %u usable run%s\n",
		view->counts[AUDIT_HIGH], view->counts[AUDIT_MEDIUM], view->counts[AUDIT_LOW],
		view->command_count, view->command_count == 1 ? "" : "s", view->run_count,
		view->run_count == 1 ? "" : "s");
}

void audit_text(struct paper *paper, const struct audit_view *view)
{
	rules_tell(paper, view, rule_text);
	if (view->compares)
		fairness_text(paper, view);
	paper_add(paper, "\n");
	counts_line(paper, view);
	claim_text(paper, view);
}

void audit_agent(struct paper *paper, const struct audit_view *view)
{
	counts_line(paper, view);
	rules_tell(paper, view, rule_agent);
	if (view->compares)
		paper_add(paper, "fairness: %s %s\n",
			view->reached >= 0 ? view->steps[view->reached].level->name : "none",
			fingerprint_class_name(view->class));
	paper_add(paper, "supports: %s\n", view->supports);
	paper_add(paper, "does not support: %s\n", view->lacks);
	paper_add(paper, "next: %s\n",
		view->findings.count ? view->findings.at[0].rule->fix : "assay attest FILE");
}
