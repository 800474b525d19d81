/* hotspot_samples.c - the places of the samples as rows: share, kinds of work, line and chain.
 *
 * Every stack belongs to one place (hotspot_level.c), so the rows do not overlap: the functions of
 * a chain are shown with its place and are no rows of their own.
 *
 * The query of a place lists its stacks by their ids in the file: how they were chosen cannot be
 * said in SQL, but the number can be summed again from the rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/algorithm.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "hotspot_parts.h"
#include "hotspot_stacks.h"
#include "model/run.h"
#include "own_code.h"

enum { CHAIN_UP = 12, CHAIN_DOWN = 6 };
enum { STEPS_SAID = 3 };
#define STEP_LEAST 0.03
#define LEAST_SHARE 0.005
#define CUT_SHORT 0.05	/* of a place's weight */
#define BUSY_LEAST 0.05 /* of all samples: a thread that counts */
#define BUSY_ALL 0.9	/* of all samples, in all that count */

struct hot_place {
	uint32_t function;	       /* label */
	uint64_t weight, samples, cut; /* cut: of the weight, stacks that do not reach the root */
	uint64_t kinds[HOTSPOT_CATEGORIES], release;
	bool is_runtime;
	vec_of(uint32_t) stacks; /* indexes */
	double thread_least, thread_most;
	struct hotspot_times times;
};

struct placer {
	const struct algorithm_view *algorithm; /* or NULL */
	struct own_stacks own;
	struct own_cost *costs;
	struct own_operation operation;
	struct map index;
	vec_of(struct hot_place) places;
	uint64_t *by_label; /* room to add up by function, or by line: zero between uses */
};

/* ---- one place of a stack ---- */

static void stack_place(struct placer *p, uint32_t index)
{
	const struct own_stack *stack = &p->own.stacks.at[index];
	uint32_t function = own_frames(&p->own, stack)[stack->place].function, at;
	struct hot_place *place;

	if (map_add(&p->index, &function, sizeof(function), p->places.count, &at))
		vec_push(&p->places, (struct hot_place){.function = function});
	place = &p->places.at[at];
	place->weight += stack->at.cost.weight;
	place->samples += stack->at.cost.samples;
	place->kinds[stack->category] += stack->at.cost.weight;
	place->release += stack->is_release ? stack->at.cost.weight : 0;
	place->is_runtime |= stack->is_runtime;
	vec_push(&place->stacks, index);
}

/* ---- the chain ---- */

/* A stack of the place, and the frame of it that the walk has come to. */
struct walker {
	const struct own_stack *stack;
	uint32_t frame;
};

struct walk {
	struct walker *at;
	uint32_t count;
	uint64_t weight; /* of the place */
	uint32_t *taken; /* functions that are in the chain */
	uint32_t taken_count;
};

static bool walk_has(const struct walk *walk, uint32_t function)
{
	for (uint32_t i = 0; i < walk->taken_count; i++)
		if (walk->taken[i] == function)
			return true;
	return false;
}

/* The next frame of another function in the direction, UINT32_MAX: there is none. */
static uint32_t walker_next(
	const struct placer *p, const struct walk *walk, const struct walker *w, int step)
{
	const struct own_frame *frames = own_frames(&p->own, w->stack);

	for (uint32_t i = w->frame + (uint32_t)step; i < w->stack->count; i += (uint32_t)step)
		if (!walk_has(walk, frames[i].function))
			return i;
	return UINT32_MAX; /* below 0 is above every count */
}

/* Go on to the function that most of the weight goes to; 0: the walk has ended.  Inwards it also
 * ends where more of the weight stays than goes on, outwards where hardly any does: most stacks
 * were cut there. */
static uint32_t walk_step(struct placer *p, struct walk *walk, int step)
{
	uint32_t best = 0, kept = 0;
	uint64_t most = 0, stays = 0;

	for (int turn = 0; turn < 2; turn++) /* add up, then clean up */
		for (uint32_t i = 0; i < walk->count; i++) {
			const struct walker *w = &walk->at[i];
			uint32_t next = walker_next(p, walk, w, step), f;

			if (next == UINT32_MAX) {
				stays += turn ? 0 : w->stack->at.cost.weight;
				continue;
			}
			f = own_frames(&p->own, w->stack)[next].function;
			if (turn)
				p->by_label[f] = 0;
			else
				p->by_label[f] += w->stack->at.cost.weight;
			if (!turn && p->by_label[f] > most) {
				best = f;
				most = p->by_label[f];
			}
		}
	if (step < 0 ? stays > most : (double)most < CUT_SHORT * (double)walk->weight)
		best = 0;
	for (uint32_t i = 0; best && i < walk->count; i++) {
		struct walker w = walk->at[i];

		w.frame = walker_next(p, walk, &w, step);
		if (w.frame != UINT32_MAX && own_frames(&p->own, w.stack)[w.frame].function == best)
			walk->at[kept++] = w;
	}
	walk->count = kept;
	return best;
}

/* The line with most of the weight. */
static const struct label *walk_line(struct placer *p, const struct walk *walk)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < walk->count; i++) {
		uint32_t line = own_frames(&p->own, walk->at[i].stack)[walk->at[i].frame].line;

		p->by_label[line] += walk->at[i].stack->at.cost.weight;
		if (line && (!best || p->by_label[line] > p->by_label[best]))
			best = line;
	}
	for (uint32_t i = 0; i < walk->count; i++)
		p->by_label[own_frames(&p->own, walk->at[i].stack)[walk->at[i].frame].line] = 0;
	return best ? &p->own.lines.labels.at[best - 1] : NULL;
}

static double share_of(const struct placer *p, uint64_t weight)
{
	return (double)weight / (double)p->own.samples.total.weight;
}

/* How often a whole run entered the function; NAN: not counted, or only of a part. */
static double entries_of(const struct algorithm_view *view, const char *function)
{
	const struct algorithm_function *counted =
		view && !view->partial && !view->is_smaller && !view->is_start_only
			? algorithm_find(view, function)
			: NULL;

	return counted && counted->calls ? (double)counted->calls : (double)NAN;
}

static const char *location_text(struct arena *arena, const struct label *function,
	const char *call, const char *file, uint32_t line)
{
	if (function->flags & LABEL_UNNAMED)
		return arena_format(arena, "[%s]", label_base(function->module));
	return *file && line ? arena_format(arena, "%s:%u", label_base(file), line) : call;
}

static struct hotspot_link link_make(
	struct placer *p, const struct walk *walk, uint32_t function, struct arena *arena)
{
	const struct label *label = own_label(&p->own, function), *line = walk_line(p, walk);

	const char *call = hotspot_call(arena, label->name),
		   *file = line ? line->file : label->file;

	return (struct hotspot_link){.function = label->name,
		.call = call,
		.location = location_text(arena, label, call, file, line ? line->line : 0),
		.file = file,
		.line = line ? line->line : 0,
		.total = share_of(p, p->costs[function].total),
		.self = share_of(p, p->costs[function].self),
		.entries = entries_of(p->algorithm, label->name),
		.entries_least = p->own.least_of[function]};
}

static struct walk walk_begin(
	const struct placer *p, const struct hot_place *place, uint32_t *taken)
{
	struct walk walk = {.taken = taken, .count = place->stacks.count, .weight = place->weight};

	walk.at = mem_new((size_t)walk.count + 1, sizeof(*walk.at));
	for (uint32_t i = 0; i < walk.count; i++) {
		const struct own_stack *stack = &p->own.stacks.at[place->stacks.at[i]];

		walk.at[i] = (struct walker){stack, stack->place};
	}
	walk.taken[walk.taken_count++] = place->function;
	return walk;
}

/* From the innermost function through the place to the root, the way that most samples go. */
static void chain_make(
	struct placer *p, const struct hot_place *place, struct arena *arena, struct hotspot *spot)
{
	struct hotspot_link links[CHAIN_DOWN + 1 + CHAIN_UP];
	uint32_t taken[CHAIN_DOWN + 1 + CHAIN_UP], first = CHAIN_DOWN, end = CHAIN_DOWN + 1, f;
	struct walk walk = walk_begin(p, place, taken);

	links[first] = link_make(p, &walk, place->function, arena);
	while (end < CHAIN_DOWN + 1 + CHAIN_UP && (f = walk_step(p, &walk, 1))) {
		taken[walk.taken_count++] = f;
		links[end++] = link_make(p, &walk, f, arena);
	}
	free(walk.at);
	walk = walk_begin(p, place, taken);
	while (first && (f = walk_step(p, &walk, -1))) {
		taken[walk.taken_count++] = f;
		links[--first] = link_make(p, &walk, f, arena);
	}
	free(walk.at);
	spot->chain = arena_keep(arena, links + first, (end - first) * sizeof(*links));
	spot->chain_count = end - first;
	spot->chain_place = CHAIN_DOWN - first;
}

/* ---- the threads ---- */

/* Which threads have much of the samples, from 1 by their ids; 0 when all together have little. */
static uint32_t threads_number(const struct placer *p, uint32_t *numbers)
{
	const struct profile_samples *samples = &p->own.samples;
	double total = (double)samples->total.weight, sum = 0;
	uint32_t count = 0;

	for (uint32_t id = 1; id <= p->own.run->threads.count; id++)
		if ((double)samples->by_thread[id].weight >= BUSY_LEAST * total) {
			numbers[id] = ++count;
			sum += (double)samples->by_thread[id].weight;
		}
	return sum >= BUSY_ALL * total ? count : 0;
}

/* Then no experiment is needed, which would have been made at another level. */
static bool is_one_thread(const struct placer *p)
{
	mem_auto uint32_t *numbers =
		mem_new((size_t)p->own.run->threads.count + 1, sizeof(*numbers));

	return threads_number(p, numbers) == 1;
}

/* The place of each stack of the run, plus one; 0: none. */
static uint32_t *places_by_stack(const struct placer *p)
{
	uint32_t *place_of = mem_new((size_t)p->own.run->stacks.count + 1, sizeof(*place_of));

	for (uint32_t i = 0; i < p->places.count; i++)
		for (uint32_t k = 0; k < p->places.at[i].stacks.count; k++)
			place_of[p->own.stacks.at[p->places.at[i].stacks.at[k]].at.stack] = i + 1;
	return place_of;
}

/* Of which places the callers were not seen. */
static void cut_take(struct placer *p, const uint32_t *place_of)
{
	const struct profile_samples *samples = &p->own.samples;

	vec_foreach (const struct sample_row, sample, &p->own.run->samples) {
		uint32_t place = place_of[sample->stack];

		if (place && sample->event == samples->event &&
			sample->flags & (SAMPLE_TRUNCATED | SAMPLE_BROKEN))
			p->places.at[place - 1].cut +=
				samples->weighted ? sample->period
						  : run_sample_count(p->own.run, sample);
	}
}

/* When each place runs, and the whole. */
static void times_take(struct placer *p, const uint32_t *place_of, struct hotspot_drafts *drafts)
{
	mem_auto struct hotspot_times *times = mem_new((size_t)p->places.count + 1, sizeof(*times));
	double ns =
		hotspot_times_take(p->own.run, &p->own.samples, place_of, p->places.count, times);

	if (!(ns > 0))
		return;
	for (uint32_t i = 0; i < p->places.count; i++)
		p->places.at[i].times = times[i + 1];
	drafts->busy = times[0].present;
	drafts->sampled_cpus = (double)p->own.samples.total.weight / ns;
}

/* How much the language's runtime has, and whether the rest is done by one thread at a time: two
 * that run together tick within half a period of each other half of the time. */
static void runtime_take(struct placer *p, const uint32_t *place_of, struct hotspot_drafts *drafts)
{
	const struct profile_samples *samples = &p->own.samples;
	const struct sample_row *before = NULL;
	uint64_t close = 0, count = 0, weight = 0;

	vec_foreach (const struct hot_place, place, &p->places)
		weight += place->is_runtime ? place->weight : 0;
	drafts->runtime = share_of(p, weight);
	drafts->together = (double)NAN;
	if (!weight || samples->merged || !str_equal(samples->unit, "ns"))
		return;
	vec_foreach (const struct sample_row, sample, &p->own.run->samples) {
		uint32_t place = place_of[sample->stack];

		if (sample->event != samples->event ||
			(place && p->places.at[place - 1].is_runtime))
			continue;
		close += before && before->thread != sample->thread &&
			 sample->time_ns - before->time_ns < sample->period / 2;
		count++;
		before = sample;
	}
	drafts->together = 2 * (double)close / (double)count;
}

/* How much of its own time each busy thread spends in each place; returns how many there are, 0:
 * too much is in threads that are not busy, and nothing is compared. */
static uint32_t threads_compare(struct placer *p, const uint32_t *place_of)
{
	const struct run *run = p->own.run;
	mem_auto uint32_t *numbers = mem_new((size_t)run->threads.count + 1, sizeof(*numbers));
	uint32_t threads = p->own.samples.merged ? 0 : threads_number(p, numbers);
	size_t width = (size_t)p->places.count + 1; /* a column for all */
	mem_auto uint64_t *weights = NULL;

	if (!threads)
		return 0;
	weights = mem_new((threads + 1) * width, sizeof(*weights));
	vec_foreach (const struct sample_row, sample, &run->samples) {
		uint64_t weight = p->own.samples.weighted ? sample->period : 1;
		uint64_t *row = weights + numbers[sample->thread] * width;

		if (sample->event != p->own.samples.event || !numbers[sample->thread])
			continue;
		row[0] += weight;
		if (place_of[sample->stack])
			row[place_of[sample->stack]] += weight;
	}
	for (uint32_t i = 0; i < p->places.count; i++) {
		struct hot_place *place = &p->places.at[i];

		place->thread_least = 1;
		for (uint32_t t = 1; t <= threads; t++) {
			const uint64_t *row = weights + t * width;
			double share = (double)row[i + 1] / (double)row[0];

			place->thread_least = fmin(place->thread_least, share);
			place->thread_most = fmax(place->thread_most, share);
		}
	}
	return threads;
}

/* ---- the row ---- */

/* "stack = 1 OR stack BETWEEN 11 AND 14": ids in a row as ranges. */
static void stacks_sql(const struct placer *p, const struct hot_place *place, struct str *out)
{
	const char *before = "";

	for (uint32_t i = 0; i < place->stacks.count;) {
		uint32_t first = p->own.stacks.at[place->stacks.at[i]].at.stack, last = first;

		while (++i < place->stacks.count &&
			p->own.stacks.at[place->stacks.at[i]].at.stack == last + 1)
			last++;
		if (last > first)
			str_addf(out, "%sstack BETWEEN %u AND %u", before, first, last);
		else
			str_addf(out, "%sstack = %u", before, first);
		before = " OR ";
	}
}

static const char *place_query(
	const struct placer *p, const struct hot_place *place, struct arena *arena)
{
	str_auto struct str sql = {0};
	const char *weight = p->own.samples.weighted ? "total(period)" : "count(*)";

	str_addf(&sql,
		"SELECT 1.0 * %s / (SELECT %s FROM sample WHERE event = %u) FROM sample WHERE "
		"event = %u AND (",
		weight, weight, p->own.samples.event, p->own.samples.event);
	stacks_sql(p, place, &sql);
	str_add_char(&sql, ')');
	return arena_str(arena, &sql);
}

static int by_share(const void *a, const void *b)
{
	const struct hotspot_kind *x = a, *y = b;

	return (x->share < y->share) - (x->share > y->share);
}

static void kinds_make(const struct placer *p, const struct hot_place *place, struct arena *arena,
	struct hotspot *spot)
{
	struct hotspot_kind kinds[HOTSPOT_CATEGORIES];
	uint32_t count = 0;

	for (unsigned i = 0; i < HOTSPOT_CATEGORIES; i++)
		if (place->kinds[i])
			kinds[count++] = (struct hotspot_kind){
				(enum hotspot_category)i, share_of(p, place->kinds[i])};
	qsort(kinds, count, sizeof(*kinds), by_share);
	spot->kinds = arena_keep(arena, kinds, count * sizeof(*kinds));
	spot->kind_count = count;
	spot->category = kinds[0].category;
}

/* "54 % in hash(), 18 % in read_all()": the three functions with most of its time. */
static const char *steps_words(struct placer *p, const struct hot_place *place, struct arena *arena)
{
	str_auto struct str out = {0};
	uint32_t taken[STEPS_SAID] = {0};

	for (unsigned n = 0; n < STEPS_SAID; n++) {
		uint32_t best = 0;

		vec_foreach (const uint32_t, index, &place->stacks) {
			const struct own_stack *stack = &p->own.stacks.at[*index];
			uint32_t f = own_frames(&p->own, stack)->function;

			p->by_label[f] += stack->at.cost.weight;
			if (f != taken[0] && f != taken[1] && p->by_label[f] > p->by_label[best])
				best = f;
		}
		if (best && share_of(p, p->by_label[best]) >= STEP_LEAST)
			str_addf(&out, "%s%.0f %% in %s", n ? ", " : "",
				100 * share_of(p, p->by_label[best]),
				hotspot_call(arena, own_label(&p->own, best)->name));
		taken[n] = best;
		vec_foreach (const uint32_t, index, &place->stacks)
			p->by_label[own_frames(&p->own, &p->own.stacks.at[*index])->function] = 0;
	}
	return arena_str(arena, &out);
}

static void place_draft(struct placer *p, const struct hot_place *place, const char *path,
	struct arena *arena, struct hotspot_drafts *drafts)
{
	const struct label *function = own_label(&p->own, place->function);
	double share = share_of(p, place->weight);
	const char *call = hotspot_call(arena, function->name);
	const struct hotspot_link *link;
	struct hotspot_draft draft = {
		.spot = {.function = function->name,
			.call = call,
			.library = own_code_is_of_library(function) ? label_base(function->module)
								    : "",
			.has_no_name = function->flags & LABEL_UNNAMED,
			.metric = "CPU time",
			.value = share,
			.cut_share = (double)place->cut / (double)place->weight,
			.gain_all = (double)NAN,
			.gain_all_lo = (double)NAN,
			.gain_all_hi = (double)NAN},
		.experiment_share = (double)NAN,
		.samples_share = share,
		.loop_share = share_of(p, p->costs[place->function].loop),
		.looked = (double)p->costs[place->function].unknown <
			  HOTSPOT_LOOP_LEAST * (double)p->costs[place->function].total,
		.calls = p->own.least_of[place->function],
		.release = share_of(p, place->release),
		.thread_least = place->thread_least,
		.thread_most = place->thread_most,
		.times = place->times,
		.is_runtime = place->is_runtime,
	};

	kinds_make(p, place, arena, &draft.spot);
	chain_make(p, place, arena, &draft.spot);
	if (place->function == p->operation.function &&
		draft.loop_share < HOTSPOT_LOOP_LEAST * share) {
		draft.spot.steps = steps_words(p, place, arena);
		draft.spot.done = p->operation.calls;
		draft.spot.done_below = p->operation.below;
	}
	link = &draft.spot.chain[draft.spot.chain_place];
	draft.spot.location = link->location;
	draft.spot.line = link->line;
	draft.spot.file = function->flags & LABEL_UNNAMED ? function->module
			  : link->line			  ? link->file
							  : "";
	hotspot_add_evidence(
		&draft, &(struct hotspot_evidence){.mechanism = "samples",
				.path = path,
				.query = place_query(p, place, arena),
				.value = share,
				.words = arena_format(arena, "%.0f %% of the %s", 100 * share,
					p->own.samples.weighted ? "sampled time" : "samples"),
				.agrees = share >= 0.05});
	vec_push(&drafts->rows, draft);
}

static void placer_done(struct placer *p)
{
	vec_foreach (struct hot_place, place, &p->places)
		vec_done(&place->stacks);
	vec_done(&p->places);
	map_done(&p->index);
	free(p->by_label);
	free(p->costs);
	own_stacks_done(&p->own);
}

void hotspots_from_samples(const struct evidence_piece *profile, const struct hotspot_look *look,
	struct arena *arena, struct hotspot_drafts *drafts)
{
	struct placer p = {.algorithm = look->algorithm};
	mem_auto uint32_t *place_of = NULL;
	size_t functions, lines;

	if (!own_stacks_take(profile->run, look, &p.own))
		return;
	functions = p.own.functions.labels.count;
	lines = p.own.lines.labels.count;
	p.by_label = mem_new((functions > lines ? functions : lines) + 1, sizeof(*p.by_label));
	p.costs = own_costs_make(&p.own);
	own_levels_choose(&p.own, p.costs);
	if (is_one_thread(&p))
		p.operation = own_levels_operate(
			&p.own, p.costs, p.algorithm ? (double)p.algorithm->instructions : 0);
	for (uint32_t i = 0; i < p.own.stacks.count; i++)
		stack_place(&p, i);
	place_of = places_by_stack(&p);
	cut_take(&p, place_of);
	drafts->busy_threads = threads_compare(&p, place_of);
	times_take(&p, place_of, drafts);
	runtime_take(&p, place_of, drafts);
	vec_foreach (const struct hot_place, place, &p.places)
		if ((double)place->weight >= LEAST_SHARE * (double)p.own.samples.total.weight)
			place_draft(&p, place, profile->path, arena, drafts);
	placer_done(&p);
}

struct hotspot_below hotspot_below(const struct run *profile, const char *function)
{
	struct hotspot_below below = {.ns = (double)NAN, .total_ns = (double)NAN};
	struct own_stacks own;
	struct own_cost *costs;
	double ns = 0;

	if (!own_stacks_take(profile, &(struct hotspot_look){0}, &own))
		return below;
	costs = own_costs_make(&own);
	for (uint32_t i = 1; i <= own.functions.labels.count; i++)
		if (str_equal(own_label(&own, i)->name, function))
			ns += (double)costs[i].total;
	if (str_equal(own.samples.unit, "ns"))
		below = (struct hotspot_below){
			ns, (double)own.samples.total.weight, (double)own.samples.total.samples};
	free(costs);
	own_stacks_done(&own);
	return below;
}
