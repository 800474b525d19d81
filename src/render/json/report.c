/* report.c - "data" of `assay report --json`; docs/commands/report.md describes each member.
 * A tree is written flat, each row with its depth and its parent: stacks nest deeper than most
 * readers of JSON can follow. */
#include "render/profile_json.h"

#include "parts.h"
#include "render/report.h"

static const char *place_reason(enum profile_by by)
{
	return by == PROFILE_THREAD   ? "a thread has no source location"
	       : by == PROFILE_MODULE ? "a module has no source location"
				      : "no debug information for it";
}

static void cost_json(struct jsonw *w, const struct profile_row *row)
{
	jsonw_put_u64(w, "self", row->self.samples);
	jsonw_put_u64(w, "total", row->total.samples);
	jsonw_put_double(w, "self_share", row->self_share);
	jsonw_put_double(w, "total_share", row->total_share);
	jsonw_put_u64(w, "self_weight", row->self.weight);
	jsonw_put_u64(w, "total_weight", row->total.weight);
}

static void row_json(struct jsonw *w, const struct profile_row *row, enum profile_by by)
{
	jsonw_put_text(w, "name", row->name);
	jsonw_put_text_or(w, "file", str_or_null(row->file), place_reason(by));
	jsonw_put_count(w, "line", row->line,
		by == PROFILE_FILE ? "a file is not a single line" : place_reason(by));
	jsonw_put_text_or(w, "module", str_or_null(row->module),
		by == PROFILE_THREAD || by == PROFILE_FILE ? "it runs code from several modules"
							   : "no mapping contained the address");
	if (by == PROFILE_THREAD) {
		jsonw_put_u64(w, "pid", row->pid);
		jsonw_put_u64(w, "tid", row->tid);
	}
	jsonw_put_bool(w, "unknown", row->flags & LABEL_UNNAMED);
	cost_json(w, row);
}

static void profile_json(struct jsonw *w, const struct profile_view *view)
{
	jsonw_put_text(w, "by", report_by_word(view->by));
	jsonw_put_text(w, "order", view->by_total ? "total" : "self");
	jsonw_put_u64(w, "row_count", view->row_count_all);
	jsonw_open_array(w, "rows");
	vec_foreach (const struct profile_row, row, &view->rows) {
		jsonw_begin_object(w);
		row_json(w, row, view->by);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static struct profile_row node_row(const struct call_tree *tree, const struct call_tree_node *node)
{
	const struct label *label = call_tree_label(tree, node);
	double all = (double)tree->samples.total.weight;

	return (struct profile_row){.name = label->name,
		.module = label->module,
		.file = label->file,
		.line = label->line,
		.flags = label->flags,
		.self = node->self,
		.total = node->total,
		.self_share = (double)node->self.weight / all,
		.total_share = (double)node->total.weight / all};
}

static void tree_json(struct jsonw *w, const struct report_page *page)
{
	const struct call_tree *tree = page->tree;
	mem_auto uint32_t *nodes = mem_new(tree->nodes.count, sizeof(*nodes));
	mem_auto uint32_t *row_of = mem_new(tree->nodes.count, sizeof(*row_of));
	uint32_t count = call_tree_pick(tree, page->limit, page->min_share, nodes);

	jsonw_put_text(w, "function", page->function);
	jsonw_put_text(w, "direction", page->callers ? "callers" : "callees");
	jsonw_put_u64(w, "row_count", tree->nodes.count - 1);
	jsonw_open_array(w, "rows");
	for (uint32_t i = 0; i < count; i++) {
		const struct call_tree_node *node = &tree->nodes.at[nodes[i]];
		struct profile_row row = node_row(tree, node);

		row_of[nodes[i]] = i;
		jsonw_begin_object(w);
		row_json(w, &row, PROFILE_FUNCTION);
		jsonw_put_u64(w, "depth", node->depth - 1);
		jsonw_key(w, "parent");
		if (node->parent)
			jsonw_u64(w, row_of[node->parent]);
		else
			jsonw_null(w);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void report_json(struct jsonw *w, const struct report_page *page)
{
	const struct profile_quality *quality = page->quality;

	quality_json(w, quality);
	jsonw_put_text(w, "target", quality->target);
	jsonw_put_u64(w, "total_samples", quality->samples);
	jsonw_put_u64(w, "total_weight", quality->weight);
	jsonw_put_text(w, "weight_unit", quality->unit);
	if (page->tree)
		tree_json(w, page);
	else
		profile_json(w, page->profile);
}
