/* cache.c - see cache.h.  First the levels, then where the misses are. */
#include "render/cache.h"

#include <math.h>

#include "render/site.h"
#include "render/stat.h"
#include "render/verdict.h"

enum { AGENT_SITES = 10, PLACE_COLUMNS = 48 };

void cache_witness_add(struct str *out, const struct cache_view *view)
{
	char count[32];

	paper_count(count, sizeof(count), (double)view->all.samples);
	switch (view->witness) {
	case CACHE_ACCESSES:
		str_addf(out, "%s sampled accesses of %s", count,
			*view->event ? view->event : "an unnamed event");
		if (!isnan(view->latency_mean))
			str_addf(out, ", %.0f cycles on average", view->latency_mean);
		str_add(out, "; an event with a minimum latency shows only slow accesses");
		return;
	case CACHE_SAMPLED:
		str_addf(out, "%s samples of %s, %s", count, view->event,
			view->precise ? "precise: the instruction itself"
				      : "not precise: the place may be a few instructions late");
		return;
	case CACHE_SIMULATED:
		str_add(out, "a simulator with two data levels, by line");
		return;
	case CACHE_UNSEEN:
		str_addf(out, "no miss has a location: %s", view->sites_reason);
		return;
	}
}

static void count_cell(struct table *table, double value)
{
	char buf[32];

	table_cell(table, isnan(value) ? INK_DIM : INK_BOLD, "%s",
		isnan(value) ? "-" : paper_count(buf, sizeof(buf), value));
}

/* Why the row has gaps, in one line; the first reason tells them all. */
const char *cache_level_reason(const struct cache_level_row *row)
{
	if (isnan(row->misses))
		return row->misses_reason;
	if (isnan(row->rate))
		return row->rate_reason;
	return isnan(row->mpki) ? row->mpki_reason : "";
}

/* Why the row has gaps, what its numbers are of, and by what they are judged. */
static void level_words(struct str *out, const struct cache_level_row *row)
{
	const char *const parts[] = {cache_level_reason(row), isnan(row->misses) ? "" : row->note,
		row->judge ? row->judge->threshold_words : ""};

	for (unsigned i = 0; i < 3; i++)
		if (*parts[i])
			str_addf(out, "%s%s", out->len ? "; " : "", parts[i]);
}

static void level_cells(struct table *table, const struct cache_level_row *row)
{
	str_auto struct str words = {0};

	level_words(&words, row);
	table_cell(table, INK_PLAIN, "%s", row->name);
	table_cell(table, INK_DIM, "%s", row->size);
	count_cell(table, row->accesses);
	count_cell(table, row->misses);
	if (isnan(row->rate))
		table_cell(table, INK_DIM, "%s", "-");
	else
		table_cell(table, INK_BOLD, "%.2f %%", row->rate * 100);
	if (isnan(row->mpki))
		table_cell(table, INK_DIM, "%s", "-");
	else
		table_cell(table, INK_BOLD, "%.3g", row->mpki);
	table_cell(table, metric_ink(row->assessment), "%s",
		row->assessment == METRIC_NONE ? "" : metric_assessment_word(row->assessment));
	table_cell(table, INK_DIM, "%s", str_text(&words));
}

static void levels_table(struct paper *paper, const struct cache_view *view)
{
	table_auto struct table table = {0};

	table_columns(&table, "level", "size", ">accesses", ">misses", ">rate", ">per 1,000 instr.",
		"", "");
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		level_cells(&table, &view->levels[i]);
	table_print(&table, paper, 2);
	paper_add(paper, "\n");
}

/* "RAM 60 %, L3 30 %": where the accesses were answered, the most first. */
void cache_answers_add(struct str *out, const struct cache_tally *tally)
{
	bool done[ACCESS_LEVELS] = {false};

	for (unsigned n = 0; n < 3; n++) {
		unsigned best = ACCESS_LEVELS;

		for (unsigned i = 0; i < ACCESS_LEVELS; i++)
			if (!done[i] && tally->levels[i] &&
				(best == ACCESS_LEVELS || tally->levels[i] > tally->levels[best]))
				best = i;
		if (best == ACCESS_LEVELS)
			return;
		done[best] = true;
		str_addf(out, "%s%s %.0f %%", n ? ", " : "", access_level_name(best),
			100 * (double)tally->levels[best] / (double)tally->samples);
	}
}

static void answers_table(struct paper *paper, const struct cache_view *view)
{
	table_auto struct table table = {0};
	char buf[32];

	if (view->witness != CACHE_ACCESSES)
		return;
	table_columns(&table, "answered by", ">accesses", ">share");
	for (unsigned i = 0; i < ACCESS_LEVELS; i++) {
		if (!view->all.levels[i])
			continue;
		table_cell(&table, INK_PLAIN, "%s", access_level_name(i));
		table_cell(&table, INK_BOLD, "%s",
			paper_count(buf, sizeof(buf), (double)view->all.levels[i]));
		table_cell(&table, INK_PLAIN, "%.1f %%",
			100 * (double)view->all.levels[i] / (double)view->all.samples);
	}
	table_print(&table, paper, 2);
	paper_add(paper, "\n");
}

/* The middle columns of a site: they differ by witness, two of them at most. */
static void site_cells(
	struct table *table, const struct cache_site *site, const struct cache_view *view)
{
	str_auto struct str answers = {0};
	char first[32], second[32];
	bool simulated = view->witness == CACHE_SIMULATED;

	paper_count(first, sizeof(first),
		(double)(simulated ? site->tally.ll_misses : site->tally.samples));
	paper_count(second, sizeof(second),
		simulated ? (double)site->tally.l1_misses
		: view->witness == CACHE_SAMPLED
			? (double)site->tally.misses
			: (isnan(site->latency_mean) ? 0 : site->latency_mean));
	cache_answers_add(&answers, &site->tally);
	table_cell(table, INK_BOLD, "%.1f %%", site->share * 100);
	table_cell(table, INK_PLAIN, "%s", first);
	table_cell(table, INK_PLAIN, "%s",
		view->witness == CACHE_ACCESSES && isnan(site->latency_mean) ? "-" : second);
	table_cell(table, INK_DIM, "%s", str_text(&answers));
}

static void sites_table(struct paper *paper, const struct cache_page *page)
{
	static const char *const heads[][2] = {
		[CACHE_ACCESSES] = {">samples", ">latency"},
		[CACHE_SAMPLED] = {">samples", ">misses"},
		[CACHE_SIMULATED] = {">LL misses", ">L1 misses"},
		[CACHE_UNSEEN] = {">", ">"},
	};
	const struct cache_view *view = page->view;
	table_auto struct table table = {0};
	uint32_t shown = 0;

	table_columns(&table, ">share", heads[view->witness][0], heads[view->witness][1],
		view->witness == CACHE_ACCESSES ? "answered by" : "", "place");
	vec_foreach (const struct cache_site, site, &view->sites) {
		str_auto struct str place = {0};

		if (page->limit && shown++ == page->limit)
			break;
		site_cells(&table, site, view);
		site_place_add(&place, &site->place, PLACE_COLUMNS);
		table_cell(&table, INK_PLAIN, "%s", str_text(&place));
	}
	table_print(&table, paper, 2);
	site_limit_line(paper, page->limit, view->site_count_all);
}

void cache_text(struct paper *paper, const struct cache_page *page)
{
	const struct cache_view *view = page->view;
	str_auto struct str witness = {0};

	site_head_text(paper, page->summary);
	levels_table(paper, view);
	cache_witness_add(&witness, view);
	paper_wrap(paper, 2, INK_DIM, witness.at);
	paper_add(paper, "\n");
	answers_table(paper, view);
	if (view->witness != CACHE_UNSEEN) {
		paper_ink(paper, INK_DIM, "  shares of %s\n", view->share_of);
		sites_table(paper, page);
		paper_add(paper, "\n");
	}
	verdict_text(paper, &page->summary->verdict);
}

static void agent_level(struct paper *paper, const struct cache_level_row *row)
{
	paper_add(paper, "%s:", row->name);
	if (!isnan(row->misses))
		paper_add(paper, " %.10g misses", row->misses);
	if (!isnan(row->rate))
		paper_add(paper, ", rate %.4g", row->rate);
	if (!isnan(row->mpki))
		paper_add(paper, ", %.4g per 1,000 instructions", row->mpki);
	if (!isnan(row->load_mpki))
		paper_add(paper, ", of loads %.4g", row->load_mpki);
	if (row->assessment != METRIC_NONE)
		paper_add(paper, ", %s", metric_assessment_word(row->assessment));
	if (isnan(row->misses))
		paper_add(paper, " none (%s)", row->misses_reason);
	paper_add(paper, "\n");
}

void cache_agent(struct paper *paper, const struct cache_page *page)
{
	const struct cache_view *view = page->view;
	str_auto struct str witness = {0};
	uint32_t shown = 0;

	site_head_agent(paper, page->summary);
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		agent_level(paper, &view->levels[i]);
	cache_witness_add(&witness, view);
	paper_add(paper, "sites: %s\n", witness.at);
	vec_foreach (const struct cache_site, site, &view->sites) {
		str_auto struct str place = {0}, answers = {0};

		if (shown++ == AGENT_SITES || (page->limit && shown > page->limit))
			break;
		site_place_add(&place, &site->place, 80);
		cache_answers_add(&answers, &site->tally);
		paper_add(paper, "- %.1f%% %s%s%s\n", site->share * 100, str_text(&place),
			answers.len ? ", " : "", str_text(&answers));
	}
	verdict_agent(paper, &page->summary->verdict);
}
