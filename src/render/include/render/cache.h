/* cache.h - `assay cache` for terminals, agents, programs and as a report.  Computes nothing. */
#pragma once

#include "analyze/cache.h"
#include "analyze/site_summary.h"
#include "base/jsonw.h"
#include "render/paper.h"

struct cache_page {
	const struct cache_view *view;
	const struct site_summary *summary;
	uint32_t limit; /* sites that are shown, 0: all */
};

void cache_text(struct paper *paper, const struct cache_page *page);
void cache_agent(struct paper *paper, const struct cache_page *page);
void cache_json(struct jsonw *w, const struct cache_page *page);
void cache_markdown(struct str *out, const struct cache_page *page);
