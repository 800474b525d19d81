/* branches.c - see branches.h.
 *
 * One pass over the branch rows: a site is a pair of locations, found by a hash of the two ids, so
 * inlined copies of one line stay apart by their addresses.  The cycles of an entry are those since
 * the branch before it, which stands behind it in the stack: that one's target and this one's
 * source are the two ends of the block. */
#include "analyze/branches.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/annotate.h"
#include "base/map.h"
#include "base/str.h"
#include "base/words.h"
#include "model/run.h"

enum {
	SPEC_WRONG_PATH = 1,	 /* PERF_BR_SPEC_WRONG_PATH */
	BLOCK_LARGEST = 1 << 14, /* bytes; more was no straight run of instructions */
};

static const char *const type_names[BRANCH_TYPES] = {"", "cond", "uncond", "ind", "call",
	"ind_call", "ret", "syscall", "sysret", "cond_call", "cond_ret", "eret", "irq", "serror",
	"no_tx", "other"};

const char *branch_type_name(unsigned type)
{
	return type < BRANCH_TYPES ? type_names[type] : "";
}

/* ---- the filter ---- */

/* One word stands for all types that people mean by it. */
static uint64_t types_of_word(const char *word, size_t len)
{
	static const struct {
		const char *word;
		uint32_t types;
	} words[] = {
		{"any", UINT32_MAX},
		{"any_call", 1 << 4 | 1 << 5 | 1 << 7 | 1 << 9},
		{"call", 1 << 4 | 1 << 9},
		{"any_ret", 1 << 6 | 1 << 8 | 1 << 10},
		{"ret", 1 << 6 | 1 << 10},
		{"ind_jmp", 1 << 3},
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == len && strncmp(words[i].word, word, len) == 0)
			return words[i].types;
	for (unsigned type = 1; type < BRANCH_TYPES; type++)
		if (strlen(type_names[type]) == len && strncmp(type_names[type], word, len) == 0)
			return 1U << type;
	return 0;
}

int branch_types_parse(const char *text, uint32_t *ret_types, struct err *err)
{
	uint64_t types;
	int r = words_to_flags(text, types_of_word, "branch type",
		"branch types: any, cond, uncond, call, ind_call, any_call, ret, any_ret, ind, "
		"syscall, sysret, irq; separate them with commas",
		&types, err);

	if (r >= 0)
		*ret_types = types == UINT32_MAX ? 0 : (uint32_t)types;
	return r;
}

/* ---- collecting ---- */

struct collector {
	const struct run *run;
	const struct branches_options *options;
	struct branches_view *view;
	struct label_book places;
	struct map sites, blocks;
	bool user, kernel; /* seen */
};

static void tally_add(struct branch_tally *tally, const struct branch_row *row)
{
	tally->count++;
	tally->not_taken += (row->flags & BRANCH_NOT_TAKEN) != 0;
	tally->wrong_path += (row->flags >> BRANCH_SPEC_SHIFT & 3) == SPEC_WRONG_PATH;
	tally->mispredicted += (row->flags & BRANCH_MISPREDICTED) != 0;
	tally->predicted +=
		(row->flags & (BRANCH_PREDICTED | BRANCH_MISPREDICTED)) == BRANCH_PREDICTED;
	tally->cycles += row->cycles;
	tally->timed += row->cycles != 0;
}

/* Samples of mispredictions alone are in no rate. */
static void tally_finish(struct branch_tally *tally, enum branch_witness witness)
{
	uint64_t told = tally->predicted + tally->mispredicted;

	tally->miss_rate = told && witness != BRANCHES_SAMPLED
				   ? (double)tally->mispredicted / (double)told
				   : (double)NAN;
}

static unsigned type_of(const struct branch_row *row)
{
	return row->flags >> BRANCH_TYPE_SHIFT & (BRANCH_TYPES - 1);
}

static uint32_t site_index(struct collector *c, uint32_t from, uint32_t to, bool has_to)
{
	const uint32_t key[2] = {from, to};
	uint32_t index;

	if (!map_add(&c->sites, key, sizeof(key), c->view->sites.count, &index))
		return index;
	vec_push(&c->view->sites,
		(struct branch_site){
			.from = site_place_of(&c->places, from),
			.to = has_to ? site_place_of(&c->places, to) : (struct site_place){0},
			.has_to = has_to,
			.cycles = (double)NAN,
			.ipc = (double)NAN,
		});
	return index;
}

static struct branch_type_row *type_row(struct branches_view *view, unsigned type)
{
	vec_foreach (struct branch_type_row, row, &view->types)
		if (row->type == type)
			return row;
	vec_push(&view->types, (struct branch_type_row){.type = type});
	return &view->types.at[view->types.count - 1];
}

/* The block between the branch before and this one, where both ends are in one module. */
static void block_add(struct collector *c, uint32_t site, const struct branch_row *row,
	const struct branch_row *before)
{
	const struct run *run = c->run;
	const struct location_row *start, *end;
	uint32_t key[2] = {site, before->to}, index;

	if (!row->from || !before->to)
		return;
	start = &run->locations.at[before->to - 1];
	end = &run->locations.at[row->from - 1];
	if (!start->module || start->module != end->module || end->addr < start->addr ||
		end->addr - start->addr > BLOCK_LARGEST)
		return;
	if (!map_get(&c->blocks, key, sizeof(key), &index)) {
		const struct module_row *module = &run->modules.at[start->module - 1];

		index = c->view->blocks.count;
		map_put(&c->blocks, key, sizeof(key), index);
		vec_push(&c->view->blocks, (struct branch_block){
						   .site = site,
						   .module = start->module,
						   .path = run_text(run, module->path),
						   .build_id = run_text(run, module->build_id),
						   .start = start->addr,
						   .end = end->addr,
					   });
	}
	c->view->blocks.at[index].times++;
	c->view->blocks.at[index].cycles += row->cycles;
}

static void entry_add(
	struct collector *c, const struct branch_row *row, const struct branch_row *before)
{
	struct branches_view *view = c->view;
	unsigned type = type_of(row);
	uint32_t site;

	if (c->options->types && type && !(c->options->types >> type & 1))
		return;
	site = site_index(c, row->from, row->to, true);
	tally_add(&view->all, row);
	tally_add(&view->sites.at[site].tally, row);
	tally_add(&type_row(view, type)->tally, row);
	if (type)
		view->sites.at[site].type = type;
	view->has_speculation |= row->flags >> BRANCH_SPEC_SHIFT & 3;
	if (row->cycles && before)
		block_add(c, site, row, before);
}

static void stacks_collect(struct collector *c)
{
	const struct branch_row *rows = c->run->branches.at;
	uint32_t count = c->run->branches.count, length = 0;

	for (uint32_t i = 0; i < count; i++) {
		bool first = !i || rows[i].sample != rows[i - 1].sample;
		bool more = i + 1 < count && rows[i + 1].sample == rows[i].sample;

		length = first ? 1 : length + 1;
		c->view->samples += first;
		c->view->longest = length > c->view->longest ? length : c->view->longest;
		entry_add(c, &rows[i], more ? &rows[i + 1] : NULL);
	}
	c->view->has_not_taken = c->view->all.not_taken != 0;
}

/* ---- samples of one event ---- */

static bool event_is_of_misses(const char *name)
{
	return str_starts(name, "branch-misses") || strstr(name, "branch-load-misses") ||
	       strcasestr(name, "br_mis") || strcasestr(name, "brn_misp");
}

static void sample_add(struct collector *c, const struct sample_row *row)
{
	uint32_t location = row->stack ? c->run->stacks.at[row->stack - 1].location : 0;
	uint32_t site = site_index(c, location, 0, false);
	struct branch_tally *tally = &c->view->sites.at[site].tally;

	/* Each sample stands for `period` mispredictions; how many branches there were is not
	 * sampled. */
	tally->count++;
	tally->mispredicted += row->period ? row->period : 1;
	c->view->all.count++;
	c->view->all.mispredicted += row->period ? row->period : 1;
	c->view->samples++;
}

static bool samples_collect(struct collector *c)
{
	const struct run *run = c->run;

	vec_foreach (const struct sample_row, row, &run->samples) {
		const char *name =
			row->event ? run_text(run, run->events.at[row->event - 1].name) : "";

		if (!event_is_of_misses(name))
			continue;
		if (*c->view->event && !str_equal(c->view->event, name))
			continue;
		c->view->event = name;
		sample_add(c, row);
	}
	c->view->precise = annotate_is_precise(c->view->event);
	return c->view->samples > 0;
}

/* ---- a simulator's places ---- */

/* What a simulator counts (source/cachegrind.h has the names): conditional and indirect branches,
 * executed and mispredicted. */
static bool event_is_simulated(
	const struct run *run, uint32_t event, bool *ret_missed, bool *ret_indirect)
{
	const struct event_row *row = &run->events.at[event - 1];
	const char *name = run_text(run, row->name);

	*ret_missed = str_equal(name, "conditional-branch-misses") ||
		      str_equal(name, "indirect-branch-misses");
	*ret_indirect = str_starts(name, "indirect-branch");
	return row->flags & EVENT_SIMULATED &&
	       (*ret_missed || str_equal(name, "conditional-branches") ||
		       str_equal(name, "indirect-branches"));
}

static uint32_t place_index(struct collector *c, const struct place_row *place, bool indirect)
{
	const uint32_t key[4] = {place->function, place->file, place->line, indirect};
	uint32_t index;

	if (!map_add(&c->sites, key, sizeof(key), c->view->sites.count, &index))
		return index;
	vec_push(&c->view->sites, (struct branch_site){
					  .from = site_place_simulated(c->run, place),
					  .type = indirect ? 3 : 1,
					  .cycles = (double)NAN,
					  .ipc = (double)NAN,
				  });
	return index;
}

static bool places_collect(struct collector *c)
{
	bool missed, indirect, any = false;

	vec_foreach (const struct place_row, place, &c->run->places) {
		struct branch_tally *tallies[3];
		unsigned type;
		uint32_t site;

		if (!place->value || !event_is_simulated(c->run, place->event, &missed, &indirect))
			continue;
		type = indirect ? 3 : 1;
		if (c->options->types && !(c->options->types >> type & 1))
			continue;
		any = true;
		site = place_index(c, place, indirect);
		tallies[0] = &c->view->sites.at[site].tally;
		tallies[1] = &type_row(c->view, type)->tally;
		tallies[2] = &c->view->all;
		for (unsigned i = 0; i < 3; i++)
			*(missed ? &tallies[i]->mispredicted : &tallies[i]->count) += place->value;
	}
	return any;
}

/* In a model every branch says whether it was predicted. */
static void tally_simulated(struct branch_tally *tally)
{
	tally->predicted =
		tally->count > tally->mispredicted ? tally->count - tally->mispredicted : 0;
}

static void places_finish(struct branches_view *view)
{
	tally_simulated(&view->all);
	vec_foreach (struct branch_site, site, &view->sites)
		tally_simulated(&site->tally);
	vec_foreach (struct branch_type_row, row, &view->types)
		tally_simulated(&row->tally);
}

/* ---- putting it together ---- */

static int tally_compare(const struct branch_tally *x, const struct branch_tally *y)
{
	if (x->mispredicted != y->mispredicted)
		return x->mispredicted > y->mispredicted ? -1 : 1;
	return x->count > y->count ? -1 : x->count < y->count;
}

static int compare_sites(const void *a, const void *b)
{
	const struct branch_site *x = a, *y = b;
	int order = tally_compare(&x->tally, &y->tally);

	if (!order)
		order = (x->from.addr > y->from.addr) - (x->from.addr < y->from.addr);
	if (!order)
		order = (x->to.addr > y->to.addr) - (x->to.addr < y->to.addr);
	return order ? order : (x->from.line > y->from.line) - (x->from.line < y->from.line);
}

static int compare_types(const void *a, const void *b)
{
	const struct branch_type_row *x = a, *y = b;
	int order = tally_compare(&x->tally, &y->tally);

	return order ? order : (int)x->type - (int)y->type;
}

static void sites_finish(struct branches_view *view)
{
	bool told = view->all.mispredicted > 0;
	double whole = (double)(told ? view->all.mispredicted : view->all.count);

	vec_foreach (struct branch_site, site, &view->sites) {
		const struct branch_tally *tally = &site->tally;

		tally_finish(&site->tally, view->witness);
		site->share = (double)(told ? tally->mispredicted : tally->count) / whole;
		if (tally->timed)
			site->cycles = (double)tally->cycles / (double)tally->timed;
	}
	vec_foreach (struct branch_type_row, row, &view->types) {
		tally_finish(&row->tally, view->witness);
		view->has_types |= row->type != 0;
	}
	tally_finish(&view->all, view->witness);
}

/* Sites are sorted and cut; blocks follow theirs or go. */
static void sites_order(struct branches_view *view, uint32_t limit)
{
	uint32_t count = view->sites.count, kept = 0;
	uint32_t *now = mem_new((size_t)count + 1, sizeof(*now));
	struct branch_site *sites = view->sites.at;

	/* The old index rides along while they are sorted. */
	for (uint32_t i = 0; i < count; i++)
		sites[i].order = i;
	if (count)
		qsort(sites, count, sizeof(*sites), compare_sites);
	for (uint32_t i = 0; i < count; i++)
		now[sites[i].order] = i;
	view->site_count_all = count;
	if (limit && count > limit)
		view->sites.count = limit;
	vec_foreach (struct branch_block, block, &view->blocks) {
		block->site = now[block->site];
		if (block->site < view->sites.count)
			view->blocks.at[kept++] = *block;
	}
	view->blocks.count = kept;
	vec_sort(&view->types, compare_types);
	free(now);
}

static int filter_check(const struct collector *c, struct err *err)
{
	const struct branches_view *view = c->view;

	if (!c->options->types || c->options->unfiltered || view->has_types || !view->all.count)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "this run does not record branch types");
	err_hint(err, "remove --filter, or record with assay record --branches=cond,call");
	return -EINVAL;
}

static const char *unseen_reason(const struct run *run)
{
	if (run->samples.count)
		return "the samples have no branch stacks and are not of branch-misses";
	return "nothing was sampled, only counted";
}

static void collect(struct collector *c)
{
	struct branches_view *view = c->view;

	if (c->options->whole) {
		view->witness = BRANCHES_UNSEEN;
		view->sites_reason = "--level 1 covers only the whole program";
	} else if (c->run->branches.count) {
		view->witness = BRANCHES_STACKS;
		stacks_collect(c);
		vec_foreach (const struct event_row, row, &c->run->events)
			if (!*view->event)
				view->event = run_text(c->run, row->name);
	} else if (places_collect(c)) {
		view->witness = BRANCHES_SIMULATED;
		places_finish(view);
	} else if (samples_collect(c)) {
		view->witness = BRANCHES_SAMPLED;
	} else {
		view->witness = BRANCHES_UNSEEN;
		view->sites_reason = unseen_reason(c->run);
	}
}

int branches_make(const struct run *run, const struct branches_options *options,
	struct branches_view *ret_view, struct err *err)
{
	branches_auto struct branches_view view = {.event = "", .target = ""};
	struct collector c = {.run = run, .options = options, .view = &view};
	int r;

	view.target = run_text(run, run->target);
	label_book_init(&c.places, run, LABEL_LINE);
	collect(&c);
	label_book_done(&c.places);
	map_done(&c.sites);
	map_done(&c.blocks);
	sites_finish(&view);
	r = filter_check(&c, err);
	if (r < 0)
		return r;
	sites_order(&view, options->limit);
	*ret_view = view;
	view = (struct branches_view){0};
	return 0;
}

void branches_done(struct branches_view *view)
{
	vec_done(&view->types);
	vec_done(&view->sites);
	vec_done(&view->blocks);
	arena_done(&view->texts);
}

void branches_add_instructions(struct branches_view *view)
{
	double *done = mem_new((size_t)view->sites.count + 1, sizeof(*done));
	double *spent = mem_new((size_t)view->sites.count + 1, sizeof(*spent));

	vec_foreach (const struct branch_block, block, &view->blocks)
		if (block->instructions && block->site < view->sites.count) {
			done[block->site] += (double)block->times * block->instructions;
			spent[block->site] += (double)block->cycles;
		}
	for (uint32_t i = 0; i < view->sites.count; i++)
		if (spent[i] > 0)
			view->sites.at[i].ipc = done[i] / spent[i];
	free(done);
	free(spent);
}
