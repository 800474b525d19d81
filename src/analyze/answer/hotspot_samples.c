/* hotspot_samples.c - places in the samples: who of the program's own code was it, doing what?
 *
 * The stacks are walked once each, however many samples they have.  From the innermost frame
 * outwards: the first frame of the program's own code is the place, what stands before it (an
 * allocator, a page fault, a system call) is the category.  Without debug information nothing has
 * a file: then the functions of a program, not of a library, are its own code.
 *
 * The query of a place lists its stacks by their ids in the file: how they were chosen cannot be
 * said in SQL, but the number can be summed again from the rows. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/function_class.h"
#include "analyze/label.h"
#include "analyze/profile_filter.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "code/scope.h"
#include "hotspot_parts.h"
#include "model/run.h"

enum { FRAMES_MOST = 512 };

struct hot_place {
	uint32_t function; /* label */
	enum hotspot_category category;
	uint64_t weight, samples;
	vec_of(struct profile_stack) stacks;
};

struct place_line {
	const char *file;
	uint32_t line;
	uint64_t weight;
};

struct placer {
	const struct run *run;
	struct profile_samples samples;
	struct label_book functions, lines;
	struct function_book *classes;
	uint8_t *class_of; /* by label of a function, plus one; 0: not asked yet */
	struct map index;
	vec_of(struct hot_place) places;
};

static enum function_class class_of(struct placer *p, uint32_t label)
{
	const struct label *l = &p->functions.labels.at[label - 1];

	if (!p->class_of[label])
		p->class_of[label] = (uint8_t)(1 + function_class_of(p->classes, l->name,
							   l->flags & LABEL_KERNEL));
	return (enum function_class)(p->class_of[label] - 1);
}

/* What a frame inside the own code's frame says about the work. */
static enum hotspot_category category_of(enum function_class class)
{
	switch (class) {
	case FUNCTION_ALLOCATOR:
	case FUNCTION_COLLECTOR:
		return HOTSPOT_ALLOCATION;
	case FUNCTION_LOCK:
	case FUNCTION_SPIN:
	case FUNCTION_FUTEX:
		return HOTSPOT_LOCK;
	case FUNCTION_FAULT:
	case FUNCTION_MAP:
	case FUNCTION_MEMORY:
		return HOTSPOT_MEMORY;
	case FUNCTION_SYNC:
	case FUNCTION_BLOCK:
		return HOTSPOT_IO;
	case FUNCTION_IO:
	case FUNCTION_NETWORK:
	case FUNCTION_ENTRY:
	case FUNCTION_SCHED:
	case FUNCTION_SLEEP:
		return HOTSPOT_SYSCALL;
	case FUNCTION_NO_CLASS:
	case FUNCTION_COPY:
	case FUNCTION_CLASSES:
		return HOTSPOT_CPU;
	}
	return HOTSPOT_CPU;
}

/* The stronger word wins: an allocator that faults is still the allocator's call, a lock that
 * enters the kernel is a lock; a fault says more than that the kernel was entered. */
static unsigned strength(enum hotspot_category category)
{
	static const uint8_t strengths[HOTSPOT_CATEGORIES] = {
		[HOTSPOT_SYSCALL] = 1,
		[HOTSPOT_IO] = 2,
		[HOTSPOT_MEMORY] = 3,
		[HOTSPOT_ALLOCATION] = 4,
		[HOTSPOT_LOCK] = 5,
	};

	return strengths[category];
}

/* Of a program, not of a library; a program's helpers may stand below /usr/lib. */
static bool is_in_program(const struct label *function)
{
	return *function->module && !(function->flags & LABEL_KERNEL) &&
	       !strstr(label_base(function->module), ".so") && *function->module != '[';
}

/* Of a library of the system, by name. */
static bool is_of_library(const struct label *function)
{
	return (str_starts(function->module, "/usr/lib") || str_starts(function->module, "/lib")) &&
	       !is_in_program(function) && !(function->flags & LABEL_UNNAMED);
}

/* A library of the system is nobody's own code, even where its sources are known; a program is,
 * even where they are not: a script may start several. */
static bool is_own(const struct label *function, const struct label *line)
{
	static const struct scope everything;

	if (function->flags & (LABEL_KERNEL | LABEL_UNNAMED))
		return false;
	if (is_of_library(function))
		return false;
	if (!*line->file)
		return !strstr(label_base(function->module), ".so");
	return scope_has(&everything, line->file);
}

/* Frames of a stack, innermost first: labels of functions and lines side by side. */
static unsigned stack_frames(
	const struct placer *p, row_id stack, uint32_t *functions, uint32_t *lines)
{
	unsigned count = 0;

	while (stack && count + LABEL_INLINES_MAX <= FRAMES_MOST) {
		const struct stack_row *row = &p->run->stacks.at[stack - 1];
		unsigned n = label_book_at(&p->functions, row->location, functions + count);

		if (label_book_at(&p->lines, row->location, lines + count) != n)
			break; /* both books see the same frames; never true */
		count += n;
		stack = row->parent;
	}
	return count;
}

static struct hot_place *place_of(
	struct placer *p, uint32_t function, enum hotspot_category category)
{
	uint32_t key[2] = {function, category}, index;

	if (map_add(&p->index, key, sizeof(key), p->places.count, &index)) {
		vec_push(
			&p->places, (struct hot_place){.function = function, .category = category});
	}
	return &p->places.at[index];
}

/* The own frame among `count`, innermost first.  Own code without a name (the program is stripped)
 * is called after its next caller of the same file that has one; where there is none, what it calls
 * is: the innermost function that has a name.  Where nothing has, it stays without. */
static unsigned own_frame(
	const struct placer *p, const uint32_t *functions, const uint32_t *lines, unsigned count)
{
	unsigned known = UINT_MAX, nameless = UINT_MAX;

	for (unsigned i = 0; i < count; i++) {
		const struct label *function = &p->functions.labels.at[functions[i] - 1];
		bool named = !(function->flags & (LABEL_KERNEL | LABEL_UNNAMED));
		const char *module =
			nameless < count ? p->functions.labels.at[functions[nameless] - 1].module
					 : "";

		if (is_own(function, &p->lines.labels.at[lines[i] - 1]) &&
			(!*module || str_equal(module, function->module)))
			return i;
		if (!named && is_in_program(function) && nameless == UINT_MAX)
			nameless = i;
		if (named && known == UINT_MAX && nameless == UINT_MAX)
			known = i;
	}
	return known < count ? known : nameless < count ? nameless : 0;
}

static void stack_place(struct placer *p, const struct profile_stack *at)
{
	uint32_t functions[FRAMES_MOST], lines[FRAMES_MOST];
	unsigned count = stack_frames(p, at->stack, functions, lines), own, inside;
	enum hotspot_category category = HOTSPOT_CPU;
	struct hot_place *place;

	if (!count)
		return;
	own = own_frame(p, functions, lines, count);
	inside = own + !is_own(&p->functions.labels.at[functions[own] - 1],
			       &p->lines.labels.at[lines[own] - 1]);
	for (unsigned i = 0; i < inside; i++) { /* a library's function tells what it does itself */
		enum hotspot_category c = category_of(class_of(p, functions[i]));

		if (strength(c) > strength(category))
			category = c;
	}
	if (category == HOTSPOT_CPU && own &&
		p->functions.labels.at[functions[0] - 1].flags & LABEL_KERNEL)
		category = HOTSPOT_SYSCALL; /* in the kernel, without a known name on the way */
	place = place_of(p, functions[own], category);
	place->weight += at->cost.weight;
	place->samples += at->cost.samples;
	vec_push(&place->stacks, *at);
}

/* The hottest line of the function within the place's stacks. */
static struct place_line place_hottest(const struct placer *p, const struct hot_place *place)
{
	uint32_t functions[FRAMES_MOST], lines[FRAMES_MOST];
	uint64_t *weights = mem_new((size_t)p->lines.labels.count + 1, sizeof(*weights));
	struct place_line best = {.file = ""};

	vec_foreach (const struct profile_stack, at, &place->stacks) {
		unsigned count = stack_frames(p, at->stack, functions, lines);

		for (unsigned i = 0; i < count; i++)
			if (functions[i] == place->function) {
				weights[lines[i]] += at->cost.weight;
				break;
			}
	}
	for (uint32_t i = 1; i <= p->lines.labels.count; i++)
		if (weights[i] > best.weight)
			best = (struct place_line){p->lines.labels.at[i - 1].file,
				p->lines.labels.at[i - 1].line, weights[i]};
	free(weights);
	return best;
}

/* "stack IN (1,2,9) OR stack BETWEEN 11 AND 14": ids in a row as ranges. */
static void stacks_sql(const struct hot_place *place, struct str *out)
{
	const char *before = "";

	for (uint32_t i = 0; i < place->stacks.count;) {
		uint32_t j = i + 1;

		while (j < place->stacks.count &&
			place->stacks.at[j].stack == place->stacks.at[j - 1].stack + 1)
			j++;
		if (j - i > 1)
			str_addf(out, "%sstack BETWEEN %u AND %u", before,
				place->stacks.at[i].stack, place->stacks.at[j - 1].stack);
		else
			str_addf(out, "%sstack = %u", before, place->stacks.at[i].stack);
		before = " OR ";
		i = j;
	}
}

static const char *place_query(
	const struct placer *p, const struct hot_place *place, struct arena *arena)
{
	str_auto struct str sql = {0};
	const char *weight = p->samples.weighted ? "total(period)" : "count(*)";

	str_addf(&sql,
		"SELECT 1.0 * %s / (SELECT %s FROM sample WHERE event = %u) FROM sample WHERE "
		"event = %u AND (",
		weight, weight, p->samples.event, p->samples.event);
	stacks_sql(place, &sql);
	str_add_char(&sql, ')');
	return arena_str(arena, &sql);
}

static const char *location_text(struct arena *arena, const struct label *function,
	const char *call, const struct place_line *line)
{
	if (function->flags & LABEL_UNNAMED)
		return arena_format(arena, "[%s]", label_base(function->module));
	return *line->file && line->line
		       ? arena_format(arena, "%s:%u", label_base(line->file), line->line)
		       : call;
}

static const char *metric_word(enum hotspot_category category)
{
	static const char *const words[HOTSPOT_CATEGORIES] = {
		[HOTSPOT_CPU] = "CPU time",
		[HOTSPOT_MEMORY] = "CPU time in page faults and mappings",
		[HOTSPOT_BRANCH] = "CPU time",
		[HOTSPOT_LOCK] = "CPU time in locks",
		[HOTSPOT_IO] = "CPU time in I/O",
		[HOTSPOT_OFF_CPU] = "time off the CPU",
		[HOTSPOT_ALLOCATION] = "CPU time in the allocator",
		[HOTSPOT_SYSCALL] = "CPU time in system calls",
	};

	return words[category];
}

static void place_draft(const struct placer *p, const struct hot_place *place, const char *path,
	struct arena *arena, struct hotspot_drafts *drafts)
{
	const struct label *function = &p->functions.labels.at[place->function - 1];
	struct place_line line = place_hottest(p, place);
	double share = (double)place->weight / (double)p->samples.total.weight;
	const char *call = hotspot_call(arena, function->name);
	struct hotspot_draft draft = {
		.spot = {.location = location_text(arena, function, call, &line),
			.function = function->name,
			.call = call,
			.library = is_of_library(function) ? label_base(function->module) : "",
			.has_no_name = function->flags & LABEL_UNNAMED,
			.file = function->flags & LABEL_UNNAMED ? function->module : line.file,
			.line = line.line,
			.metric = metric_word(place->category),
			.value = share,
			.category = place->category},
		.experiment_share = (double)NAN,
		.samples_share = share,
	};

	hotspot_add_evidence(
		&draft, &(struct hotspot_evidence){.mechanism = "samples",
				.path = path,
				.query = place_query(p, place, arena),
				.value = share,
				.words = arena_format(arena, "%.0f %% of the %s", 100 * share,
					p->samples.weighted ? "sampled time" : "samples"),
				.agrees = share >= 0.05});
	vec_push(&drafts->rows, draft);
}

static void placer_done(struct placer *p)
{
	vec_foreach (struct hot_place, place, &p->places)
		vec_done(&place->stacks);
	vec_done(&p->places);
	map_done(&p->index);
	free(p->class_of);
	function_book_close(p->classes);
	label_book_done(&p->functions);
	label_book_done(&p->lines);
	profile_samples_done(&p->samples);
}

void hotspots_from_samples(
	const struct evidence_piece *profile, struct arena *arena, struct hotspot_drafts *drafts)
{
	struct placer p = {.run = profile->run};
	struct err err = {0};

	if (!p.run ||
		profile_samples_take(p.run, &(struct profile_filter){0}, &p.samples, &err) < 0)
		return;
	label_book_init(&p.functions, p.run, LABEL_FUNCTION);
	label_book_init(&p.lines, p.run, LABEL_LINE);
	p.classes = function_book_open();
	p.class_of = mem_new((size_t)p.functions.labels.count + 1, 1);
	vec_foreach (const struct profile_stack, at, &p.samples.stacks)
		stack_place(&p, at);
	vec_foreach (const struct hot_place, place, &p.places)
		if ((double)place->weight >= 0.005 * (double)p.samples.total.weight)
			place_draft(&p, place, profile->path, arena, drafts);
	placer_done(&p);
}
