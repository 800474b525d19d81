/* site.c - see site.h. */
#include "render/site.h"

#include "render/shorten.h"
#include "render/stat.h"

void site_place_add(struct str *out, const struct site_place *place, unsigned columns)
{
	if (*place->file && place->line)
		str_addf(out, "%s:%u ", label_base(place->file), place->line);
	if (!(place->flags & LABEL_UNNAMED) || !place->addr) {
		name_shorten(place->function, columns, out);
		return;
	}
	if (*place->module)
		str_addf(out, place->module[0] == '[' ? "%s " : "[%s] ", label_base(place->module));
	str_addf(out, "0x%llx", (unsigned long long)place->addr);
}

void site_metric_value(struct str *out, const struct metric_result *row)
{
	if (str_equal(row->metric->unit, "share"))
		str_addf(out, "%.2f %%", row->value * 100);
	else
		str_addf(out, "%.4g", row->value);
}

void site_metric_name(struct str *out, const struct metric_result *row)
{
	str_addf(out, "%s%s%s%s%s", row->metric->name, *row->modifiers ? ":" : "", row->modifiers,
		*row->core ? " on " : "", row->core);
}

static void metric_row(struct table *table, const struct metric_result *row)
{
	str_auto struct str value = {0}, name = {0};

	site_metric_value(&value, row);
	site_metric_name(&name, row);
	table_cell(table, INK_PLAIN, "%s", name.at);
	table_cell(table, INK_BOLD, "%s", value.at);
	table_cell(table, INK_PLAIN, "%s",
		str_equal(row->metric->unit, "share") ? "" : row->metric->unit);
	table_cell(table, metric_ink(row->assessment), "%s",
		row->assessment == METRIC_NONE ? "" : metric_assessment_word(row->assessment));
	table_cell(table, INK_DIM, "%s", row->metric->threshold_words);
}

/* Names of the metrics without a value, and the reason of the first. */
static bool metrics_missing(const struct site_summary *summary, struct str *out)
{
	const char *reason = NULL;

	for (uint32_t i = 0; i < summary->metric_count; i++) {
		const struct metric_result *row = &summary->metrics[i];

		if (row->known)
			continue;
		str_addf(out, "%s%s", reason ? ", " : "not measured: ", row->metric->name);
		reason = reason ? reason : row->reason;
	}
	if (reason)
		str_addf(out, " (%s)", reason);
	return reason != NULL;
}

void site_metrics_table(struct paper *paper, const struct site_summary *summary)
{
	table_auto struct table table = {0};
	str_auto struct str missing = {0};

	table_columns(&table, "", ">", "", "", "");
	for (uint32_t i = 0; i < summary->metric_count; i++)
		if (summary->metrics[i].known)
			metric_row(&table, &summary->metrics[i]);
	table_print(&table, paper, 2);
	if (metrics_missing(summary, &missing))
		paper_wrap(paper, 2, INK_DIM, missing.at);
	paper_add(paper, "\n");
}

void site_metrics_agent(struct paper *paper, const struct site_summary *summary)
{
	str_auto struct str missing = {0};

	for (uint32_t i = 0; i < summary->metric_count; i++) {
		const struct metric_result *row = &summary->metrics[i];
		str_auto struct str name = {0};

		if (!row->known)
			continue;
		site_metric_name(&name, row);
		paper_add(paper, "%s = %.4g %s%s%s\n", name.at, row->value, row->metric->unit,
			row->assessment == METRIC_NONE ? "" : ": ",
			row->assessment == METRIC_NONE ? ""
						       : metric_assessment_word(row->assessment));
	}
	if (metrics_missing(summary, &missing))
		paper_add(paper, "%s\n", missing.at);
}

void site_limit_line(struct paper *paper, uint32_t limit, uint32_t all)
{
	if (limit && all > limit)
		paper_ink(paper, INK_DIM, "  %u of %u sites (--limit 0 shows all)\n", limit, all);
}

void site_head_agent(struct paper *paper, const struct site_summary *summary)
{
	paper_add(paper, "target: %.200s\nengine: %s%s\n", summary->target, summary->engine,
		summary->simulated ? " (simulated)" : "");
}

void site_head_text(struct paper *paper, const struct site_summary *summary)
{
	paper_add(paper, "\n");
	paper_target(paper, summary->target);
	if (*summary->arch)
		paper_ink(paper, INK_DIM, "   %s", summary->arch);
	paper_add(paper, "\n");
	if (summary->simulated)
		paper_wrap(paper, 2, INK_WARN,
			"simulated: counts of valgrind's CPU model, not of this CPU. It has no "
			"prefetching, overlap, TLBs, kernel or parallel threads.");
	if (summary->user_only)
		paper_wrap(paper, 2, INK_DIM,
			"user mode only (:u): measuring the kernel is not permitted here");
	paper_add(paper, "\n");
}
