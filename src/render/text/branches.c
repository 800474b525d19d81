/* branches.c - see branches.h.  First how the whole program does, then where. */
#include "render/branches.h"

#include <math.h>
#include <stdio.h>

#include "render/site.h"
#include "render/verdict.h"

enum { AGENT_SITES = 12, PLACE_COLUMNS = 40 };

/* One sentence on where the sites come from, and how far to trust them. */
void branches_witness_add(struct str *out, const struct branches_view *view)
{
	char count[32];

	paper_count(count, sizeof(count), (double)view->samples);
	switch (view->witness) {
	case BRANCHES_STACKS:
		str_addf(out, "branch stacks of %s samples", count);
		if (*view->event)
			str_addf(out, " of %s", view->event);
		str_addf(out, ", up to %u branches each", view->longest);
		if (!view->has_not_taken)
			str_add(out, "; branches that fall through are not recorded");
		return;
	case BRANCHES_SAMPLED:
		str_addf(out, "%s samples of %s, %s", count, view->event,
			view->precise ? "precise: the branch itself"
				      : "not precise: the place may be a few instructions late");
		return;
	case BRANCHES_SIMULATED:
		str_add(out, "a simulated predictor: conditional and indirect branches, by line");
		return;
	case BRANCHES_UNSEEN:
		str_addf(out, "no branch has a location: %s", view->sites_reason);
		return;
	}
}

void branches_rate(char *buf, size_t capacity, double rate)
{
	if (isnan(rate))
		snprintf(buf, capacity, "-");
	else
		snprintf(buf, capacity, "%.2f %%", rate * 100);
}

static void tally_cells(struct table *table, const struct branch_tally *tally)
{
	char buf[32];

	table_cell(
		table, INK_BOLD, "%s", paper_count(buf, sizeof(buf), (double)tally->mispredicted));
	table_cell(table, INK_PLAIN, "%s", paper_count(buf, sizeof(buf), (double)tally->count));
	branches_rate(buf, sizeof(buf), tally->miss_rate);
	table_cell(table, INK_PLAIN, "%s", buf);
}

static void types_table(struct paper *paper, const struct branches_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, ">mispredicted", ">seen", ">rate", "type");
	vec_foreach (const struct branch_type_row, row, &view->types) {
		tally_cells(&table, &row->tally);
		table_cell(&table, INK_PLAIN, "%s",
			row->type ? branch_type_name(row->type) : "unknown");
	}
	tally_cells(&table, &view->all);
	table_cell(&table, INK_BOLD, "%s", "all");
	table_print(&table, paper, 2);
	paper_add(paper, "\n");
}

static void number_cell(struct table *table, double value, const char *format)
{
	char buf[32] = "";

	if (!isnan(value))
		snprintf(buf, sizeof(buf), str_equal(format, "0") ? "%.0f" : "%.2f", value);
	table_cell(table, INK_PLAIN, "%s", buf);
}

void branches_place_add(struct str *out, const struct branch_site *site, unsigned columns)
{
	site_place_add(out, &site->from, columns);
	if (!site->has_to)
		return;
	str_add(out, " -> ");
	site_place_add(out, &site->to, columns);
}

static void sites_table(struct paper *paper, const struct branches_page *page)
{
	const struct branches_view *view = page->view;
	table_auto struct table table = {0};
	uint32_t shown = 0;

	table_columns(&table, ">mispredicted",
		view->witness == BRANCHES_SIMULATED ? ">executed" : ">seen", ">rate", ">share",
		"type", ">cycles", ">ipc",
		view->witness == BRANCHES_STACKS ? "from -> to" : "place");
	vec_foreach (const struct branch_site, site, &view->sites) {
		str_auto struct str place = {0};

		if (page->limit && shown++ == page->limit)
			break;
		tally_cells(&table, &site->tally);
		table_cell(&table, INK_PLAIN, "%.1f %%", site->share * 100);
		table_cell(&table, INK_PLAIN, "%s", branch_type_name(site->type));
		number_cell(&table, site->cycles, "0");
		number_cell(&table, site->ipc, "2");
		branches_place_add(&place, site, PLACE_COLUMNS);
		table_cell(&table, INK_PLAIN, "%s", str_text(&place));
	}
	table_print(&table, paper, 2);
	site_limit_line(paper, page->limit, view->site_count_all);
}

void branches_text(struct paper *paper, const struct branches_page *page)
{
	const struct branches_view *view = page->view;
	str_auto struct str witness = {0};

	site_head_text(paper, page->summary);
	site_metrics_table(paper, page->summary);
	branches_witness_add(&witness, view);
	paper_wrap(paper, 2, INK_DIM, witness.at);
	paper_add(paper, "\n");
	if (view->witness != BRANCHES_UNSEEN) {
		if (view->witness != BRANCHES_SAMPLED)
			types_table(paper, view);
		sites_table(paper, page);
		paper_add(paper, "\n");
	}
	verdict_text(paper, &page->summary->verdict);
}

void branches_agent(struct paper *paper, const struct branches_page *page)
{
	const struct branches_view *view = page->view;
	str_auto struct str witness = {0};
	uint32_t shown = 0;

	site_head_agent(paper, page->summary);
	site_metrics_agent(paper, page->summary);
	branches_witness_add(&witness, view);
	paper_add(paper, "sites: %s\n", witness.at);
	vec_foreach (const struct branch_site, site, &view->sites) {
		str_auto struct str place = {0};

		if (shown++ == AGENT_SITES || (page->limit && shown > page->limit))
			break;
		branches_place_add(&place, site, 80);
		paper_add(paper, "- %llu mispredicted of %llu %s%s%s\n",
			(unsigned long long)site->tally.mispredicted,
			(unsigned long long)site->tally.count, branch_type_name(site->type),
			site->type ? " " : "", str_text(&place));
	}
	verdict_agent(paper, &page->summary->verdict);
}
