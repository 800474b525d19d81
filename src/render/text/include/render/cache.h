/* cache.h - `assay cache` for terminals and agents.  Computes nothing. */
#pragma once

#include "analyze/cache.h"
#include "analyze/site_summary.h"
#include "render/paper.h"

struct cache_page {
	const struct cache_view *view;
	const struct site_summary *summary;
	uint32_t limit; /* sites that are shown, 0: all */
};

void cache_text(struct paper *paper, const struct cache_page *page);
void cache_agent(struct paper *paper, const struct cache_page *page);

/* One sentence on where the sites come from, and how far to trust them. */
void cache_witness_add(struct str *out, const struct cache_view *view);

/* Why the row has gaps, in one line; the first reason tells them all. */
const char *cache_level_reason(const struct cache_level_row *row);
/* "RAM 60 %, L3 30 %": where the accesses were answered, the most first. */
void cache_answers_add(struct str *out, const struct cache_tally *tally);
