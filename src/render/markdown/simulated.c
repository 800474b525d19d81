/* simulated.c - `assay topdown --engine sim --report FILE.md`: functions, the cause, what was not
 * simulated. */
#include "render/markdown.h"

#include "analyze/verdict.h"
#include "render/simulated.h"

void simulated_markdown(
	struct str *out, const struct simulated_view *view, const struct simulated_page *page)
{
	uint32_t count = simulated_rows_shown(view, SIMULATED_ROWS);
	str_auto struct str words = {0};
	char a[32], b[32], c[32];

	str_add(out, "# Why it is slow: simulated counts and measured time\n\n");
	str_add(out, "| | |\n|---|---|\n| program | ");
	markdown_code(out, page->target, true);
	str_add(out, " |\n| CPU | ");
	markdown_code(out, page->cpu, true);
	str_add(out, " |\n| engine | cachegrind and clock samples |\n\n");
	simulated_costs_line(&words, &view->costs);
	markdown_add(out, "%s", str_text(&words));
	str_clear(&words);
	str_add(out, ".\n\n## Functions\n\n| time | cause | LL misses per 1,000 | ns per miss | "
		     "mispredictions per 1,000 | function |\n|---:|---|---:|---:|---:|---|\n");
	for (uint32_t i = 0; i < count; i++) {
		const struct simulated_site *site = &view->functions[i];

		str_addf(out, "| %.1f %% | %s | %s | %s | %s | ", site->time_share * 100,
			site->few_samples ? "few samples" : verdict_category_title(site->category),
			simulated_number(a, sizeof(a), site->ll_mpki),
			simulated_number(b, sizeof(b), site->ns_per_ll_miss),
			simulated_number(c, sizeof(c), site->mispredict_mpki));
		markdown_code(out, site->row.function, true);
		str_add(out, " |\n");
	}
	if (page->loop) {
		simulated_loop_line(&words, page->loop);
		markdown_add(out, "\n%s.\n", str_text(&words));
		str_clear(&words);
	}
	str_add(out, "\n");
	verdict_markdown(out, &view->verdict);
	simulated_not_line(&words, view);
	markdown_add(out, "\n%s.\n", str_text(&words));
}
