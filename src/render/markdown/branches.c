/* branches.c - `assay branches --report FILE.md`: the whole program, where, the cause. */
#include "render/markdown.h"

#include "analyze/verdict.h"
#include "render/branches.h"
#include "site.h"

void branches_markdown(struct str *out, const struct branches_page *page)
{
	const struct branches_view *view = page->view;
	str_auto struct str witness = {0};
	uint32_t shown = 0;

	site_head_markdown(out, "Branches", page->summary);
	str_add(out, "## The whole program\n\n");
	site_metrics_markdown(out, page->summary);
	branches_witness_add(&witness, view);
	markdown_add(out, "## Where\n\nFrom %s.\n\n", str_text(&witness));
	if (view->sites.count)
		str_add(out, "| mispredicted | seen | rate | type | place |\n"
			     "|---:|---:|---:|---|---|\n");
	vec_foreach (const struct branch_site, site, &view->sites) {
		str_auto struct str place = {0};
		char rate[32];

		if (page->limit && shown++ == page->limit)
			break;
		branches_rate(rate, sizeof(rate), site->tally.miss_rate);
		branches_place_add(&place, site, 120);
		str_addf(out, "| %llu | %llu | %s | %s | ",
			(unsigned long long)site->tally.mispredicted,
			(unsigned long long)site->tally.count, rate, branch_type_name(site->type));
		markdown_code(out, str_text(&place), true);
		str_add(out, " |\n");
	}
	str_add(out, view->sites.count ? "\n" : "");
	verdict_markdown(out, &page->summary->verdict);
}
