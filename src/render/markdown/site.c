/* site.c - see site.h. */
#include "site.h"

#include "render/markdown.h"
#include "render/site.h"

void site_metrics_markdown(struct str *out, const struct site_summary *summary)
{
	str_add(out, "| metric | value | assessment | threshold |\n|---|---:|---|---|\n");
	for (uint32_t i = 0; i < summary->metric_count; i++) {
		const struct metric_result *row = &summary->metrics[i];
		str_auto struct str name = {0};

		site_metric_name(&name, row);
		markdown_add_cells(out, "| %s | ", str_text(&name));
		if (row->known)
			site_metric_value(out, row);
		else
			str_add(out, "not measured");
		markdown_add_cells(out, " | %s | %s |\n",
			row->known ? metric_assessment_word(row->assessment) : row->reason,
			row->metric->threshold_words);
	}
	str_add(out, "\n");
}

void site_head_markdown(struct str *out, const char *title, const struct site_summary *summary)
{
	str_addf(out, "# %s\n\n", title);
	str_add(out, "- target: ");
	markdown_code(out, summary->target, false);
	str_add(out, "\n- machine: ");
	markdown_code(out, *summary->arch ? summary->arch : "not known", false);
	markdown_add(out, "\n- engine: %s%s%s\n\n", summary->engine,
		summary->simulated ? " (simulated, not measured on this CPU)" : "",
		summary->user_only ? ", user mode only" : "");
}
