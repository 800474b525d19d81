/* topdown.c - "data" of `assay topdown --json`; docs/commands/topdown.md describes it. */
#include "render/cpu_json.h"

#include "analyze/topdown.h"
#include "analyze/verdict.h"
#include "render/paper.h"

static void put_text_or_null(struct jsonw *w, const char *key, const char *text)
{
	jsonw_put_text(w, key, *text ? text : NULL);
}

static void node_json(
	struct jsonw *w, const struct topdown_tree *tree, const struct topdown_node *node)
{
	const char *one_run = node->known ? "it takes at least two runs" : node->reason;

	jsonw_begin_object(w);
	jsonw_put_text(w, "name", node->name);
	jsonw_put_text(w, "kind", "node");
	put_text_or_null(w, "core", tree->label);
	jsonw_put_u64(w, "level", node->level);
	put_text_or_null(w, "parent", node->parent);
	jsonw_put_number(w, "value", node->share, node->reason);
	jsonw_put_text(w, "unit", "share");
	jsonw_put_text(w, "of", tree->basis);
	jsonw_put_number(w, "lo_share", node->lo, one_run);
	jsonw_put_number(w, "hi_share", node->hi, one_run);
	jsonw_put_number(w, "raw", node->raw, node->reason);
	jsonw_put_number(w, "coverage_share", node->coverage, node->reason);
	jsonw_put_text(w, "assessment", metric_assessment_word(node->assessment));
	jsonw_put_number(w, "threshold_share", node->threshold, "it has none");
	jsonw_put_bool(w, "flagged", *node->flag);
	put_text_or_null(w, "flag", node->flag);
	jsonw_put_text(w, "meaning", node->meaning);
	jsonw_put_text(w, "source", node->source);
	jsonw_end_object(w);
}

static void metric_json(struct jsonw *w, const struct metric_result *row)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", row->metric->name);
	jsonw_put_text(w, "kind", "metric");
	put_text_or_null(w, "core", row->core);
	if (row->known)
		jsonw_put_double(w, "value", row->value);
	else
		jsonw_put_missing(w, "value", row->reason);
	jsonw_put_text(w, "unit", row->metric->unit);
	jsonw_put_text(w, "assessment", metric_assessment_word(row->assessment));
	put_text_or_null(w, "threshold", row->metric->threshold);
	jsonw_put_text(w, "meaning", row->metric->meaning);
	jsonw_end_object(w);
}

static void metrics_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_key(w, "metrics");
	jsonw_begin_array(w);
	for (uint32_t t = 0; t < view->tree_count; t++)
		for (uint32_t i = 0; i < view->trees[t].node_count; i++)
			node_json(w, &view->trees[t], &view->trees[t].nodes[i]);
	for (uint32_t i = 0; i < view->stat.metric_count; i++)
		metric_json(w, &view->stat.metrics[i]);
	jsonw_end_array(w);
}

static void trees_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_key(w, "trees");
	jsonw_begin_array(w);
	for (uint32_t t = 0; t < view->tree_count; t++) {
		const struct topdown_tree *tree = &view->trees[t];

		jsonw_begin_object(w);
		put_text_or_null(w, "core", tree->label);
		put_text_or_null(w, "arch", tree->title);
		put_text_or_null(w, "of", tree->basis);
		jsonw_put_bool(w, "whole", tree->whole);
		if (tree->width)
			jsonw_put_u64(w, "width", tree->width);
		else
			jsonw_put_missing(w, "width", "neither the kernel nor the table tells it");
		jsonw_put_number(w, "cycles_share", tree->part, "no cycles were counted on it");
		jsonw_put_u64(w, "nodes", tree->node_count);
		put_text_or_null(w, "reason", tree->reason);
		put_text_or_null(w, "flag", tree->flag);
		put_text_or_null(w, "note", tree->note);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void events_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_key(w, "events");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->stat.event_count; i++) {
		const struct stat_event *event = &view->stat.events[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", event->name);
		put_text_or_null(w, "core", event->core);
		jsonw_put_u64(w, "group", event->group);
		jsonw_put_number(w, "value", event->value, event->reason);
		jsonw_put_number(w, "running_share", event->running_share,
			*event->reason ? event->reason : "the task never ran");
		jsonw_put_text(w, "status", event->status);
		put_text_or_null(w, "reason", event->known ? "" : event->reason);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void steps_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_key(w, "steps");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->step_count; i++) {
		const struct topdown_step *step = &view->steps[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "question", step->question);
		jsonw_put_text(w, "answer", step->answer);
		jsonw_put_text(w, "metric", step->metric);
		jsonw_put_bool(w, "known", step->known);
		jsonw_put_bool(w, "alarming", step->alarming);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void runs_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_key(w, "runs");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->stat.execution_count; i++) {
		const struct stat_execution *e = &view->stat.executions[i];

		jsonw_begin_object(w);
		jsonw_put_u64(w, "run", e->number);
		jsonw_put_u64(w, "wall_ns", e->wall_ns);
		jsonw_put_i64(w, "exit", e->exit_status);
		jsonw_put_i64(w, "signal", e->signal);
		jsonw_put_bool(w, "interrupted", e->interrupted);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void topdown_json(struct jsonw *w, const struct topdown_view *view)
{
	const struct topdown_facts *facts = view->facts;
	const char *arch =
		facts->core_count && facts->cores[0].table ? facts->cores[0].table->title : NULL;

	jsonw_put_text(w, "engine", "pmu");
	jsonw_put_text(w, "tier", view->tier);
	jsonw_put_text(w, "tier_text", view->tier_words);
	put_text_or_null(w, "tier_reason", facts->tier_reason);
	if (arch)
		jsonw_put_text(w, "arch", arch);
	else
		jsonw_put_missing(w, "arch", "assay has no table for this CPU");
	put_text_or_null(w, "cpu", facts->cpu);
	jsonw_put_bool(w, "user_only", view->user_only);
	jsonw_put_u64(w, "level", facts->level);
	jsonw_put_u64(w, "rounds", view->rounds);
	jsonw_put_u64(w, "passes", facts->passes);
	jsonw_put_bool(w, "multiplexed", facts->once);
	put_text_or_null(w, "bounds", view->bounds);
	trees_json(w, view);
	metrics_json(w, view);
	steps_json(w, view);
	verdict_json(w, &view->verdict);
	events_json(w, view);
	runs_json(w, view);
	jsonw_put_text(w, "next", view->verdict.next);
}
