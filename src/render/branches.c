/* branches.c - see branches.h.  First how the whole program does, then where. */
#include "render/branches.h"

#include <math.h>
#include <stdio.h>

#include "render/markdown.h"
#include "render/verdict.h"
#include "site_parts.h"

enum { AGENT_SITES = 12, PLACE_COLUMNS = 40 };

static const char *const witness_words[] = {
	[BRANCHES_STACKS] = "stacks",
	[BRANCHES_SAMPLED] = "samples",
	[BRANCHES_SIMULATED] = "simulated",
	[BRANCHES_UNSEEN] = "none",
};

/* One sentence on where the sites come from, and how far to trust them. */
static void witness_add(struct str *out, const struct branches_view *view)
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
				      : "not precise: the place may be some instructions late");
		return;
	case BRANCHES_SIMULATED:
		str_add(out, "a simulated predictor: conditional and indirect branches, by line");
		return;
	case BRANCHES_UNSEEN:
		str_addf(out, "no branch has a place: %s", view->sites_reason);
		return;
	}
}

static void rate_text(char *buf, size_t room, double rate)
{
	if (isnan(rate))
		snprintf(buf, room, "-");
	else
		snprintf(buf, room, "%.2f %%", rate * 100);
}

static void tally_cells(struct table *table, const struct branch_tally *tally)
{
	char buf[32];

	table_cell(
		table, INK_BOLD, "%s", paper_count(buf, sizeof(buf), (double)tally->mispredicted));
	table_cell(table, INK_PLAIN, "%s", paper_count(buf, sizeof(buf), (double)tally->count));
	rate_text(buf, sizeof(buf), tally->miss_rate);
	table_cell(table, INK_PLAIN, "%s", buf);
}

static void types_table(struct paper *paper, const struct branches_view *view)
{
	table_auto struct table table = {0};

	table_column(&table, "mispredicted", true);
	table_column(&table, "seen", true);
	table_column(&table, "rate", true);
	table_column(&table, "type", false);
	vec_foreach (const struct branch_type_row, row, &view->types) {
		tally_cells(&table, &row->tally);
		table_cell(&table, INK_PLAIN, "%s",
			row->type ? branch_type_name(row->type) : "not told");
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

static void place_text(struct str *out, const struct branch_site *site, unsigned columns)
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

	table_column(&table, "mispredicted", true);
	table_column(&table, view->witness == BRANCHES_SIMULATED ? "executed" : "seen", true);
	table_column(&table, "rate", true);
	table_column(&table, "share", true);
	table_column(&table, "type", false);
	table_column(&table, "cycles", true);
	table_column(&table, "ipc", true);
	table_column(&table, view->witness == BRANCHES_STACKS ? "from -> to" : "place", false);
	vec_foreach (const struct branch_site, site, &view->sites) {
		str_auto struct str place = {0};

		if (page->limit && shown++ == page->limit)
			break;
		tally_cells(&table, &site->tally);
		table_cell(&table, INK_PLAIN, "%.1f %%", site->share * 100);
		table_cell(&table, INK_PLAIN, "%s", branch_type_name(site->type));
		number_cell(&table, site->cycles, "0");
		number_cell(&table, site->ipc, "2");
		place_text(&place, site, PLACE_COLUMNS);
		table_cell(&table, INK_PLAIN, "%s", str_text(&place));
	}
	table_print(&table, paper, 2);
	if (page->limit && view->site_count_all > page->limit)
		paper_ink(paper, INK_DIM, "  %u of %u sites (--limit 0 shows all)\n", page->limit,
			view->site_count_all);
}

void branches_text(struct paper *paper, const struct branches_page *page)
{
	const struct branches_view *view = page->view;
	str_auto struct str witness = {0};

	site_head_text(paper, page->summary);
	site_metrics_table(paper, page->summary);
	witness_add(&witness, view);
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

	paper_add(paper, "target: %.200s\nengine: %s%s\n", page->summary->target,
		page->summary->engine, page->summary->simulated ? " (simulated)" : "");
	site_metrics_agent(paper, page->summary);
	witness_add(&witness, view);
	paper_add(paper, "sites: %s\n", witness.at);
	vec_foreach (const struct branch_site, site, &view->sites) {
		str_auto struct str place = {0};

		if (shown++ == AGENT_SITES || (page->limit && shown > page->limit))
			break;
		place_text(&place, site, 80);
		paper_add(paper, "- %llu mispredicted of %llu %s%s%s\n",
			(unsigned long long)site->tally.mispredicted,
			(unsigned long long)site->tally.count, branch_type_name(site->type),
			site->type ? " " : "", str_text(&place));
	}
	verdict_agent(paper, &page->summary->verdict);
}

/* ---- JSON ---- */

static void tally_json(
	struct jsonw *w, const struct branch_tally *tally, const struct branches_view *view)
{
	bool stacks = view->witness == BRANCHES_STACKS;
	const char *none = "only branch stacks tell it";

	if (view->witness == BRANCHES_SAMPLED)
		jsonw_put_u64(w, "samples", tally->count);
	else
		jsonw_put_u64(w, "count", tally->count);
	if (stacks) {
		jsonw_put_u64(w, "taken", tally->count - tally->not_taken);
		jsonw_put_u64(w, "not_taken", tally->not_taken);
		jsonw_put_u64(w, "wrong_path", tally->wrong_path);
	} else {
		jsonw_put_missing(w, "taken", none);
		jsonw_put_missing(w, "not_taken", none);
		jsonw_put_missing(w, "wrong_path", none);
	}
	if (view->witness == BRANCHES_SAMPLED)
		jsonw_put_missing(w, "predicted", "only mispredicted branches were sampled");
	else
		jsonw_put_u64(w, "predicted", tally->predicted);
	jsonw_put_u64(w, "mispredicted", tally->mispredicted);
	site_number_json(w, "miss_rate", tally->miss_rate,
		view->witness == BRANCHES_SAMPLED ? "only mispredicted branches were sampled"
						  : "these branches do not say it");
}

static void type_json(struct jsonw *w, unsigned type)
{
	if (type)
		jsonw_put_text(w, "type", branch_type_name(type));
	else
		jsonw_put_missing(w, "type", "the recording does not tell types");
}

static void site_json(
	struct jsonw *w, const struct branch_site *site, const struct branches_view *view)
{
	jsonw_begin_object(w);
	site_place_json(w, "from", &site->from);
	if (site->has_to)
		site_place_json(w, "to", &site->to);
	else
		jsonw_put_missing(w, "to", "only branch stacks tell it");
	tally_json(w, &site->tally, view);
	jsonw_put_double(w, "share", site->share);
	type_json(w, site->type);
	site_number_json(w, "cycles", site->cycles, "the branches carry no times");
	site_number_json(
		w, "ipc", site->ipc, "the branches carry no times, or the code is not known");
	jsonw_end_object(w);
}

static void witness_json(struct jsonw *w, const struct branches_view *view)
{
	jsonw_put_text(w, "witness", witness_words[view->witness]);
	if (*view->event)
		jsonw_put_text(w, "event", view->event);
	else
		jsonw_put_missing(w, "event", "no sampled event has a name");
	if (view->witness == BRANCHES_SAMPLED)
		jsonw_put_bool(w, "precise", view->precise);
	jsonw_put_u64(w, "samples", view->samples);
	jsonw_key(w, "branches");
	jsonw_begin_object(w);
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
	jsonw_key(w, "types");
	jsonw_begin_array(w);
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
	jsonw_key(w, "sites");
	jsonw_begin_array(w);
	vec_foreach (const struct branch_site, site, &view->sites) {
		if (page->limit && shown++ == page->limit)
			break;
		site_json(w, site, view);
	}
	jsonw_end_array(w);
}

/* ---- Markdown ---- */

void branches_markdown(struct str *out, const struct branches_page *page)
{
	const struct branches_view *view = page->view;
	uint32_t shown = 0;

	site_head_markdown(out, "Branches", page->summary);
	str_add(out, "## The whole program\n\n");
	site_metrics_markdown(out, page->summary);
	str_add(out, "## Where\n\nFrom ");
	witness_add(out, view);
	str_add(out, ".\n\n");
	if (view->sites.count)
		str_add(out, "| mispredicted | seen | rate | type | place |\n"
			     "|---:|---:|---:|---|---|\n");
	vec_foreach (const struct branch_site, site, &view->sites) {
		str_auto struct str place = {0};
		char rate[32];

		if (page->limit && shown++ == page->limit)
			break;
		rate_text(rate, sizeof(rate), site->tally.miss_rate);
		place_text(&place, site, 120);
		str_addf(out, "| %llu | %llu | %s | %s | ",
			(unsigned long long)site->tally.mispredicted,
			(unsigned long long)site->tally.count, rate, branch_type_name(site->type));
		markdown_code(out, str_text(&place), true);
		str_add(out, " |\n");
	}
	str_add(out, view->sites.count ? "\n" : "");
	verdict_markdown(out, &page->summary->verdict);
}
