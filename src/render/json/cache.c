/* cache.c - "data" of `assay cache --json`; docs/commands/cache.md describes each member. */
#include "render/cpu_json.h"

#include "analyze/verdict.h"
#include "parts.h"
#include "render/cache.h"

static void level_json(struct jsonw *w, const struct cache_level_row *row, bool simulated)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", row->name);
	jsonw_put_count(w, "size_bytes", row->size_bytes, "the run does not record it");
	jsonw_put_number(w, "accesses", row->accesses, row->accesses_reason);
	jsonw_put_number(w, "misses", row->misses, row->misses_reason);
	jsonw_put_number(w, "miss_rate", row->rate, row->rate_reason);
	jsonw_put_number(w, "mpki", row->mpki, row->mpki_reason);
	jsonw_put_number(w, "load_mpki", row->load_mpki, row->load_reason);
	jsonw_put_text(w, "assessment", metric_assessment_word(row->assessment));
	jsonw_put_text_or(w, "threshold", row->judge ? row->judge->threshold : NULL,
		"no metric with a threshold has a value here");
	jsonw_put_text(w, "note", row->note);
	jsonw_put_bool(w, "simulated", simulated);
	jsonw_end_object(w);
}

static void answers_json(struct jsonw *w, const struct cache_tally *tally)
{
	jsonw_open_object(w, "answered_by");
	for (unsigned i = 0; i < ACCESS_LEVELS; i++)
		if (tally->levels[i])
			jsonw_put_u64(w, access_level_name(i), tally->levels[i]);
	jsonw_end_object(w);
}

static void accesses_json(struct jsonw *w, const struct cache_tally *tally, double latency)
{
	jsonw_put_u64(w, "samples", tally->samples);
	jsonw_put_number(w, "latency_cycles", latency, "the samples have no weight");
	answers_json(w, tally);
	jsonw_put_u64(w, "tlb_misses", tally->tlb_misses);
	jsonw_put_u64(w, "stores", tally->stores);
	jsonw_put_u64(w, "modified_elsewhere", tally->shared);
}

static void tally_json(struct jsonw *w, const struct cache_tally *tally, double latency,
	const struct cache_view *view)
{
	switch (view->witness) {
	case CACHE_ACCESSES:
		accesses_json(w, tally, latency);
		return;
	case CACHE_SAMPLED:
		jsonw_put_u64(w, "samples", tally->samples);
		jsonw_put_u64(w, "misses", tally->misses);
		return;
	case CACHE_SIMULATED:
		jsonw_put_u64(w, "accesses", tally->accesses);
		jsonw_put_u64(w, "l1_misses", tally->l1_misses);
		jsonw_put_u64(w, "ll_misses", tally->ll_misses);
		jsonw_put_u64(w, "code_misses", tally->code_misses);
		return;
	case CACHE_UNSEEN:
		return;
	}
}

static void sites_json(struct jsonw *w, const struct cache_page *page)
{
	const struct cache_view *view = page->view;
	uint32_t shown = 0;

	jsonw_put_u64(w, "site_count", view->site_count_all);
	if (view->witness == CACHE_UNSEEN) {
		jsonw_put_missing(w, "sites", view->sites_reason);
		return;
	}
	jsonw_put_text(w, "share_of", view->share_of);
	jsonw_open_array(w, "sites");
	vec_foreach (const struct cache_site, site, &view->sites) {
		if (page->limit && shown++ == page->limit)
			break;
		jsonw_begin_object(w);
		site_place_json(w, "place", &site->place);
		jsonw_put_double(w, "share", site->share);
		tally_json(w, &site->tally, site->latency_mean, view);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void cache_json(struct jsonw *w, const struct cache_page *page)
{
	static const char *const witnesses[] = {"accesses", "samples", "simulated", "none"};
	const struct cache_view *view = page->view;

	site_head_json(w, page->summary);
	verdict_json(w, &page->summary->verdict);
	jsonw_open_array(w, "levels");
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		level_json(w, &view->levels[i], page->summary->simulated);
	jsonw_end_array(w);
	jsonw_put_text(w, "witness", witnesses[view->witness]);
	jsonw_put_text_or(w, "event", str_or_null(view->event), "no sampled event has a name");
	if (view->witness == CACHE_SAMPLED)
		jsonw_put_bool(w, "precise", view->precise);
	jsonw_open_object(w, "all");
	tally_json(w, &view->all, view->latency_mean, view);
	jsonw_end_object(w);
	sites_json(w, page);
}
