/* audit.c - "data" of `assay audit --json`; docs/commands/audit.md describes each member. */
#include "render/machine_json.h"

#include "analyze/audit.h"

static void finding_json(struct jsonw *w, const struct audit_finding *finding)
{
	const struct audit_rule *rule = finding->rule;

	jsonw_begin_object(w);
	jsonw_put_text(w, "code", rule->code);
	jsonw_put_text(w, "severity", audit_severity_name(rule->severity));
	jsonw_put_text_or(w, "file", finding->file, "it concerns all files together");
	jsonw_put_text_or(w, "command", finding->command, "it concerns the whole file");
	jsonw_put_text(w, "evidence", finding->evidence);
	jsonw_put_number(w, "number", finding->number, "it has no number");
	jsonw_put_number(w, "limit", rule->limit, "the rule has none");
	jsonw_put_text(w, "means", rule->means);
	jsonw_put_text(w, "fix", rule->fix);
	jsonw_end_object(w);
}

static void steps_json(struct jsonw *w, const struct audit_view *view)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "class", fingerprint_class_name(view->class));
	jsonw_put_text_or(w, "reached",
		view->reached >= 0 ? view->steps[view->reached].level->name : NULL,
		"not every command has a successful run");
	jsonw_open_array(w, "levels");
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
	jsonw_open_array(w, "files");
	for (uint32_t i = 0; i < view->file_count; i++) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", view->files[i].name);
		jsonw_put_u64(w, "commands", view->files[i].bench.command_count);
		jsonw_put_text_or(w, "fingerprint_key", str_or_null(view->files[i].key),
			"it has no fingerprint");
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
	jsonw_open_array(w, "findings");
	vec_foreach (const struct audit_finding, finding, &view->findings)
		finding_json(w, finding);
	jsonw_end_array(w);
	if (view->compares) {
		jsonw_key(w, "fairness");
		steps_json(w, view);
	} else {
		jsonw_put_missing(w, "fairness", "no two commands to compare");
	}
	jsonw_put_text(w, "supports", view->supports);
	jsonw_put_text(w, "does_not_support", view->lacks);
}
