/* sites_fuzz.c - branches, accesses and places of any run that the store would load: counts add up,
 * whatever its shape.
 *
 * The bytes choose rows with valid ids, as a hostile run file could hold them. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyze/branches.h"
#include "analyze/cache.h"
#include "analyze/cpu_book.h"
#include "model/run.h"
#include "render/branches.h"
#include "render/cache.h"
#include "render/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *at;
	size_t left;
};

static void need(bool holds)
{
	if (!holds)
		abort();
}

static uint32_t take(struct bytes *bytes, uint32_t most)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < 2 && bytes->left; i++, bytes->left--)
		value = value << 8 | *bytes->at++;
	return most ? value % (most + 1) : 0;
}

static text_id take_text(struct bytes *bytes, struct run *run)
{
	static const char *const texts[] = {"", "f", "branch-misses:pp", "cache-misses",
		"conditional-branches", "indirect-branch-misses", "L1-dcache-loads",
		"LLC-load-misses", "instructions", "/bin/prog", "32K 8-way", "cpu", "cache_l1d"};

	return run_intern(run, texts[take(bytes, 12)]);
}

static void places_add(struct bytes *bytes, struct run *run)
{
	if (!run->events.count)
		return;
	run_add_place(run,
		&(struct place_row){1 + take(bytes, run->events.count - 1), take_text(bytes, run),
			take_text(bytes, run), take(bytes, 9), take(bytes, 999)});
	run_add_count(run, &(struct count_row){.event = 1 + take(bytes, run->events.count - 1),
				   .value = take(bytes, 999)});
}

/* All events of one set of a CPU's table, some of them without a value, as `assay cache` counts
 * them. */
static void own_add(struct bytes *bytes, struct run *run, const struct cpu_book *cpus)
{
	const struct cpu_table *table = &cpus->tables.at[take(bytes, cpus->tables.count - 1)];
	const struct cpu_set *set = cpu_table_set(table, cache_sets[take(bytes, 2)]);
	text_id core = run_intern(run, take(bytes, 1) ? "cpu_core" : "");
	uint32_t group = take(bytes, 3);

	for (uint32_t i = 0; set && i < set->events_count; i++) {
		bool counted = take(bytes, 7) > 0;
		row_id event = run_add_event(
			run, &(struct event_row){
				     .name = run_intern(run, table->events[set->events[i]].name),
				     .core = core,
				     .group = group,
				     .status = counted ? EVENT_COUNTED : EVENT_NOT_TRUSTED,
				     .scale = 1});

		if (counted)
			run_add_count(run,
				&(struct count_row){.event = event, .value = take(bytes, 65535)});
	}
}

static void row_add(struct bytes *bytes, struct run *run, const struct cpu_book *cpus)
{
	switch (take(bytes, 7)) {
	case 0:
		run_add_module(run, &(struct module_row){take_text(bytes, run), 0, 0});
		break;
	case 1:
		run_add_event(run, &(struct event_row){.name = take_text(bytes, run),
					   .flags = take(bytes, 3),
					   .scale = 1});
		break;
	case 2:
		run_add_location(run, &(struct location_row){take(bytes, run->modules.count),
					      take(bytes, 65535), 0, 0});
		run_add_stack(run, &(struct stack_row){0, run->locations.count});
		break;
	case 3:
		run_add_sample(run, &(struct sample_row){.period = take(bytes, 9),
					    .event = take(bytes, run->events.count),
					    .stack = take(bytes, run->stacks.count)});
		break;
	case 4:
		run_add_access(run,
			&(struct access_row){take(bytes, run->samples.count), 0, take(bytes, 999),
				(uint64_t)take(bytes, 65535) << take(bytes, 47)});
		break;
	case 5:
		places_add(bytes, run);
		break;
	case 6:
		own_add(bytes, run, cpus);
		break;
	default:
		run_add_branch(run, &(struct branch_row){take(bytes, run->samples.count),
					    take(bytes, run->locations.count),
					    take(bytes, run->locations.count), take(bytes, 99),
					    take(bytes, 16383)});
		break;
	}
}

static void check_branches(
	const struct run *run, const struct site_summary *summary, struct arena *arena)
{
	branches_auto struct branches_view view = {0};
	struct site_summary judged = *summary;
	str_auto struct str out = {0};
	struct paper paper = {.out = &out};
	struct branches_page page = {.view = &view, .summary = &judged, .limit = 5};
	struct err err = {0};
	uint64_t count = 0, missed = 0;

	need(branches_make(run, &(struct branches_options){0}, &view, &err) == 0);
	vec_foreach (const struct branch_site, site, &view.sites) {
		count += site->tally.count;
		missed += site->tally.mispredicted;
		need(isnan(site->tally.miss_rate) || site->tally.miss_rate <= 1);
	}
	need(count == view.all.count && missed == view.all.mispredicted);
	vec_foreach (struct branch_block, block, &view.blocks) {
		need(block->site < view.sites.count && block->end >= block->start);
		block->instructions = 3;
	}
	branches_add_instructions(&view);
	branches_judge(&view, arena, &judged);
	branches_text(&paper, &page);
	branches_markdown(&out, &page);
}

static void check_cache(const struct run *run, struct site_summary *summary, struct arena *arena)
{
	cache_auto struct cache_view view = {0};
	str_auto struct str out = {0};
	struct paper paper = {.out = &out};
	struct cache_page page = {.view = &view, .summary = summary, .limit = 5};
	uint64_t samples = 0;

	cache_make(run, summary, &(struct cache_options){0}, &view);
	vec_foreach (const struct cache_site, site, &view.sites)
		samples += site->tally.samples;
	need(samples == view.all.samples);
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		need(!(view.levels[i].rate > 1));
	cache_judge(&view, arena, summary);
	cache_text(&paper, &page);
	cache_markdown(&out, &page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_auto struct run *run = run_open();
	static struct metric_book book; /* read once: it takes longer than all the rest */
	static struct cpu_book cpus;
	metric_book_auto struct metric_book own = {0}, named = {0};
	arena_auto struct arena arena = {0};
	struct bytes bytes = {data, size};
	struct site_summary summary;
	struct err err = {0};

	need(book.metrics.count || metric_book_load(&book, &err) == 0);
	need(cpus.tables.count || cpu_book_load(&cpus, &err) == 0);
	while (bytes.left)
		row_add(&bytes, run, &cpus);
	run_freeze(run);
	site_summary_make(run, &book, cache_metrics, &arena, &summary);
	check_branches(run, &summary, &arena);
	check_cache(run, &summary, &arena);
	/* With the metrics of the tables that its events are of, as a stored run is shown. */
	need(cpu_book_metrics(&cpus, run, branches_sets, false, &named, &err) == 0);
	need(cpu_book_metrics(&cpus, run, cache_sets, true, &own, &err) == 0);
	if (!own.metrics.count)
		return 0;
	site_summary_make(run, &own, cache_metrics, &arena, &summary);
	check_cache(run, &summary, &arena);
	return 0;
}
