/* audit.c - see audit.h.  The worst stands first; what to do stands below each finding; the end is
 * what may be said. */
#include "render/audit.h"

#include <math.h>

#include "base/str.h"
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
	for (unsigned i = 0; i < 4; i++)
		table_column(&table, "", false);
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

static void finding_json(struct jsonw *w, const struct audit_finding *finding)
{
	const struct audit_rule *rule = finding->rule;

	jsonw_begin_object(w);
	jsonw_put_text(w, "code", rule->code);
	jsonw_put_text(w, "severity", audit_severity_name(rule->severity));
	if (finding->file)
		jsonw_put_text(w, "file", finding->file);
	else
		jsonw_put_missing(w, "file", "it is about all files together");
	if (finding->command)
		jsonw_put_text(w, "command", finding->command);
	else
		jsonw_put_missing(w, "command", "it is about the whole file");
	jsonw_put_text(w, "evidence", finding->evidence);
	if (isfinite(finding->number))
		jsonw_put_double(w, "number", finding->number);
	else
		jsonw_put_missing(w, "number", "it is found or not, without a number");
	if (isfinite(rule->limit))
		jsonw_put_double(w, "limit", rule->limit);
	else
		jsonw_put_missing(w, "limit", "the rule has none");
	jsonw_put_text(w, "means", rule->means);
	jsonw_put_text(w, "fix", rule->fix);
	jsonw_end_object(w);
}

static void steps_json(struct jsonw *w, const struct audit_view *view)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "class", fingerprint_class_name(view->class));
	if (view->reached >= 0)
		jsonw_put_text(w, "reached", view->steps[view->reached].level->name);
	else
		jsonw_put_missing(w, "reached", "not every command has a run that ended well");
	jsonw_key(w, "levels");
	jsonw_begin_array(w);
	for (unsigned i = 0; i < AUDIT_LEVELS && view->steps[i].level; i++) {
		const struct audit_step *step = &view->steps[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "level", step->level->name);
		jsonw_put_text(w, "needs", step->level->needs);
		jsonw_put_text(w, "claim", step->level->claim);
		jsonw_put_text(w, "shown", audit_answer_name(step->answer));
		jsonw_put_text(w, "evidence", step->evidence);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void files_json(struct jsonw *w, const struct audit_view *view)
{
	jsonw_key(w, "files");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->file_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", view->files[i].name);
		jsonw_put_u64(w, "commands", view->files[i].bench.command_count);
		if (*view->files[i].key)
			jsonw_put_text(w, "fingerprint_key", view->files[i].key);
		else
			jsonw_put_missing(w, "fingerprint_key", "it has no fingerprint");
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void audit_json(struct jsonw *w, const struct audit_view *view)
{
	files_json(w, view);
	jsonw_put_u64(w, "commands", view->command_count);
	jsonw_put_u64(w, "runs_used", view->run_count);
	jsonw_put_u64(w, "high", view->counts[AUDIT_HIGH]);
	jsonw_put_u64(w, "medium", view->counts[AUDIT_MEDIUM]);
	jsonw_put_u64(w, "low", view->counts[AUDIT_LOW]);
	jsonw_key(w, "findings");
	jsonw_begin_array(w);
	vec_foreach (const struct audit_finding, finding, &view->findings)
		finding_json(w, finding);
	jsonw_end_array(w);
	if (view->compares) {
		jsonw_key(w, "fairness");
		steps_json(w, view);
	} else {
		jsonw_put_missing(w, "fairness", "there are no two commands to compare");
	}
	jsonw_put_text(w, "supports", view->supports);
	jsonw_put_text(w, "does_not_support", view->lacks);
}
