/* pattern_stacks.c - the stacks of a profile, and which of them a rule means.
 *
 * Every stack is walked once and keeps the labels of its frames; a rule is then a few look-ups for
 * each frame.  The program's own code ends what "it calls" means: from the innermost frame outwards
 * the first that is neither a library's (by its file, its module, or its name: templates are
 * compiled into the program, and without -g nothing else tells) nor the kernel's. */
#include <string.h>

#include "base/mem.h"
#include "code/names.h"
#include "model/run.h"
#include "own_code.h"
#include "pattern_parts.h"

enum { FRAMES_MOST = 512 };
#define CALLER_LEAST 0.05
#define LATE_FROM (2.0 / 3)
#define TIMES_LEAST 0.05 /* a smaller share is not asked when it was taken */

/* After a mismatch only the last * can take more. */
bool name_matches(const char *pattern, const char *name, size_t len)
{
	const char *behind = NULL, *end = name + len, *resume = NULL;

	for (;;) {
		if (*pattern == '*') {
			behind = ++pattern;
			resume = name;
		} else if (name == end ? !*pattern : *pattern == *name) {
			if (name == end)
				return true;
			pattern++;
			name++;
		} else if (behind && resume < end) {
			pattern = behind;
			name = ++resume;
		} else {
			return false;
		}
	}
}

/* Without its parameters, its version and the words of a clone: "f.part.0", "memcpy@GLIBC_2.14". */
static size_t name_length(const char *name)
{
	static const char *const clones[] = {".isra", ".constprop", ".part", ".cold", "@"};
	size_t len = names_bare_length(name);

	for (unsigned i = 0; i < sizeof(clones) / sizeof(*clones); i++) {
		const char *at = memmem(name, len, clones[i], strlen(clones[i]));

		if (at && at > name)
			len = (size_t)(at - name);
	}
	return len;
}

static bool list_has(const struct name_list *list, const struct stack_walk *walk, uint32_t id)
{
	const struct label *label = &walk->function_labels.labels.at[id - 1];
	size_t len = walk->lengths[id];
	const char *class = NULL;

	for (unsigned i = 0; i < list->count; i++) {
		const char *name = list->names[i];

		if (!str_starts(name, "class:")) {
			if (name_matches(name, label->name, len))
				return true;
			continue;
		}
		if (!class)
			class = function_class_word(function_class_of(
				walk->classes, label->name, label->flags & LABEL_KERNEL));
		if (str_equal(class, name + strlen("class:")))
			return true;
	}
	return false;
}

void name_list_mark(const struct name_list *list, const struct stack_walk *walk, bool *ret_marks)
{
	for (uint32_t id = 1; id <= walk->function_labels.labels.count; id++)
		ret_marks[id] = walk->lengths[id] && list_has(list, walk, id);
}

/* ---- the walk ---- */

static void stack_frames(
	struct stack_walk *walk, const bool *library, const bool *wrappers, struct walked_stack *at)
{
	uint32_t labels[LABEL_INLINES_MAX];

	at->first = walk->functions.count;
	for (row_id stack = at->stack; stack && at->count + LABEL_INLINES_MAX <= FRAMES_MOST;
		stack = walk->run->stacks.at[stack - 1].parent) {
		row_id location = walk->run->stacks.at[stack - 1].location;
		unsigned n = label_book_at(&walk->function_labels, location, labels);

		for (unsigned i = 0; i < n; i++)
			vec_push(&walk->functions, labels[i]);
		n = label_book_at(&walk->line_labels, location, labels);
		for (unsigned i = 0; i < n; i++)
			vec_push(&walk->lines, labels[i]);
		at->count += n;
	}
	at->leaf = at->own = at->place = at->caller = at->count;
	for (uint32_t i = at->count; i-- > 0;) {
		uint32_t id = walk->functions.at[at->first + i];
		const struct label *function = &walk->function_labels.labels.at[id - 1];
		const struct label *line =
			&walk->line_labels.labels.at[walk->lines.at[at->first + i] - 1];

		if (!(function->flags & LABEL_KERNEL))
			at->leaf = i;
		if (library[id] || !own_code_has(function, line->file))
			continue;
		at->own = i;
		if (wrappers[id])
			continue;
		at->caller = at->place;
		at->place = i;
	}
}

int stack_walk_init(struct stack_walk *walk, const struct pattern_book *book, const struct run *run)
{
	mem_auto bool *library = NULL, *wrappers = NULL;
	struct err err = {0};
	int r;

	*walk = (struct stack_walk){.run = run};
	r = profile_samples_take(run, &(struct profile_filter){0}, &walk->samples, &err);
	if (r < 0)
		return r;
	label_book_init(&walk->function_labels, run, LABEL_FUNCTION);
	label_book_init(&walk->line_labels, run, LABEL_LINE);
	walk->classes = function_book_open();
	walk->lengths =
		mem_new((size_t)walk->function_labels.labels.count + 1, sizeof(*walk->lengths));
	for (uint32_t i = 0; i < walk->function_labels.labels.count; i++)
		if (!(walk->function_labels.labels.at[i].flags & LABEL_UNNAMED))
			walk->lengths[i + 1] = name_length(walk->function_labels.labels.at[i].name);
	library = mem_new((size_t)walk->function_labels.labels.count + 1, sizeof(*library));
	wrappers = mem_new((size_t)walk->function_labels.labels.count + 1, sizeof(*wrappers));
	name_list_mark(&book->library, walk, library);
	name_list_mark(&book->wrappers, walk, wrappers);
	vec_foreach (const struct profile_stack, stack, &walk->samples.stacks) {
		struct walked_stack at = {.stack = stack->stack,
			.weight = stack->cost.weight,
			.samples = stack->cost.samples};

		stack_frames(walk, library, wrappers, &at);
		vec_push(&walk->stacks, at);
	}
	return 0;
}

void stack_walk_done(struct stack_walk *walk)
{
	vec_done(&walk->functions);
	vec_done(&walk->lines);
	vec_done(&walk->stacks);
	free(walk->lengths);
	function_book_close(walk->classes);
	label_book_done(&walk->function_labels);
	label_book_done(&walk->line_labels);
	profile_samples_done(&walk->samples);
}

/* ---- a set of stacks ---- */

struct set_maker {
	const struct stack_walk *walk;
	const struct pattern_stacks *rule;
	bool *marks[STACK_RULES];
	uint64_t *places, *lines, *callees, *owns; /* weight by label */
};

static uint32_t function_at(
	const struct stack_walk *walk, const struct walked_stack *at, uint32_t i)
{
	return walk->functions.at[at->first + i];
}

/* The frame that the row is about. */
static uint32_t place_of(const struct set_maker *m, const struct walked_stack *at)
{
	return m->rule->of_caller ? at->caller : at->place;
}

/* The outermost frame of [0, end) with a mark; `end`: there is none. */
static uint32_t frame_find(const struct stack_walk *walk, const struct walked_stack *at,
	uint32_t end, const bool *marks)
{
	for (uint32_t i = end; i-- > 0;)
		if (marks[function_at(walk, at, i)])
			return i;
	return end;
}

/* Whether one rule holds; *ret_callee is a frame that made it true. */
static bool rule_holds(const struct set_maker *m, const struct walked_stack *at,
	enum stack_rule rule, uint32_t *ret_callee)
{
	const bool *marks = m->marks[rule];
	uint32_t end = rule == STACK_ANY ? at->count : at->own, frame;

	switch (rule) {
	case STACK_LEAF:
		frame = at->leaf;
		break;
	case STACK_CALL:
		frame = at->own ? at->own - 1 : at->count;
		break;
	case STACK_OWN:
	case STACK_NOT_OWN:
		frame = at->place;
		break;
	case STACK_IN:
	case STACK_ALSO:
	case STACK_ANY:
	case STACK_NOT:
	case STACK_RULES:
	default:
		frame = frame_find(m->walk, at, end, marks);
		frame = frame == end ? at->count : frame;
		break;
	}
	if (rule == STACK_NOT || rule == STACK_NOT_OWN)
		return frame >= at->count || !marks[function_at(m->walk, at, frame)];
	if (frame >= at->count || !marks[function_at(m->walk, at, frame)])
		return false;
	if (rule != STACK_OWN || !*ret_callee)
		*ret_callee = function_at(m->walk, at, frame);
	return true;
}

static bool stack_is_meant(
	const struct set_maker *m, const struct walked_stack *at, uint32_t *ret_callee)
{
	uint32_t callee = 0;

	/* The order makes the callee that of the rule nearest to the program's own code. */
	for (unsigned rule = 0; rule < STACK_RULES; rule++)
		if (m->marks[rule] && !rule_holds(m, at, (enum stack_rule)rule, &callee))
			return false;
	*ret_callee = callee;
	return true;
}

static uint32_t heaviest(const uint64_t *weights, uint32_t count)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i <= count; i++)
		if (weights[i] > (best ? weights[best] : 0))
			best = i;
	return best;
}

/* What the stacks of the place have: its lines, and the own functions that it calls. */
static void place_weigh(const struct set_maker *m, const struct stack_set *set)
{
	uint32_t k = 0;

	vec_foreach (const struct walked_stack, at, &m->walk->stacks) {
		uint32_t place = place_of(m, at);

		while (k < set->stacks.count && set->stacks.at[k] < at->stack)
			k++;
		if (k == set->stacks.count)
			break;
		if (set->stacks.at[k] != at->stack || place >= at->count ||
			function_at(m->walk, at, place) != set->place)
			continue;
		m->lines[m->walk->lines.at[at->first + place]] += at->weight;
		m->owns[function_at(m->walk, at, at->place)] += at->weight;
	}
}

/* Where the last part of a qualified name begins: "area" of "shape::area", of "main.(*T).area". */
static size_t method_at(const char *name, size_t len)
{
	while (len && name[len - 1] != ':' && name[len - 1] != '.')
		len--;
	return len;
}

/* The most classes that have a function of one name, among what the place calls. */
static double classes_of(const struct set_maker *m, const struct stack_set *set)
{
	const struct label *labels = m->walk->function_labels.labels.at;
	uint32_t count = m->walk->function_labels.labels.count, most = 0;
	double least = CALLER_LEAST * (double)set->weight;

	for (uint32_t i = 1; i <= count; i++) {
		const char *name = labels[i - 1].name;
		size_t len = m->walk->lengths[i], at = method_at(name, len);
		uint32_t same = 0;

		for (uint32_t k = 1; (double)m->owns[i] >= least && at && k <= count; k++) {
			const char *other = labels[k - 1].name;
			size_t other_len = m->walk->lengths[k], from = method_at(other, other_len);

			same += (double)m->owns[k] >= least && from &&
				other_len - from == len - at &&
				memcmp(other + from, name + at, len - at) == 0;
		}
		most = same > most ? same : most;
	}
	return most;
}

/* Samples in order of time: how often a thread came to these stacks from others, and when. */
static void set_times(const struct stack_walk *walk, struct stack_set *set)
{
	const struct run *run = walk->run;
	mem_auto bool *inside = mem_new((size_t)run->stacks.count + 1, sizeof(*inside));
	mem_auto bool *was = mem_new((size_t)run->threads.count + 1, sizeof(*was));
	double all = 0, late = 0;

	for (uint32_t i = 0; i < set->stacks.count; i++)
		inside[set->stacks.at[i]] = true;
	vec_foreach (const struct sample_row, sample, &run->samples) {
		double weight = walk->samples.weighted ? (double)sample->period : 1;

		if (sample->event != walk->samples.event)
			continue;
		all += weight;
		if (inside[sample->stack] && all >= LATE_FROM * (double)walk->samples.total.weight)
			late += weight;
		set->bursts += inside[sample->stack] && !was[sample->thread];
		was[sample->thread] = inside[sample->stack];
	}
	set->late = late / (double)set->weight;
}

static void set_numbers(const struct set_maker *m, struct stack_set *set)
{
	uint32_t count = m->walk->function_labels.labels.count;
	double weight = (double)set->weight;

	set->share = weight / (double)m->walk->samples.total.weight;
	set->place = heaviest(m->places, count);
	set->callee = heaviest(m->callees, count);
	if (!set->weight)
		return;
	set->site = set->place ? (double)m->places[set->place] / weight : 0;
	for (uint32_t i = 1; i <= count; i++)
		set->callers += (double)m->places[i] >= CALLER_LEAST * weight;
	if (set->place) {
		place_weigh(m, set);
		set->line = heaviest(m->lines, m->walk->line_labels.labels.count);
		set->classes = classes_of(m, set);
	}
	if (set->share >= TIMES_LEAST)
		set_times(m->walk, set);
}

void stack_set_make(
	const struct stack_walk *walk, const struct pattern_stacks *rule, struct stack_set *ret_set)
{
	size_t labels = (size_t)walk->function_labels.labels.count + 1;
	struct set_maker m = {.walk = walk,
		.rule = rule,
		.places = mem_new(labels, sizeof(*m.places)),
		.callees = mem_new(labels, sizeof(*m.callees)),
		.owns = mem_new(labels, sizeof(*m.owns)),
		.lines = mem_new((size_t)walk->line_labels.labels.count + 1, sizeof(*m.lines))};

	*ret_set = (struct stack_set){0};
	for (unsigned i = 0; i < STACK_RULES; i++)
		if (rule->lists[i].count) {
			m.marks[i] = mem_new(labels, sizeof(bool));
			name_list_mark(&rule->lists[i], walk, m.marks[i]);
		}
	vec_foreach (const struct walked_stack, at, &walk->stacks) {
		uint32_t callee;

		if (!stack_is_meant(&m, at, &callee))
			continue;
		vec_push(&ret_set->stacks, at->stack);
		ret_set->weight += at->weight;
		ret_set->samples += at->samples;
		m.callees[callee] += at->weight;
		if (place_of(&m, at) < at->count)
			m.places[function_at(walk, at, place_of(&m, at))] += at->weight;
	}
	set_numbers(&m, ret_set);
	for (unsigned i = 0; i < STACK_RULES; i++)
		free(m.marks[i]);
	free(m.places);
	free(m.callees);
	free(m.owns);
	free(m.lines);
}

void stack_set_done(struct stack_set *set)
{
	vec_done(&set->stacks);
}
