/* topdown.c - "data" of `assay topdown --json`; docs/commands/topdown.md describes it. */
#include "render/cpu_json.h"

#include "analyze/topdown.h"
#include "analyze/verdict.h"

static void node_json(
	struct jsonw *w, const struct topdown_tree *tree, const struct topdown_node *node)
{
	const char *one_run = node->known ? "it needs at least two runs" : node->reason;

	jsonw_begin_object(w);
	jsonw_put_text(w, "name", node->name);
	jsonw_put_text(w, "kind", "node");
	jsonw_put_text(w, "core", str_or_null(tree->label));
	jsonw_put_u64(w, "level", node->level);
	jsonw_put_text(w, "parent", str_or_null(node->parent));
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
	jsonw_put_text(w, "flag", str_or_null(node->flag));
	jsonw_put_text(w, "meaning", node->meaning);
	jsonw_put_text(w, "source", node->source);
	jsonw_end_object(w);
}

static void metric_json(struct jsonw *w, const struct metric_result *row)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", row->metric->name);
	jsonw_put_text(w, "kind", "metric");
	jsonw_put_text(w, "core", str_or_null(row->core));
	jsonw_put_known_number(w, "value", row->known, row->value, row->reason);
	jsonw_put_text(w, "unit", row->metric->unit);
	jsonw_put_text(w, "assessment", metric_assessment_word(row->assessment));
	jsonw_put_text(w, "threshold", str_or_null(row->metric->threshold));
	jsonw_put_text(w, "meaning", row->metric->meaning);
	jsonw_end_object(w);
}

static void metrics_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_open_array(w, "metrics");
	for (uint32_t t = 0; t < view->tree_count; t++)
		for (uint32_t i = 0; i < view->trees[t].node_count; i++)
			node_json(w, &view->trees[t], &view->trees[t].nodes[i]);
	for (uint32_t i = 0; i < view->stat.metric_count; i++)
		metric_json(w, &view->stat.metrics[i]);
	jsonw_end_array(w);
}

static void trees_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_open_array(w, "trees");
	for (uint32_t t = 0; t < view->tree_count; t++) {
		const struct topdown_tree *tree = &view->trees[t];

		jsonw_begin_object(w);
		jsonw_put_text(w, "core", str_or_null(tree->label));
		jsonw_put_text(w, "arch", str_or_null(tree->title));
		jsonw_put_text(w, "of", str_or_null(tree->basis));
		jsonw_put_bool(w, "whole", tree->whole);
		jsonw_put_count(w, "width", tree->width, "neither the kernel nor the table has it");
		jsonw_put_number(w, "cycles_share", tree->part, "no cycles were counted on it");
		jsonw_put_u64(w, "nodes", tree->node_count);
		jsonw_put_text(w, "reason", str_or_null(tree->reason));
		jsonw_put_text(w, "flag", str_or_null(tree->flag));
		jsonw_put_text(w, "note", str_or_null(tree->note));
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void events_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_open_array(w, "events");
	for (uint32_t i = 0; i < view->stat.event_count; i++) {
		const struct stat_event *event = &view->stat.events[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", event->name);
		jsonw_put_text(w, "core", str_or_null(event->core));
		jsonw_put_u64(w, "group", event->group);
		jsonw_put_number(w, "value", event->value, event->reason);
		jsonw_put_number(w, "running_share", event->running_share,
			*event->reason ? event->reason : "the task never ran");
		jsonw_put_text(w, "status", event->status);
		jsonw_put_text(w, "reason", event->known ? NULL : str_or_null(event->reason));
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void steps_json(struct jsonw *w, const struct topdown_view *view)
{
	jsonw_open_array(w, "steps");
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
	jsonw_open_array(w, "runs");
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
	jsonw_put_text(w, "tier_reason", str_or_null(facts->tier_reason));
	jsonw_put_text_or(w, "arch", arch, "assay has no table for this CPU");
	jsonw_put_text(w, "cpu", str_or_null(facts->cpu));
	jsonw_put_bool(w, "user_only", view->user_only);
	jsonw_put_u64(w, "level", facts->level);
	jsonw_put_u64(w, "rounds", view->rounds);
	jsonw_put_u64(w, "passes", facts->passes);
	jsonw_put_bool(w, "multiplexed", facts->once);
	jsonw_put_text(w, "bounds", str_or_null(view->bounds));
	trees_json(w, view);
	metrics_json(w, view);
	steps_json(w, view);
	verdict_json(w, &view->verdict);
	events_json(w, view);
	runs_json(w, view);
	jsonw_put_text(w, "next", view->verdict.next);
}
