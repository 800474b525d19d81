/* signal_profile.c - what clock samples tell as single numbers: the share of the kernel, of each
 * class of functions, of the hottest function and thread.
 *
 * "class.NAME" is the share of samples with a function of that class anywhere on the stack,
 * "leaf.NAME" of those taken in one.  Stacks are given their classes once, parents first.  What the
 * kernel does in an interrupt has no class: nobody asked for it.  The query names the functions by
 * their rows: which these are is data/function.classes' word. */
#include <math.h>
#include <string.h>

#include "analyze/function_class.h"
#include "analyze/label.h"
#include "analyze/profile.h"
#include "base/mem.h"
#include "model/run.h"
#include "signal_parts.h"

/* Unnamed kernel code below this share cannot change what a class says. */
#define UNNAMED_KERNEL 0.01
#define BUSY_THREAD 0.05
/* A function with a fifth of a simulated event is one of the places where it happens. */
#define JOIN_SHARE 0.2

struct profile_facts {
	struct profile_samples samples;
	const char *reason;	   /* why nothing is known, "" */
	const char *kernel_reason; /* why the kernel's functions are not, "" */
	uint8_t *class_of;	   /* by function row */
	uint32_t *on_stack;	   /* by stack row: classes anywhere on it, 1 << class */
	uint32_t *at_leaf;	   /* by stack row */
	uint64_t kernel_weight;
};

void profile_facts_close(struct profile_facts *facts)
{
	if (!facts)
		return;
	profile_samples_done(&facts->samples);
	free(facts->class_of);
	free(facts->on_stack);
	free(facts->at_leaf);
	free(facts);
}

static void functions_classify(const struct run *run, struct profile_facts *facts)
{
	struct function_book *book = function_book_open();

	facts->class_of = mem_new((size_t)run->functions.count + 1, sizeof(*facts->class_of));
	for (uint32_t i = 0; i < run->functions.count; i++) {
		const struct function_row *function = &run->functions.at[i];
		bool kernel = function->module &&
			      (run->modules.at[function->module - 1].flags & MODULE_KERNEL);

		facts->class_of[i + 1] =
			(uint8_t)function_class_of(book, run_text(run, function->name), kernel);
	}
	function_book_close(book);
}

/* The classes of all frames at a location; *ret_first: of the innermost. */
static uint32_t location_classes(const struct run *run, const struct profile_facts *facts,
	row_id location, uint32_t *ret_first)
{
	row_id frame = location ? run->locations.at[location - 1].frame : 0;
	uint32_t classes = 0;

	*ret_first = 0;
	for (bool first = true; frame; first = false) {
		const struct frame_row *row = &run->frames.at[frame - 1];
		uint32_t class = 1U << facts->class_of[row->function];

		classes |= class;
		if (first)
			*ret_first = class;
		frame = row->outer;
	}
	return classes;
}

static bool location_is_kernel(const struct run *run, row_id location)
{
	row_id module = location ? run->locations.at[location - 1].module : 0;

	return module && run->modules.at[module - 1].flags & MODULE_KERNEL;
}

static void stacks_classify(const struct run *run, struct profile_facts *facts)
{
	const uint32_t interrupt = 1U << FUNCTION_INTERRUPT;
	size_t count = (size_t)run->stacks.count + 1;
	mem_auto uint32_t *user = mem_new(count, sizeof(*user)); /* classes of the user's side */

	facts->on_stack = mem_new(count, sizeof(*facts->on_stack));
	facts->at_leaf = mem_new(count, sizeof(*facts->at_leaf));
	for (uint32_t i = 0; i < run->stacks.count; i++) {
		const struct stack_row *stack = &run->stacks.at[i];
		bool kernel = location_is_kernel(run, stack->location);
		uint32_t classes =
			location_classes(run, facts, stack->location, &facts->at_leaf[i + 1]);

		classes |= facts->on_stack[stack->parent];
		user[i + 1] = user[stack->parent] | (kernel ? 0 : classes);
		if (kernel && classes & interrupt) {
			classes = user[i + 1] | interrupt;
			facts->at_leaf[i + 1] = interrupt;
		}
		facts->on_stack[i + 1] = classes;
	}
}

/* "cpu-clock:u": the kernel side was not sampled. */
static bool event_is_user_only(const char *name)
{
	const char *modifiers = strrchr(name, ':');

	return modifiers && strchr(modifiers, 'u') && !strchr(modifiers, 'k');
}

/* Whether the kernel's samples have names: one function of its module is enough. */
static bool kernel_has_names(const struct run *run)
{
	vec_foreach (const struct function_row, function, &run->functions)
		if (function->module && function->name &&
			(run->modules.at[function->module - 1].flags & MODULE_KERNEL))
			return true;
	return false;
}

static void kernel_weigh(const struct run *run, struct profile_facts *facts)
{
	vec_foreach (const struct sample_row, sample, &run->samples)
		if (sample->event == facts->samples.event && (sample->flags & SAMPLE_KERNEL))
			facts->kernel_weight += facts->samples.weighted ? sample->period : 1;
}

static struct profile_facts *facts_of(struct leaf_reader *reader)
{
	const struct profile_filter all = {0};
	struct profile_facts *facts = reader->profile;
	struct err err = {0};

	if (facts)
		return facts;
	facts = reader->profile = mem_new(1, sizeof(*facts));
	facts->reason = facts->kernel_reason = "";
	if (profile_samples_take(reader->run, &all, &facts->samples, &err) < 0) {
		facts->reason = arena_format(reader->arena, "%s", err.text);
		return facts;
	}
	functions_classify(reader->run, facts);
	stacks_classify(reader->run, facts);
	kernel_weigh(reader->run, facts);
	if (event_is_user_only(facts->samples.name))
		facts->kernel_reason =
			"sampling the kernel is not permitted here; run as root, or set "
			"kernel.perf_event_paranoid to 1";
	else if (!kernel_has_names(reader->run) &&
		 (double)facts->kernel_weight >
			 UNNAMED_KERNEL * (double)facts->samples.total.weight)
		facts->kernel_reason = "the kernel hides the names of its functions; run as root, "
				       "or set kernel.kptr_restrict to 0";
	return facts;
}

/* "total(period)" or "count(*)" of samples, and what it is divided by. */
static const char *share_sql(
	struct leaf_reader *reader, const struct profile_facts *facts, const char *condition)
{
	const char *sum = facts->samples.weighted ? "total(period)" : "1.0 * count(*)";

	return arena_format(reader->arena,
		"((SELECT %s FROM sample WHERE event = %u AND %s) / (SELECT %s FROM sample WHERE "
		"event = %u))",
		sum, facts->samples.event, condition, sum, facts->samples.event);
}

static bool class_is_kernel(enum function_class class)
{
	return class == FUNCTION_FAULT || class == FUNCTION_MAP || class == FUNCTION_FUTEX ||
	       class == FUNCTION_BLOCK || class == FUNCTION_SCHED || class == FUNCTION_ENTRY;
}

static const char *functions_sql(struct leaf_reader *reader, const struct profile_facts *facts,
	enum function_class class, bool kernel)
{
	const struct run *run = reader->run;
	str_auto struct str ids = {0};

	for (uint32_t i = 1; i <= run->functions.count; i++) {
		row_id module = run->functions.at[i - 1].module;
		bool is_kernel = module && run->modules.at[module - 1].flags & MODULE_KERNEL;

		if (facts->class_of[i] == class && is_kernel == kernel)
			str_addf(&ids, "%s%u", ids.len ? ", " : "", i);
	}
	return arena_str(reader->arena, &ids);
}

static const char *class_condition(struct leaf_reader *reader, const struct profile_facts *facts,
	enum function_class class, bool leaf)
{
	const char *user = functions_sql(reader, facts, class, false);
	const char *kernel = functions_sql(reader, facts, class, true);
	const char *interrupts = functions_sql(reader, facts, FUNCTION_INTERRUPT, true);
	const char *depth = leaf ? " AND depth = 0" : "";

	if (!*kernel || !*interrupts)
		return arena_format(reader->arena,
			"stack IN (SELECT stack FROM chains WHERE function IN (%s%s%s)%s)", user,
			*user && *kernel ? ", " : "", kernel, depth);
	return arena_format(reader->arena,
		"(stack IN (SELECT stack FROM chains WHERE function IN (%s)%s) OR stack IN (SELECT "
		"stack FROM chains WHERE function IN (%s)%s AND stack NOT IN (SELECT stack FROM "
		"chains WHERE function IN (%s))))",
		user, depth, kernel, depth, interrupts);
}

static bool class_leaf(
	struct leaf_reader *reader, const char *word, bool leaf, struct leaf *ret_leaf)
{
	struct profile_facts *facts = facts_of(reader);
	enum function_class class = FUNCTION_ALLOCATOR;
	uint64_t weight = 0;
	const char *sql;

	while (class < FUNCTION_CLASSES && !str_equal(function_class_word(class), word))
		class ++;
	if (class == FUNCTION_CLASSES)
		return false;
	if (*facts->reason) {
		*ret_leaf = leaf_unknown(facts->reason, "NULL");
		return true;
	}
	vec_foreach (const struct profile_stack, at, &facts->samples.stacks)
		if ((leaf ? facts->at_leaf : facts->on_stack)[at->stack] & (1U << class))
			weight += at->cost.weight;
	sql = share_sql(reader, facts, class_condition(reader, facts, class, leaf));
	*ret_leaf = class_is_kernel(class) && *facts->kernel_reason
			    ? leaf_unknown(facts->kernel_reason, sql)
			    : leaf_known((double)weight / (double)facts->samples.total.weight, sql);
	return true;
}

/* ---- where two runs meet ---- */

/* By text of the simulated run: whether a function of this name has JOIN_SHARE of the event or
 * more. NULL: the event was not simulated by line. */
static bool *simulated_tops(const struct run *run, const char *event)
{
	mem_auto double *sums = NULL;
	bool *tops;
	double all = 0;

	if (!run)
		return NULL;
	sums = mem_new((size_t)run_text_count(run) + 1, sizeof(*sums));
	vec_foreach (const struct place_row, place, &run->places)
		if (str_equal(run_text(run, run->events.at[place->event - 1].name), event)) {
			sums[place->function] += (double)place->value;
			all += (double)place->value;
		}
	if (all <= 0)
		return NULL;
	tops = mem_new((size_t)run_text_count(run) + 1, sizeof(*tops));
	for (uint32_t i = 1; i <= run_text_count(run); i++)
		tops[i] = sums[i] >= JOIN_SHARE * all;
	return tops;
}

/* By function row of the profile: it is one of these. */
static bool *joined_functions(const struct run *run, const struct run *simulated, const bool *tops)
{
	bool *joined = mem_new((size_t)run->functions.count + 1, sizeof(*joined));

	for (uint32_t t = 1; t <= run_text_count(simulated); t++)
		for (uint32_t i = 0; tops[t] && i < run->functions.count; i++)
			joined[i + 1] |= label_same_function(
				run_text(run, run->functions.at[i].name), run_text(simulated, t));
	return joined;
}

/* One of the functions stands at the innermost location of the stack, inlined or not. */
static bool stack_is_in(const struct run *run, row_id stack, const bool *functions)
{
	row_id location = run->stacks.at[stack - 1].location;
	row_id frame = location ? run->locations.at[location - 1].frame : 0;

	for (; frame; frame = run->frames.at[frame - 1].outer)
		if (functions[run->frames.at[frame - 1].function])
			return true;
	return false;
}

/* "join.EVENT": the share of the samples in the functions that have most of a simulated event. */
static struct leaf join_leaf(
	struct leaf_reader *reader, const struct profile_facts *facts, const char *event)
{
	const struct run *run = reader->run;
	const struct run *simulated = reader->evidence->piece[EVIDENCE_COUNTERS].run;
	mem_auto bool *tops = simulated_tops(simulated, event);
	mem_auto bool *joined = NULL;
	str_auto struct str ids = {0};
	uint64_t weight = 0;

	if (!tops)
		return leaf_unknown("nothing was simulated by line", "NULL");
	if (reader->is_start_only)
		return leaf_unknown(leaf_start_only, "NULL");
	joined = joined_functions(run, simulated, tops);
	for (uint32_t i = 1; i <= run->functions.count; i++)
		if (joined[i])
			str_addf(&ids, "%s%u", ids.len ? ", " : "", i);
	vec_foreach (const struct profile_stack, at, &facts->samples.stacks)
		if (stack_is_in(run, at->stack, joined))
			weight += at->cost.weight;
	return leaf_known((double)weight / (double)facts->samples.total.weight,
		share_sql(reader, facts,
			arena_format(reader->arena,
				"stack IN (SELECT c.stack FROM chains c JOIN stack k ON k.id = "
				"c.stack WHERE c.location = k.location AND c.function IN (%s))",
				str_text(&ids))));
}

/* ---- single numbers ---- */

static struct leaf kernel_leaf(struct leaf_reader *reader, const struct profile_facts *facts)
{
	const char *sql = share_sql(reader, facts, "flags & 2");

	if (event_is_user_only(facts->samples.name))
		return leaf_unknown(facts->kernel_reason, sql);
	return leaf_known((double)facts->kernel_weight / (double)facts->samples.total.weight, sql);
}

/* The CPU time that the samples stand for: known where they are of a clock and of both sides. */
static struct leaf cpu_leaf(struct leaf_reader *reader, const struct profile_facts *facts)
{
	const char *sql = arena_format(reader->arena,
		"(SELECT total(period) FROM sample WHERE event = %u)", facts->samples.event);

	if (!str_equal(facts->samples.unit, "ns"))
		return leaf_unknown("the samples are not of a clock", sql);
	if (event_is_user_only(facts->samples.name))
		return leaf_unknown(facts->kernel_reason, sql);
	return leaf_known((double)facts->samples.total.weight, sql);
}

/* The hottest named function of the user's side. */
static struct leaf top_leaf(struct leaf_reader *reader, const struct profile_facts *facts)
{
	const struct profile_options by_function = {.by = PROFILE_FUNCTION};
	profile_auto struct profile_view view = {0};
	const char *sql = arena_format(reader->arena,
		"(SELECT max(self_share) FROM top_functions WHERE event = %s AND function NOT "
		"IN ('[unknown]', '[no stack]') AND ifnull(module, '') <> '[kernel]')",
		leaf_literal(reader, facts->samples.name));
	struct err err = {0};

	if (profile_make(reader->run, &by_function, &view, &err) < 0)
		return leaf_unknown(arena_format(reader->arena, "%s", err.text), sql);
	vec_foreach (const struct profile_row, row, &view.rows)
		if (!(row->flags & (LABEL_UNNAMED | LABEL_KERNEL)))
			return leaf_known(row->self_share, sql);
	return leaf_unknown("no sample is in a named function", sql);
}

static struct leaf threads_leaf(
	struct leaf_reader *reader, const struct profile_facts *facts, bool most)
{
	double largest = 0;
	uint32_t busy = 0;

	for (uint32_t i = 0; i <= reader->run->threads.count; i++) {
		double share = (double)facts->samples.by_thread[i].weight /
			       (double)facts->samples.total.weight;

		largest = fmax(largest, share);
		busy += share >= BUSY_THREAD;
	}
	if (most)
		return leaf_known(
			largest, arena_format(reader->arena,
					 "(SELECT max(share) FROM top_threads WHERE event = %s)",
					 leaf_literal(reader, facts->samples.name)));
	return leaf_known(
		busy, arena_format(reader->arena,
			      "(SELECT count(*) FROM top_threads WHERE event = %s AND share >= %g)",
			      leaf_literal(reader, facts->samples.name), BUSY_THREAD));
}

/* Of all that should have been taken. */
static struct leaf lost_leaf(const struct leaf_reader *reader)
{
	static const char sql[] =
		"(SELECT 1.0 * lost / (lost + samples) FROM (SELECT (SELECT ifnull(max(value), 0) "
		"FROM quality_of_run WHERE name = 'lost_samples') AS lost, (SELECT count(*) FROM "
		"sample) AS samples))";
	uint64_t lost = 0;

	(void)run_get_quality(reader->run, "lost_samples", &lost);
	return leaf_known((double)lost / ((double)lost + (double)reader->run->samples.count), sql);
}

bool leaf_profile(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf)
{
	const struct profile_facts *facts;

	if (str_starts(name, "class."))
		return class_leaf(reader, name + 6, false, ret_leaf);
	if (str_starts(name, "leaf."))
		return class_leaf(reader, name + 5, true, ret_leaf);
	if (!str_starts(name, "profile.") && !str_starts(name, "join."))
		return false;
	facts = facts_of(reader);
	if (str_starts(name, "join.") && !*facts->reason) {
		*ret_leaf = join_leaf(reader, facts, name + 5);
		return true;
	}
	name += 8;
	if (*facts->reason)
		*ret_leaf = leaf_unknown(facts->reason, "NULL");
	else if (str_equal(name, "samples"))
		*ret_leaf = leaf_known((double)facts->samples.total.samples,
			arena_format(reader->arena,
				"(SELECT count(*) FROM sample WHERE event = %u)",
				facts->samples.event));
	else if (str_equal(name, "cpu_ns"))
		*ret_leaf = cpu_leaf(reader, facts);
	else if (str_equal(name, "kernel"))
		*ret_leaf = kernel_leaf(reader, facts);
	else if (str_equal(name, "top_function"))
		*ret_leaf = top_leaf(reader, facts);
	else if (str_equal(name, "top_thread"))
		*ret_leaf = threads_leaf(reader, facts, true);
	else if (str_equal(name, "busy_threads"))
		*ret_leaf = threads_leaf(reader, facts, false);
	else if (str_equal(name, "lost"))
		*ret_leaf = lost_leaf(reader);
	else
		return false;
	return true;
}
