/* cache.c - see cache.h.
 *
 * Sites are lines: equal labels are one site, except where code has no name, whose addresses stay
 * apart.  Sampled accesses are weighed by their latency: a line with many cheap misses and one with
 * few dear ones are told apart by what they cost. */
#include "analyze/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/annotate.h"
#include "base/map.h"
#include "base/str.h"
#include "cache_parts.h"
#include "model/run.h"

/* Usual prices, only to rank places against each other; prefetching may hide either. */
enum { L1_MISS_CYCLES = 10, LL_MISS_CYCLES = 100 };

struct collector {
	const struct run *run;
	const struct cache_options *options;
	struct cache_view *view;
	struct label_book places;
	struct map sites;
};

static uint32_t site_index(struct collector *c, uint32_t location)
{
	struct site_place place = site_place_of(&c->places, location);
	uint32_t labels[LABEL_INLINES_MAX], index;
	uint64_t key[2] = {0};

	label_book_at(&c->places, location, labels);
	key[0] = labels[0];
	key[1] = place.flags & LABEL_UNNAMED ? location : 0;
	if (!map_add(&c->sites, key, sizeof(key), c->view->sites.count, &index))
		return index;
	vec_push(&c->view->sites, (struct cache_site){.place = place, .latency_mean = (double)NAN});
	return index;
}

static uint32_t sample_location(const struct run *run, uint32_t sample)
{
	uint32_t stack =
		sample && sample <= run->samples.count ? run->samples.at[sample - 1].stack : 0;

	return stack ? run->stacks.at[stack - 1].location : 0;
}

static void access_add(struct cache_tally *tally, const struct access_row *row)
{
	tally->samples++;
	tally->levels[access_level_of(row->data_source)]++;
	tally->latency += row->weight;
	tally->timed += row->weight != 0;
	tally->tlb_misses += access_missed_tlb(row->data_source);
	tally->stores += access_is_store(row->data_source);
	tally->shared += access_is_shared(row->data_source);
}

static bool accesses_collect(struct collector *c)
{
	const struct run *run = c->run;

	vec_foreach (const struct access_row, row, &run->accesses) {
		uint32_t site = site_index(c, sample_location(run, row->sample));
		uint32_t event = row->sample && row->sample <= run->samples.count
					 ? run->samples.at[row->sample - 1].event
					 : 0;

		access_add(&c->view->sites.at[site].tally, row);
		access_add(&c->view->all, row);
		if (event && !*c->view->event)
			c->view->event = run_text(run, run->events.at[event - 1].name);
	}
	c->view->precise = true; /* only events that know the access fill the source in */
	return run->accesses.count > 0;
}

/* ---- samples of one event ---- */

static bool event_is_of_misses(const char *name)
{
	return strcasestr(name, "cache-misses") || strcasestr(name, "load-misses") ||
	       strcasestr(name, "store-misses") || strcasestr(name, "cache_refill") ||
	       strcasestr(name, "lmiss") || strcasestr(name, "_miss");
}

static bool samples_collect(struct collector *c)
{
	const struct run *run = c->run;
	struct cache_view *view = c->view;

	vec_foreach (const struct sample_row, row, &run->samples) {
		const char *name =
			row->event ? run_text(run, run->events.at[row->event - 1].name) : "";
		uint64_t period = row->period ? row->period : 1;
		uint32_t site;

		if (!event_is_of_misses(name) || strstr(name, "branch") ||
			(*view->event && !str_equal(view->event, name)))
			continue;
		view->event = name;
		site = site_index(c, row->stack ? run->stacks.at[row->stack - 1].location : 0);
		view->sites.at[site].tally.samples++;
		view->sites.at[site].tally.misses += period;
		view->all.samples++;
		view->all.misses += period;
	}
	view->precise = annotate_is_precise(view->event);
	return view->all.samples > 0;
}

/* ---- a simulator's places ---- */

static uint64_t *tally_slot(struct cache_tally *tally, const char *event)
{
	if (str_equal(event, "L1-dcache-loads") || str_equal(event, "L1-dcache-stores"))
		return &tally->accesses;
	if (str_equal(event, "L1-dcache-load-misses") || str_equal(event, "L1-dcache-store-misses"))
		return &tally->l1_misses;
	if (str_equal(event, "LLC-load-misses") || str_equal(event, "LLC-store-misses"))
		return &tally->ll_misses;
	return str_equal(event, "L1-icache-load-misses") ? &tally->code_misses : NULL;
}

static uint32_t place_index(struct collector *c, const struct place_row *place)
{
	bool whole = c->options->by_function;
	const uint32_t key[3] = {place->function, whole ? 0 : place->file, whole ? 0 : place->line};
	uint32_t index;

	if (!map_add(&c->sites, key, sizeof(key), c->view->sites.count, &index))
		return index;
	vec_push(&c->view->sites, (struct cache_site){.place = site_place_simulated(c->run, place),
					  .latency_mean = (double)NAN});
	c->view->sites.at[index].place.line = key[2];
	return index;
}

static bool places_collect(struct collector *c)
{
	const struct run *run = c->run;
	bool any = false;

	vec_foreach (const struct place_row, place, &run->places) {
		const struct event_row *event = &run->events.at[place->event - 1];
		const char *name = run_text(run, event->name);
		uint64_t *slot = tally_slot(&c->view->all, name);
		uint32_t site;

		if (!slot || !place->value || !(event->flags & EVENT_SIMULATED))
			continue;
		*slot += place->value;
		site = place_index(c, place);
		*tally_slot(&c->view->sites.at[site].tally, name) += place->value;
		any = true;
	}
	return any;
}

/* ---- putting it together ---- */

static double tally_weight(const struct cache_view *view, const struct cache_tally *tally)
{
	switch (view->witness) {
	case CACHE_ACCESSES:
		return (double)(view->all.latency ? tally->latency : tally->samples);
	case CACHE_SAMPLED:
		return (double)tally->misses;
	case CACHE_SIMULATED:
		return (double)tally->l1_misses * L1_MISS_CYCLES +
		       (double)tally->ll_misses * LL_MISS_CYCLES;
	case CACHE_UNSEEN:
		break;
	}
	return 0;
}

static const char *share_words(const struct cache_view *view)
{
	switch (view->witness) {
	case CACHE_ACCESSES:
		return view->all.latency ? "the latency of the sampled accesses"
					 : "the sampled accesses";
	case CACHE_SAMPLED:
		return "the sampled misses";
	case CACHE_SIMULATED:
		return "the simulated misses, at 10 cycles for L1 and 100 for the last level";
	case CACHE_UNSEEN:
		break;
	}
	return "";
}

static int compare_sites(const void *a, const void *b)
{
	const struct cache_site *x = a, *y = b;
	uint64_t mine = x->tally.l1_misses + x->tally.samples,
		 other = y->tally.l1_misses + y->tally.samples;
	int order;

	if (x->share < y->share || x->share > y->share)
		return x->share > y->share ? -1 : 1;
	if (mine != other)
		return mine > other ? -1 : 1;
	order = strcmp(x->place.function, y->place.function);
	if (!order)
		order = (x->place.line > y->place.line) - (x->place.line < y->place.line);
	return order ? order : (x->place.addr > y->place.addr) - (x->place.addr < y->place.addr);
}

static double latency_of(const struct cache_tally *tally)
{
	return tally->timed ? (double)tally->latency / (double)tally->timed : (double)NAN;
}

static void sites_finish(struct cache_view *view, uint32_t limit)
{
	double whole = tally_weight(view, &view->all);

	vec_foreach (struct cache_site, site, &view->sites) {
		site->share = whole > 0 ? tally_weight(view, &site->tally) / whole : 0;
		site->latency_mean = latency_of(&site->tally);
	}
	view->latency_mean = latency_of(&view->all);
	vec_sort(&view->sites, compare_sites);
	view->site_count_all = view->sites.count;
	/* Lines that are merely executed are no sites. */
	while (view->sites.count && view->witness == CACHE_SIMULATED &&
		!view->sites.at[view->sites.count - 1].tally.l1_misses &&
		!view->sites.at[view->sites.count - 1].tally.ll_misses)
		view->sites.count--;
	if (view->witness == CACHE_SIMULATED)
		view->site_count_all = view->sites.count;
	if (limit && view->sites.count > limit)
		view->sites.count = limit;
	view->share_of = share_words(view);
}

void cache_make(const struct run *run, const struct site_summary *summary,
	const struct cache_options *options, struct cache_view *ret_view)
{
	struct collector c = {.run = run, .options = options, .view = ret_view};

	*ret_view = (struct cache_view){.event = "", .sites_reason = ""};
	label_book_init(&c.places, run, options->by_function ? LABEL_FUNCTION : LABEL_LINE);
	if (options->whole) {
		ret_view->witness = CACHE_UNSEEN;
		ret_view->sites_reason = "--level 1 covers only the whole program";
	} else if (accesses_collect(&c)) {
		ret_view->witness = CACHE_ACCESSES;
	} else if (places_collect(&c)) {
		ret_view->witness = CACHE_SIMULATED;
	} else if (samples_collect(&c)) {
		ret_view->witness = CACHE_SAMPLED;
	} else {
		ret_view->witness = CACHE_UNSEEN;
		ret_view->sites_reason =
			run->samples.count
				? "the samples are not of cache misses and have no memory accesses"
				: "nothing was sampled, only counted";
	}
	label_book_done(&c.places);
	map_done(&c.sites);
	sites_finish(ret_view, options->limit);
	cache_levels_make(run, summary, ret_view->levels);
}

void cache_done(struct cache_view *view)
{
	vec_done(&view->sites);
}

/* ---- the verdict ---- */

/* The level whose numbers are worst, of those between `from` and `to`; NULL: none is judged. */
static const struct cache_level_row *level_worst(
	const struct cache_view *view, const enum cache_level *of, unsigned count)
{
	const struct cache_level_row *worst = NULL;

	for (unsigned i = 0; i < count; i++) {
		const struct cache_level_row *row = &view->levels[of[i]];

		if (row->assessment != METRIC_NONE &&
			(!worst || row->assessment > worst->assessment))
			worst = row;
	}
	return worst;
}

static const char *level_words(const struct cache_level_row *row, struct arena *arena)
{
	if (!isnan(row->load_mpki))
		return arena_format(arena, "loads miss %s %.2f times per 1,000 instructions",
			row->name, row->load_mpki);
	if (isnan(row->rate) && isnan(row->mpki))
		return arena_format(
			arena, "%s is %s", row->name, metric_assessment_word(row->assessment));
	if (isnan(row->mpki))
		return arena_format(
			arena, "%.2f %% of the accesses miss %s", row->rate * 100, row->name);
	return arena_format(
		arena, "%s misses %.2f times per 1,000 instructions", row->name, row->mpki);
}

static void sites_judge(const struct cache_view *view, struct arena *arena, struct verdict *verdict)
{
	uint64_t far = view->all.levels[ACCESS_RAM] + view->all.levels[ACCESS_REMOTE_RAM] +
		       view->all.levels[ACCESS_REMOTE_CACHE];

	verdict->share_reason = "cycles and misses were not counted together";
	verdict->doubt = "sampled accesses are a selection, not rates of the program";
	if (view->witness == CACHE_ACCESSES && view->all.samples)
		verdict->why = arena_format(arena,
			"of %llu sampled accesses %.0f %% came from memory or another socket, %.0f "
			"cycles on average",
			(unsigned long long)view->all.samples,
			100 * (double)far / (double)view->all.samples,
			isnan(view->latency_mean) ? 0 : view->latency_mean);
	else
		verdict->why = "no level of the hierarchy was counted";
}

/* The share of the cycles that this metric tells; 0 when it has no value. */
static double share_of_cycles(const struct site_summary *summary, const char *name)
{
	const struct metric_result *row = site_summary_metric(summary, name);

	return row && row->known ? row->value : 0;
}

/* Where the CPU counts how many reads are under way at once: many mean that memory gives all it
 * can, one after the other that each is waited for.  The limits are those of the metrics, which are
 * Intel's; a TLB that misses says nothing about either. */
static void memory_split(
	const struct cache_view *view, struct arena *arena, struct site_summary *summary)
{
	double one = share_of_cycles(summary, "memory_latency_share");
	double many = share_of_cycles(summary, "memory_bandwidth_share");
	const struct metric_result *by = site_summary_metric(
		summary, many > one ? "memory_bandwidth_share" : "memory_latency_share");
	struct verdict *verdict = &summary->verdict;

	if (view->levels[CACHE_LLC].assessment != METRIC_INVESTIGATE &&
		view->levels[CACHE_L2].assessment != METRIC_INVESTIGATE)
		return;
	if (!by || !by->known || by->assessment != METRIC_INVESTIGATE)
		return;
	verdict->category = many > one ? VERDICT_MEMORY_BANDWIDTH : VERDICT_MEMORY_LATENCY;
	verdict->confidence = VERDICT_MEDIUM;
	verdict->doubt = "this counts pending reads, not the cycles that waited for them";
	verdict->why = arena_format(arena,
		"%s; one to three reads beyond L2 are pending in %.0f %% of the cycles, four or "
		"more in %.0f %%",
		verdict->why, one * 100, many * 100);
}

void cache_judge(const struct cache_view *view, struct arena *arena, struct site_summary *summary)
{
	static const enum cache_level data[] = {CACHE_LLC, CACHE_L2, CACHE_DTLB, CACHE_L1D};
	static const enum cache_level code[] = {CACHE_L1I, CACHE_ITLB};
	const struct cache_level_row *far = level_worst(view, data, 4);
	const struct cache_level_row *fetch = level_worst(view, code, 2);
	struct verdict *verdict = &summary->verdict;
	bool slow = far && far->assessment == METRIC_INVESTIGATE;
	bool starved = fetch && fetch->assessment == METRIC_INVESTIGATE;

	verdict->category = slow && starved ? VERDICT_MIXED
			    : slow	    ? VERDICT_MEMORY
			    : starved	    ? VERDICT_FRONTEND
					    : VERDICT_UNCLEAR;
	verdict->confidence = VERDICT_LOW;
	verdict->share = (double)NAN;
	verdict->share_of = "";
	verdict->share_reason = "the cycles lost to misses are not measured: see assay topdown";
	if (!far && !fetch) {
		sites_judge(view, arena, verdict);
		return;
	}
	verdict->doubt =
		summary->simulated
			? "prefetching and overlap are not simulated, so misses may cost little"
			: "misses are counted, not their cost";
	verdict->why = level_words(slow || !starved ? (far ? far : fetch) : fetch, arena);
	if (!slow && !starved)
		verdict->why =
			arena_format(arena, "%s: misses do not explain the time", verdict->why);
	if (verdict->category == VERDICT_MEMORY && !summary->simulated)
		memory_split(view, arena, summary);
}
