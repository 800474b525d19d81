/* cache.c - `assay cache --report FILE.md`: the levels, where the misses are, the cause. */
#include "render/markdown.h"

#include <math.h>

#include "analyze/verdict.h"
#include "render/cache.h"
#include "render/site.h"
#include "site.h"

static void markdown_number(struct str *out, double value, const char *format_share)
{
	if (isnan(value))
		str_add(out, " - |");
	else if (format_share)
		str_addf(out, " %.2f %s |", value, format_share);
	else
		str_addf(out, " %.0f |", value);
}

void cache_markdown(struct str *out, const struct cache_page *page)
{
	const struct cache_view *view = page->view;
	str_auto struct str witness = {0};
	uint32_t shown = 0;

	site_head_markdown(out, "Caches and TLBs", page->summary);
	str_add(out,
		"## Levels\n\n| level | size | accesses | misses | rate | per 1,000 instructions "
		"| assessment |\n|---|---|---:|---:|---:|---:|---|\n");
	for (unsigned i = 0; i < CACHE_LEVELS; i++) {
		const struct cache_level_row *row = &view->levels[i];

		markdown_add_cells(out, "| %s | %s |", row->name, row->size);
		markdown_number(out, row->accesses, NULL);
		markdown_number(out, row->misses, NULL);
		markdown_number(out, row->rate * 100, "%");
		markdown_number(out, row->mpki, "");
		markdown_add_cells(out, " %s |\n",
			row->assessment == METRIC_NONE && *cache_level_reason(row)
				? cache_level_reason(row)
				: metric_assessment_word(row->assessment));
	}
	cache_witness_add(&witness, view);
	markdown_add(out, "\n## Where\n\nFrom %s.\n\n", str_text(&witness));
	if (view->sites.count)
		markdown_add_cells(out, "| share of %s | answered by | place |\n|---:|---|---|\n",
			view->share_of);
	vec_foreach (const struct cache_site, site, &view->sites) {
		str_auto struct str place = {0};

		if (page->limit && shown++ == page->limit)
			break;
		str_addf(out, "| %.1f %% | ", site->share * 100);
		cache_answers_add(out, &site->tally);
		str_add(out, " | ");
		site_place_add(&place, &site->place, 120);
		markdown_code(out, str_text(&place), true);
		str_add(out, " |\n");
	}
	str_add(out, view->sites.count ? "\n" : "");
	verdict_markdown(out, &page->summary->verdict);
}
