/* branches.c - "data" of `assay branches --json`; docs/commands/branches.md describes each member.
 */
#include "render/cpu_json.h"

#include "analyze/verdict.h"
#include "parts.h"
#include "render/branches.h"

static const char *const witness_words[] = {
	[BRANCHES_STACKS] = "stacks",
	[BRANCHES_SAMPLED] = "samples",
	[BRANCHES_SIMULATED] = "simulated",
	[BRANCHES_UNSEEN] = "none",
};

static void tally_json(
	struct jsonw *w, const struct branch_tally *tally, const struct branches_view *view)
{
	bool stacks = view->witness == BRANCHES_STACKS;
	const char *none = "only branch stacks record it";

	jsonw_put_u64(w, view->witness == BRANCHES_SAMPLED ? "samples" : "count", tally->count);
	jsonw_put_known(w, "taken", stacks, tally->count - tally->not_taken, none);
	jsonw_put_known(w, "not_taken", stacks, tally->not_taken, none);
	jsonw_put_known(w, "wrong_path", stacks, tally->wrong_path, none);
	jsonw_put_known(w, "predicted", view->witness != BRANCHES_SAMPLED, tally->predicted,
		"only mispredicted branches were sampled");
	jsonw_put_u64(w, "mispredicted", tally->mispredicted);
	jsonw_put_number(w, "miss_rate", tally->miss_rate,
		view->witness == BRANCHES_SAMPLED ? "only mispredicted branches were sampled"
						  : "these branches do not record it");
}

static void type_json(struct jsonw *w, unsigned type)
{
	jsonw_put_text_or(w, "type", type ? branch_type_name(type) : NULL,
		"the recording has no branch types");
}

static void site_json(
	struct jsonw *w, const struct branch_site *site, const struct branches_view *view)
{
	jsonw_begin_object(w);
	site_place_json(w, "from", &site->from);
	if (site->has_to)
		site_place_json(w, "to", &site->to);
	else
		jsonw_put_missing(w, "to", "only branch stacks record it");
	tally_json(w, &site->tally, view);
	jsonw_put_double(w, "share", site->share);
	type_json(w, site->type);
	jsonw_put_number(w, "cycles", site->cycles, "the branches have no times");
	jsonw_put_number(w, "ipc", site->ipc, "the branches have no times, or the code is unknown");
	jsonw_end_object(w);
}

static void witness_json(struct jsonw *w, const struct branches_view *view)
{
	jsonw_put_text(w, "witness", witness_words[view->witness]);
	jsonw_put_text_or(w, "event", str_or_null(view->event), "no sampled event has a name");
	if (view->witness == BRANCHES_SAMPLED)
		jsonw_put_bool(w, "precise", view->precise);
	jsonw_put_u64(w, "samples", view->samples);
	jsonw_open_object(w, "branches");
	tally_json(w, &view->all, view);
	jsonw_end_object(w);
}

void branches_json(struct jsonw *w, const struct branches_page *page)
{
	const struct branches_view *view = page->view;
	uint32_t shown = 0;

	site_head_json(w, page->summary);
	verdict_json(w, &page->summary->verdict);
	witness_json(w, view);
	jsonw_open_array(w, "types");
	vec_foreach (const struct branch_type_row, row, &view->types) {
		jsonw_begin_object(w);
		type_json(w, row->type);
		tally_json(w, &row->tally, view);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_put_u64(w, "site_count", view->site_count_all);
	if (view->witness == BRANCHES_UNSEEN) {
		jsonw_put_missing(w, "sites", view->sites_reason);
		return;
	}
	jsonw_open_array(w, "sites");
	vec_foreach (const struct branch_site, site, &view->sites) {
		if (page->limit && shown++ == page->limit)
			break;
		site_json(w, site, view);
	}
	jsonw_end_array(w);
}
