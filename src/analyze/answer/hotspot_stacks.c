/* hotspot_stacks.c - who of the program's own code is on each stack, and what was it doing?
 *
 * The stacks are walked once each, however many samples they have.  From the innermost frame
 * outwards: what stands before the first frame of the program's own code (an allocator, a page
 * fault, a system call) is the category.  Own code that only passes a call on to an allocator, a
 * lock or a container is left out, so that its caller is meant.  Without debug information nothing
 * has a file: then the functions of a program, not of a library, are its own code.
 *
 * A call at the end of a function is often a jump (a tail call), and the stack lacks the frame of
 * the function that jumped.  The call that its caller made names it: it is put in again. */
#include "hotspot_stacks.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/algorithm.h"
#include "analyze/function_class.h"
#include "analyze/hot_code.h"
#include "base/mem.h"
#include "base/str.h"
#include "hotspot_parts.h"
#include "model/run.h"
#include "own_code.h"

enum { FRAMES_MOST = 512 };

/* A frame of a stack, of whomever. */
struct seen_frame {
	uint32_t function, line; /* labels; line 0: unknown */
	enum own_loop loop;
	uint32_t site; /* equal for what was inlined into each other */
};

static enum function_class class_of(struct own_stacks *s, uint32_t label)
{
	const struct label *l = own_label(s, label);

	if (!s->class_of[label])
		s->class_of[label] = (uint8_t)(1 + function_class_of(s->classes, l->name,
							   l->flags & LABEL_KERNEL));
	return (enum function_class)(s->class_of[label] - 1);
}

static bool gives_back(struct own_stacks *s, uint32_t label)
{
	if (!s->gives_back_of[label])
		s->gives_back_of[label] =
			1 + function_gives_back(s->classes, own_label(s, label)->name);
	return s->gives_back_of[label] == 2;
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
	case FUNCTION_WRAPPER:
	case FUNCTION_RELEASE:
	case FUNCTION_INTERRUPT:
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

static bool is_own(const struct own_stacks *s, const struct seen_frame *frame)
{
	const struct label *function = own_label(s, frame->function);

	return own_code_has(
		function, frame->line ? s->lines.labels.at[frame->line - 1].file : function->file);
}

/* Own code whose name says that it stands for something else: its caller is meant. */
static bool is_wrapper(struct own_stacks *s, uint32_t function)
{
	enum function_class class = class_of(s, function);

	return str_ends(own_label(s, function)->name, "@plt") || class == FUNCTION_WRAPPER ||
	       class == FUNCTION_ALLOCATOR || class == FUNCTION_LOCK || class == FUNCTION_SPIN ||
	       class == FUNCTION_COPY;
}

/* ---- all frames of a stack ---- */

/* The function that really stands at a location. */
static row_id function_at(const struct run *run, row_id location)
{
	row_id frame = location ? run->locations.at[location - 1].frame : 0;

	while (frame && run->frames.at[frame - 1].outer)
		frame = run->frames.at[frame - 1].outer;
	return frame ? run->frames.at[frame - 1].function : 0;
}

/* The function that `caller` called and that jumped on to the one at `location`; 0: none did. */
static row_id jumped_on(const struct own_stacks *s, row_id location, row_id caller)
{
	const struct run *run = s->run;
	row_id named = s->code && caller < s->code->count ? s->code->callee[caller] : 0;
	row_id there = function_at(run, location);

	if (!named || !there || named == there || !s->label_of[named] ||
		str_ends(run_text(run, run->functions.at[named - 1].name), "@plt") ||
		label_same_function(run_text(run, run->functions.at[named - 1].name),
			run_text(run, run->functions.at[there - 1].name)))
		return 0;
	return named;
}

static enum own_loop loop_at(const struct own_stacks *s, row_id location, unsigned frame)
{
	uint32_t loops = s->code && location < s->code->count ? s->code->loops[location] : 0;

	if (!(loops & HOT_CODE_KNOWN) || frame >= HOT_CODE_FRAMES)
		return OWN_LOOP_UNKNOWN;
	return loops >> frame & 1 ? OWN_LOOP_YES : OWN_LOOP_NO;
}

/* Frames of a stack, innermost first. */
static unsigned stack_frames(const struct own_stacks *s, row_id stack, struct seen_frame *frames)
{
	uint32_t functions[LABEL_INLINES_MAX], lines[LABEL_INLINES_MAX];
	row_id inner = 0;
	unsigned count = 0;

	while (stack && count + LABEL_INLINES_MAX < FRAMES_MOST) {
		const struct stack_row *row = &s->run->stacks.at[stack - 1];
		unsigned n = label_book_at(&s->functions, row->location, functions);
		row_id jumped = count ? jumped_on(s, inner, row->location) : 0;

		if (label_book_at(&s->lines, row->location, lines) != n)
			break; /* both books see the same frames; never true */
		if (jumped)
			frames[count++] =
				(struct seen_frame){s->label_of[jumped], 0, OWN_LOOP_NO, 0};
		for (unsigned i = 0; i < n; i++)
			frames[count++] = (struct seen_frame){
				functions[i], lines[i], loop_at(s, row->location, i), stack};
		inner = row->location;
		stack = row->parent;
	}
	return count;
}

/* The own frame among `count`, innermost first.  Own code without a name (the program is stripped)
 * is called after its next caller of the same file that has one; where there is none, what it calls
 * is: the innermost function that has a name.  Where nothing has, it stays without. */
static unsigned own_first(
	const struct own_stacks *s, const struct seen_frame *frames, unsigned count)
{
	unsigned known = UINT_MAX, nameless = UINT_MAX;

	for (unsigned i = 0; i < count; i++) {
		const struct label *function = own_label(s, frames[i].function);
		bool named = !(function->flags & (LABEL_KERNEL | LABEL_UNNAMED));
		const char *module =
			nameless < count ? own_label(s, frames[nameless].function)->module : "";

		if (is_own(s, &frames[i]) && (!*module || str_equal(module, function->module)))
			return i;
		if (!named && own_code_is_in_program(function) && nameless == UINT_MAX)
			nameless = i;
		if (named && known == UINT_MAX && nameless == UINT_MAX)
			known = i;
	}
	return known < count ? known : nameless < count ? nameless : 0;
}

/* Frame `i` from `from` on that is own code and no wrapper; `count`: there is none. */
static unsigned own_next(
	struct own_stacks *s, const struct seen_frame *frames, unsigned count, unsigned from)
{
	while (from < count && (!is_own(s, &frames[from]) || is_wrapper(s, frames[from].function)))
		from++;
	return from;
}

/* An interrupt came in between: what the kernel did then is not what the program asked for. */
static bool is_interrupted(struct own_stacks *s, const struct seen_frame *frames, unsigned inside)
{
	for (unsigned i = 0; i < inside; i++)
		if (own_label(s, frames[i].function)->flags & LABEL_KERNEL &&
			class_of(s, frames[i].function) == FUNCTION_INTERRUPT)
			return true;
	return false;
}

/* What the frames inside the own code's were doing. */
static enum hotspot_category stack_category(
	struct own_stacks *s, const struct seen_frame *frames, unsigned inside)
{
	bool interrupted = is_interrupted(s, frames, inside);
	enum hotspot_category category = HOTSPOT_CPU;

	for (unsigned i = 0; i < inside; i++) {
		enum hotspot_category c = category_of(class_of(s, frames[i].function));

		if (interrupted && own_label(s, frames[i].function)->flags & LABEL_KERNEL)
			continue;
		if (strength(c) > strength(category))
			category = c;
	}
	if (category == HOTSPOT_CPU && inside && !interrupted &&
		own_label(s, frames[0].function)->flags & LABEL_KERNEL)
		category = HOTSPOT_SYSCALL; /* in the kernel, without a known name on the way */
	return category;
}

/* Whether the work at own frame `at` is done in a loop of it.  Code of others between it and the
 * next own frame further in counts as its own: a sort that calls back; so does what was inlined
 * into it.  What a library does by itself at the end of the stack does not: it is one call.  One
 * that calls back and cannot be read is taken for a loop: that is what they call back for. */
static enum own_loop own_loop_at(
	const struct own_stacks *s, const struct seen_frame *frames, unsigned inner, unsigned at)
{
	enum own_loop loop = frames[at].loop;

	for (unsigned i = inner; i < at && loop != OWN_LOOP_YES; i++) {
		const struct label *function = own_label(s, frames[i].function);

		if (function->flags & (LABEL_KERNEL | LABEL_UNNAMED) || is_own(s, &frames[i]))
			continue;
		if (inner == 0 && frames[i].site != frames[at].site)
			continue;
		if (frames[i].loop == OWN_LOOP_YES ||
			(frames[i].loop == OWN_LOOP_UNKNOWN && own_code_is_of_library(function)))
			loop = OWN_LOOP_YES;
	}
	return loop;
}

/* The outermost frame of a language's collector or scheduler; `count`: there is none.  What it
 * calls is its own business: a lock that it takes is no lock of the program. */
static unsigned runtime_frame(struct own_stacks *s, const struct seen_frame *frames, unsigned count)
{
	for (unsigned i = count; i-- > 0;) {
		enum function_class class = class_of(s, frames[i].function);

		if (!(own_label(s, frames[i].function)->flags & LABEL_KERNEL) &&
			(class == FUNCTION_COLLECTOR || class == FUNCTION_SCHED))
			return i;
	}
	return count;
}

/* Memory is given back: what is not taken need not be. */
static bool is_release(struct own_stacks *s, const struct seen_frame *frames, unsigned inside)
{
	for (unsigned i = 0; i < inside; i++)
		if (gives_back(s, frames[i].function))
			return true;
	return false;
}

static void stack_take(struct own_stacks *s, const struct profile_stack *at)
{
	struct seen_frame frames[FRAMES_MOST];
	unsigned count = stack_frames(s, at->stack, frames), own, first, inner = 0, runtime;
	struct own_stack stack = {.at = *at, .first = s->frames.count};

	if (!count)
		return;
	own = own_first(s, frames, count);
	first = is_own(s, &frames[own]) ? own_next(s, frames, count, own) : count;
	runtime = is_own(s, &frames[own]) ? count : runtime_frame(s, frames, count);
	stack.is_runtime = runtime < count;
	if (stack.is_runtime)
		own = runtime;
	if (first == count) { /* nobody's, or a program that is nothing but wrappers */
		first = own;
		vec_push(&s->frames, (struct own_frame){frames[own].function, frames[own].line,
					     (uint8_t)frames[own].loop});
	} else {
		for (unsigned i = first; i < count; i = own_next(s, frames, count, i + 1)) {
			vec_push(&s->frames, (struct own_frame){frames[i].function, frames[i].line,
						     (uint8_t)own_loop_at(s, frames, inner, i)});
			inner = i + 1;
		}
	}
	stack.count = s->frames.count - stack.first;
	stack.is_release = is_release(s, frames, first);
	stack.category = stack.is_runtime
				 ? category_of(class_of(s, frames[runtime].function))
				 : stack_category(s, frames, first + !is_own(s, &frames[first]));
	vec_push(&s->stacks, stack);
}

/* ---- all stacks ---- */

static void labels_measure(struct own_stacks *s)
{
	const struct run *run = s->run;

	s->size_of = mem_new((size_t)s->functions.labels.count + 1, sizeof(*s->size_of));
	s->label_of = mem_new((size_t)run->functions.count + 1, sizeof(*s->label_of));
	for (uint32_t i = 1; i <= run->frames.count; i++) {
		row_id function = run->frames.at[i - 1].function;
		uint32_t label = s->functions.of_frame[i];
		uint64_t size = function ? run->functions.at[function - 1].size_bytes : 0;

		if (function && label)
			s->label_of[function] = label;
		if (label && !run->frames.at[i - 1].outer && size > s->size_of[label])
			s->size_of[label] = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	}
}

/* What was counted of one function: a part of a run or a smaller input will do. */
static void counted_take(struct own_stacks *s, const struct algorithm_view *view, uint32_t label)
{
	const struct algorithm_function *counted = algorithm_find(view, own_label(s, label)->name);
	double trips = 0;

	s->least_of[label] = algorithm_calls_least(view, own_label(s, label)->name);
	if (!counted || !counted->calls)
		return;
	for (uint32_t k = 0; k < counted->loop_count; k++)
		trips += (double)counted->loops[k].trips;
	s->calls_of[label] = (double)counted->calls;
	s->trips_of[label] = trips / (double)counted->calls;
}

static void counts_take(struct own_stacks *s, const struct algorithm_view *view)
{
	size_t count = (size_t)s->functions.labels.count + 1;
	mem_auto bool *known = mem_new(count, sizeof(*known));

	s->trips_of = mem_new(count, sizeof(*s->trips_of));
	s->calls_of = mem_new(count, sizeof(*s->calls_of));
	s->least_of = mem_new(count, sizeof(*s->least_of));
	for (size_t i = 0; i < count; i++)
		s->trips_of[i] = s->calls_of[i] = (double)NAN;
	vec_foreach (const struct own_frame, frame, &s->frames) {
		if (known[frame->function] || !view || view->is_start_only)
			continue;
		known[frame->function] = true;
		counted_take(s, view, frame->function);
	}
}

bool own_stacks_take(
	const struct run *run, const struct hotspot_look *look, struct own_stacks *ret_stacks)
{
	struct own_stacks s = {.run = run, .code = look->code};
	struct err err = {0};

	if (!run || profile_samples_take(run, &(struct profile_filter){0}, &s.samples, &err) < 0)
		return false;
	label_book_init(&s.functions, run, LABEL_FUNCTION);
	label_book_init(&s.lines, run, LABEL_LINE);
	s.classes = function_book_open();
	s.class_of = mem_new((size_t)s.functions.labels.count + 1, 1);
	s.gives_back_of = mem_new((size_t)s.functions.labels.count + 1, 1);
	labels_measure(&s);
	vec_foreach (const struct profile_stack, at, &s.samples.stacks)
		stack_take(&s, at);
	counts_take(&s, look->algorithm);
	*ret_stacks = s;
	return true;
}

void own_stacks_done(struct own_stacks *stacks)
{
	vec_done(&stacks->frames);
	vec_done(&stacks->stacks);
	free(stacks->class_of);
	free(stacks->gives_back_of);
	free(stacks->size_of);
	free(stacks->label_of);
	free(stacks->trips_of);
	free(stacks->calls_of);
	free(stacks->least_of);
	function_book_close(stacks->classes);
	label_book_done(&stacks->functions);
	label_book_done(&stacks->lines);
	profile_samples_done(&stacks->samples);
}
