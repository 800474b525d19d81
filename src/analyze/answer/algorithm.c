/* algorithm.c - see algorithm.h.
 *
 * The places of a run hold all of it: calls stand at the line that calls under the name of the
 * callee, loops at their first line under the name of the function that they ended up in.
 * A simulation that was cut saw the beginning.  A function is only spoken of when its part of the
 * simulated instructions is not far below its part of the time: a loop that has just begun has
 * other counts than one that is done. */
#include "analyze/algorithm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/growth.h"
#include "analyze/label.h"
#include "analyze/simulated.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "code/scope.h"
#include "hotspot_parts.h"
#include "model/run.h"

#define REACHED 0.25	 /* of its share of the time, in simulated instructions */
#define CALLS_WORTH 1000 /* fewer calls are no reason */
#define TRIPS_WORTH 16.0 /* per entry; fewer are */
#define MOST_SITE 0.9	 /* of the calls: they come from one line */
#define PER_CALL 0.01	 /* one call or two without a trip: still once per call */
enum { NEAR_BEFORE = 30, NEAR_BEHIND = 5 };

struct draft {
	struct algorithm_function row;
	uint64_t instructions;
	vec_of(struct algorithm_site) sites;
	vec_of(struct algorithm_loop) loops;
};

struct collecting {
	const struct run *run;
	struct map index;
	vec_of(struct draft) drafts;
	uint64_t instructions;
	bool any;
};

static struct draft *draft_of(struct collecting *c, const char *function)
{
	uint32_t at;

	if (map_add(&c->index, function, simulated_name_length(function), c->drafts.count, &at)) {
		vec_push(&c->drafts, (struct draft){.row.function = function});
	}
	return &c->drafts.at[at];
}

static struct algorithm_loop *loop_of(struct draft *draft, const char *file, uint32_t line)
{
	vec_foreach (struct algorithm_loop, loop, &draft->loops)
		if (loop->line == line && str_equal(loop->file, file))
			return loop;
	vec_push(&draft->loops, (struct algorithm_loop){.file = file, .line = line});
	return &draft->loops.at[draft->loops.count - 1];
}

static void call_take(struct draft *draft, const char *file, uint32_t line, uint64_t calls)
{
	draft->row.calls += calls;
	vec_foreach (struct algorithm_site, site, &draft->sites)
		if (site->line == line && str_equal(site->file, file)) {
			site->calls += calls;
			return;
		}
	vec_push(&draft->sites, (struct algorithm_site){file, line, calls});
}

static void place_take(struct collecting *c, const struct place_row *place)
{
	const struct run *run = c->run;
	const char *event = run_text(run, run->events.at[place->event - 1].name);
	const char *function = run_text(run, place->function), *file = run_text(run, place->file);

	if (!*function)
		return;
	if (str_equal(event, "instructions")) {
		draft_of(c, function)->instructions += place->value;
		c->instructions += place->value;
	} else if (str_equal(event, "calls")) {
		call_take(draft_of(c, function), file, place->line, place->value);
		c->any = true;
	} else if (str_equal(event, "loop-trips")) {
		loop_of(draft_of(c, function), file, place->line)->trips += place->value;
		c->any = true;
	} else if (str_equal(event, "loop-entries")) {
		loop_of(draft_of(c, function), file, place->line)->entries += place->value;
	}
}

static int by_calls(const void *a, const void *b)
{
	const struct algorithm_site *x = a, *y = b;

	return x->calls != y->calls ? (x->calls < y->calls) - (x->calls > y->calls)
				    : (x->line > y->line) - (x->line < y->line);
}

static int by_trips(const void *a, const void *b)
{
	const struct algorithm_loop *x = a, *y = b;

	return x->trips != y->trips ? (x->trips < y->trips) - (x->trips > y->trips)
				    : (x->line > y->line) - (x->line < y->line);
}

static int by_instructions(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;

	return x->instructions != y->instructions
		       ? (x->instructions < y->instructions) - (x->instructions > y->instructions)
		       : strcmp(x->row.function, y->row.function);
}

static void times_take(struct collecting *c, const struct run *profile, struct arena *arena)
{
	struct simulated_rules rules;
	struct simulated_view view;
	struct err ignored = {0};

	simulated_rules_load(&rules);
	if (simulated_join(c->run, profile, &rules.defaults, arena, &view, &ignored) < 0)
		return;
	for (uint32_t i = 0; i < view.function_count; i++) {
		const struct simulated_site *site = &view.functions[i];
		uint32_t at;

		if (map_get(&c->index, site->row.function,
			    simulated_name_length(site->row.function), &at))
			c->drafts.at[at].row.time_share += site->time_share;
	}
}

static void drafts_keep(struct collecting *c, struct arena *arena, struct algorithm_view *view)
{
	struct algorithm_function *rows = arena_take(arena, (c->drafts.count + 1) * sizeof(*rows));

	vec_sort(&c->drafts, by_instructions);
	for (uint32_t i = 0; i < c->drafts.count; i++) {
		struct draft *draft = &c->drafts.at[i];

		vec_sort(&draft->sites, by_calls);
		vec_sort(&draft->loops, by_trips);
		rows[i] = draft->row;
		rows[i].sites = arena_keep(
			arena, draft->sites.at, draft->sites.count * sizeof(*draft->sites.at));
		rows[i].site_count = draft->sites.count;
		rows[i].loops = arena_keep(
			arena, draft->loops.at, draft->loops.count * sizeof(*draft->loops.at));
		rows[i].loop_count = draft->loops.count;
		rows[i].instructions_share =
			c->instructions ? (double)draft->instructions / (double)c->instructions : 0;
		vec_done(&draft->sites);
		vec_done(&draft->loops);
	}
	view->functions = rows;
	view->function_count = c->drafts.count;
	view->instructions = c->instructions;
}

bool algorithm_view_make(const struct run *calls, const struct run *profile, struct arena *arena,
	struct algorithm_view *ret_view)
{
	struct collecting c = {.run = calls};

	*ret_view = (struct algorithm_view){0};
	if (!calls)
		return false;
	vec_foreach (const struct place_row, place, &calls->places)
		place_take(&c, place);
	if (profile && c.any)
		times_take(&c, profile, arena);
	drafts_keep(&c, arena, ret_view);
	vec_foreach (const struct execution_packed, e, &calls->executions)
		ret_view->partial |= (e->flags & EXECUTION_OF_A_PART) != 0;
	ret_view->is_start_only =
		c.any && profile && simulated_is_start_only(calls, profile, arena);
	map_done(&c.index);
	vec_done(&c.drafts);
	if (!c.any)
		*ret_view = (struct algorithm_view){0};
	return c.any;
}

static bool same_name(const char *a, const char *b)
{
	size_t len = simulated_name_length(a);

	return simulated_name_length(b) == len && memcmp(a, b, len) == 0;
}

/* Whether the simulation has seen enough of it. */
static bool is_reached(const struct algorithm_view *view, const struct algorithm_function *function)
{
	return !view->partial || function->instructions_share >= REACHED * function->time_share;
}

const struct algorithm_function *algorithm_find(
	const struct algorithm_view *view, const char *function)
{
	for (uint32_t i = 0; i < view->function_count; i++)
		if (same_name(view->functions[i].function, function))
			return is_reached(view, &view->functions[i]) ? &view->functions[i] : NULL;
	return NULL;
}

uint64_t algorithm_calls_least(const struct algorithm_view *view, const char *function)
{
	for (uint32_t i = 0; i < view->function_count; i++)
		if (same_name(view->functions[i].function, function))
			return view->functions[i].calls;
	return 0;
}

static bool same_file(const char *a, const char *b)
{
	return *a && *b && (scope_path_ends(a, b) || scope_path_ends(b, a));
}

uint64_t algorithm_calls(
	const struct algorithm_view *view, const char *function, const char *file, uint32_t line)
{
	const struct algorithm_function *found = algorithm_find(view, function);
	uint64_t calls = 0;

	for (uint32_t i = 0; found && line && i < found->site_count; i++)
		if (found->sites[i].line == line && same_file(found->sites[i].file, file))
			calls += found->sites[i].calls;
	return calls;
}

const struct algorithm_loop *algorithm_loop_near(
	const struct algorithm_view *view, const char *file, uint32_t line)
{
	const struct algorithm_loop *best = NULL;

	for (uint32_t i = 0; line && i < view->function_count; i++) {
		const struct algorithm_function *function = &view->functions[i];

		for (uint32_t k = 0; is_reached(view, function) && k < function->loop_count; k++) {
			const struct algorithm_loop *loop = &function->loops[k];

			if (loop->line && loop->line <= line + NEAR_BEHIND &&
				loop->line + NEAR_BEFORE >= line && same_file(loop->file, file) &&
				(!best || loop->trips > best->trips))
				best = loop;
		}
	}
	return best;
}

/* ---- words ---- */

const char *algorithm_count_words(double count, struct arena *arena)
{
	str_auto struct str text = {0};

	if (count >= 1e13)
		return arena_format(arena, "%.3g", count);
	if (count >= 1e9)
		return arena_format(arena, "%.*f billion", count < 1e11 ? 1 : 0, count / 1e9);
	if (count >= 1e7)
		return arena_format(arena, "%.*f million", count < 1e8 ? 1 : 0, count / 1e6);
	if (count < 100 && count != (double)(uint64_t)count)
		return arena_format(arena, "%.1f", count);
	str_add_grouped(&text, count);
	return arena_str(arena, &text);
}

static const char *place_words(const char *file, uint32_t line, struct arena *arena)
{
	return arena_format(arena, "%s:%u", label_base(file), line);
}

/* ", called 100,000 times from main.c:88". */
static void calls_add(
	const struct algorithm_function *function, struct str *out, struct arena *arena)
{
	const struct algorithm_site *site = function->site_count ? function->sites : NULL;
	double share = site ? (double)site->calls / (double)function->calls : 0;

	str_addf(out, "called %s times", algorithm_count_words((double)function->calls, arena));
	if (!site || !site->line || !*site->file)
		return;
	if (site->calls == function->calls)
		str_addf(out, " from %s", place_words(site->file, site->line, arena));
	else if (share >= 0.5)
		str_addf(out, ", %.*f %% of them from %s", share >= 0.995 ? 1 : 0, 100 * share,
			place_words(site->file, site->line, arena));
	else
		str_addf(out, " from %u lines, most of all from %s", function->site_count,
			place_words(site->file, site->line, arena));
}

/* How often a loop is entered is not always known: then it is as often as its function is called.
 */
static double entries_of(const struct algorithm_loop *loop, uint64_t calls)
{
	return (double)(loop->entries > 1 ? loop->entries : calls > 1 ? calls : 1);
}

/* As many trips as calls, whatever the entries: the jump back is that of its caller's loop. */
static bool is_a_call_each(const struct algorithm_loop *loop, uint64_t calls)
{
	return calls && fabs((double)loop->trips - (double)calls) <= PER_CALL * (double)calls;
}

static double trips_per_entry(const struct algorithm_loop *loop, uint64_t calls)
{
	return is_a_call_each(loop, calls) ? 1 : (double)loop->trips / entries_of(loop, calls);
}

static void loop_add(
	const struct algorithm_loop *loop, uint64_t calls, struct str *out, struct arena *arena)
{
	const char *trips = algorithm_count_words(trips_per_entry(loop, calls), arena);
	double entries = entries_of(loop, calls);

	if (loop->line)
		str_addf(out, "the loop at %s makes ", place_words(loop->file, loop->line, arena));
	else
		str_add(out, "its loop makes ");
	if (calls && fabs(entries - (double)calls) <= PER_CALL * (double)calls)
		str_addf(out, "%s trips per call", trips);
	else if (entries <= 1)
		str_addf(out, "%s trips", trips);
	else
		str_addf(out, "%s trips each of the %s times it is entered", trips,
			algorithm_count_words(entries, arena));
}

const char *algorithm_words(const struct algorithm_view *view, const char *function,
	const char *file, uint32_t line, struct arena *arena)
{
	const struct algorithm_function *found = algorithm_find(view, function);
	const struct algorithm_loop *loop = found && found->loop_count ? found->loops : NULL;
	uint64_t calls = found ? found->calls : 0;
	bool has_calls = calls >= CALLS_WORTH;
	str_auto struct str out = {0};

	if (!found)
		loop = algorithm_loop_near(view, file, line);
	if (loop && (trips_per_entry(loop, calls) < TRIPS_WORTH || loop->trips < CALLS_WORTH))
		loop = NULL;
	if (!loop && !has_calls)
		return "";
	if (loop)
		loop_add(loop, calls, &out, arena);
	if (loop && has_calls)
		str_add(&out, ", ");
	if (has_calls)
		calls_add(found, &out, arena);
	if (view->partial)
		str_add(&out, " in the simulated part of the run");
	else if (view->is_smaller)
		str_add(&out, " (simulated, with a smaller input)");
	return arena_str(arena, &out);
}

/* "its time grows as n^2: twice the input takes 4.0 times as long"; "" where nothing is wrong. With
 * all that it calls: which part of it is sampled in whom changes with the caches, too. */
static const char *growth_words(
	const struct growth_view *growth, const char *function, struct arena *arena)
{
	const struct growth_function *found = growth ? growth_find(growth, function) : NULL;
	const char *law;

	if (!found || !growth_is_superlinear(&found->total))
		return "";
	law = growth_law_words(&found->total, arena);
	return *law ? arena_format(arena,
			      "its time grows as %s: twice the input takes %.1f times as long", law,
			      pow(2, found->total.power))
		    : "";
}

static const char *operation_words(
	const struct algorithm_view *view, const struct hotspot *spot, struct arena *arena)
{
	uint64_t count = spot->done ? spot->done : spot->done_below;

	return arena_format(arena, "%s %s times%s; its time is in several steps: %s",
		spot->done ? "it is called" : "its steps are called",
		algorithm_count_words((double)count, arena),
		view->partial	   ? " in the simulated part of the run"
		: view->is_smaller ? " (simulated, with a smaller input)"
				   : "",
		spot->steps);
}

/* Of the place, or of what has its time below it: how often that is called from there. */
static const char *spot_counts(
	const struct algorithm_view *view, const struct hotspot *spot, struct arena *arena)
{
	const char *words = algorithm_words(view, spot->function, spot->file, spot->line, arena);

	if (spot->steps)
		return operation_words(view, spot, arena);
	for (uint32_t i = 0; i < spot->chain_place && !*words; i++) {
		const struct hotspot_link *link = &spot->chain[i];

		words = algorithm_words(view, link->function, link->file, link->line, arena);
		if (*words)
			words = arena_format(arena, "%s: %s", link->call, words);
	}
	return words;
}

static const char *spot_growth(
	const struct growth_view *growth, const struct hotspot *spot, struct arena *arena)
{
	const char *words = growth_words(growth, spot->function, arena);

	if (*words || !spot->chain_place)
		return words;
	words = growth_words(growth, spot->chain[0].function, arena);
	return *words ? arena_format(arena, "%s: %s", spot->chain[0].call, words) : "";
}

void hotspots_join_algorithm(
	const struct evidence *evidence, struct arena *arena, struct hotspot_drafts *drafts)
{
	const struct algorithm_view *view = evidence->algorithm;
	bool has_counts = view && !view->is_start_only;

	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		struct hotspot *spot = &draft->spot;
		const char *growth = spot_growth(evidence->growth, spot, arena);
		const char *counts = has_counts ? spot_counts(view, spot, arena) : "";

		spot->tells_growth = *growth;
		spot->algorithm = *growth && *counts ? arena_format(arena, "%s; %s", growth, counts)
				  : *growth	     ? growth
						     : counts;
	}
}
