/* sample_walk.c - mark what the samples use, number it, copy it.
 *
 * Rows of a run refer only to earlier rows, so one pass backwards marks everything that is reached
 * and one pass forwards numbers it: no recursion, however deep a chain is, and no hashing.  What a
 * function is called, label.h decides, as it does for the report: so both count alike.  After the
 * samples (48 bytes each) the call chains are the largest part: 16 bytes a step. */
#include "analyze/sample_walk.h"

#include <string.h>

#include "analyze/label.h"
#include "analyze/profile_filter.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run.h"

struct builder {
	const struct run *run;
	struct sample_walk *walk;
	struct label_book book;
	/* New numbers by row id (functions: by label); index 0 is "none". */
	uint32_t *stacks, *locations, *frames, *functions, *modules, *threads;
	uint32_t no_stack; /* node */
	uint32_t nowhere;  /* location of a stack that names none */
};

static uint32_t *numbers_new(uint32_t count)
{
	uint32_t *numbers = mem_new((size_t)count + 1, sizeof(*numbers));

	memset(numbers, 0xff, ((size_t)count + 1) * sizeof(*numbers));
	return numbers;
}

static void builder_init(struct builder *b, const struct run *run, struct sample_walk *walk)
{
	*b = (struct builder){
		.run = run, .walk = walk, .no_stack = WALK_NONE, .nowhere = WALK_NONE};
	label_book_init(&b->book, run, LABEL_FUNCTION);
	b->stacks = numbers_new(run->stacks.count);
	b->locations = numbers_new(run->locations.count);
	b->frames = numbers_new(run->frames.count);
	b->functions = numbers_new(b->book.labels.count);
	b->modules = numbers_new(run->modules.count);
	b->threads = numbers_new(run->threads.count);
}

static void builder_done(struct builder *b)
{
	label_book_done(&b->book);
	free(b->stacks);
	free(b->locations);
	free(b->frames);
	free(b->functions);
	free(b->modules);
	free(b->threads);
}

static void mark(uint32_t *numbers, row_id id)
{
	if (id)
		numbers[id] = 0;
}

static bool is_marked(const uint32_t *numbers, row_id id)
{
	return numbers[id] != WALK_NONE;
}

static void mark_used(struct builder *b)
{
	const struct run *run = b->run;

	for (row_id id = run->stacks.count; id; id--) {
		const struct stack_row *row = &run->stacks.at[id - 1];

		if (!is_marked(b->stacks, id))
			continue;
		mark(b->stacks, row->parent);
		mark(b->locations, row->location);
	}
	for (row_id id = run->locations.count; id; id--)
		if (is_marked(b->locations, id)) {
			mark(b->frames, run->locations.at[id - 1].frame);
			mark(b->modules, run->locations.at[id - 1].module);
		}
	for (row_id id = run->frames.count; id; id--) {
		const struct frame_row *row = &run->frames.at[id - 1];

		if (!is_marked(b->frames, id))
			continue;
		mark(b->frames, row->outer);
		if (row->function)
			mark(b->modules, run->functions.at[row->function - 1].module);
	}
}

static void copy_modules(struct builder *b)
{
	const struct run *run = b->run;

	for (row_id id = 1; id <= run->modules.count; id++) {
		const struct module_row *row = &run->modules.at[id - 1];
		const char *path = run_text(run, row->path);

		if (!is_marked(b->modules, id))
			continue;
		b->modules[id] = b->walk->modules.count;
		vec_push(&b->walk->modules, (struct walk_module){
						    .path = path,
						    .name = label_base(path),
						    .build_id = run_text(run, row->build_id),
						    .kernel = row->flags & MODULE_KERNEL,
						    .jit = row->flags & MODULE_JIT,
						    .low = UINT64_MAX,
					    });
	}
}

/* The function that a label stands for; `module` is the row it is in. */
static uint32_t function_number(struct builder *b, uint32_t label, row_id module)
{
	const struct label *from = &b->book.labels.at[label - 1];
	str_auto struct str name = {0};

	if (b->functions[label] != WALK_NONE)
		return b->functions[label];
	label_add_text(from, LABEL_FUNCTION, &name);
	b->functions[label] = b->walk->functions.count;
	vec_push(&b->walk->functions, (struct walk_function){
					      .name = arena_str(&b->walk->texts, &name),
					      .file = from->file,
					      .line = from->line,
					      .module = b->modules[module],
				      });
	return b->functions[label];
}

static uint32_t add_frame(struct builder *b, uint32_t function, uint32_t outer, row_id row)
{
	const struct frame_row *from =
		row ? &b->run->frames.at[row - 1] : &(const struct frame_row){0};

	vec_push(&b->walk->frames, (struct walk_frame){
					   .function = function,
					   .outer = outer,
					   .file = run_text(b->run, from->file),
					   .line = from->line,
				   });
	return b->walk->frames.count - 1;
}

/* Frames that have a name; those without belong to their location's module, see below. */
static void copy_frames(struct builder *b)
{
	const struct run *run = b->run;

	for (row_id id = 1; id <= run->frames.count; id++) {
		const struct frame_row *row = &run->frames.at[id - 1];
		const struct function_row *from;
		struct walk_function *function;
		uint32_t number;

		if (!b->book.of_frame[id])
			b->frames[id] = WALK_NONE;
		if (!is_marked(b->frames, id))
			continue;
		from = &run->functions.at[row->function - 1];
		number = function_number(b, b->book.of_frame[id], from->module);
		function = &b->walk->functions.at[number];
		if (!function->addr) {
			function->addr = from->addr;
			function->size_bytes = from->size_bytes;
		}
		b->frames[id] = add_frame(b, number, b->frames[row->outer], id);
	}
}

/* The innermost frame of a location.  Where one of its frames has no name, all of them are made
 * anew for this location, the outermost first. */
static uint32_t innermost_frame(struct builder *b, const struct location_row *location)
{
	row_id chain[LABEL_INLINES_MAX], frame = location->frame;
	uint32_t outer = WALK_NONE, depth = 0;
	bool named = true;

	do {
		chain[depth++] = frame;
		named &= b->book.of_frame[frame] != 0;
		frame = frame ? b->run->frames.at[frame - 1].outer : 0;
	} while (frame && depth < LABEL_INLINES_MAX);
	if (named)
		return b->frames[location->frame];
	while (depth) {
		uint32_t label = b->book.of_frame[chain[--depth]];
		row_id module = location->module;

		if (label) {
			row_id function = b->run->frames.at[chain[depth] - 1].function;

			module = b->run->functions.at[function - 1].module;
		}
		label = label ? label : b->book.of_module[module];
		outer = add_frame(b, function_number(b, label, module), outer, chain[depth]);
	}
	return outer;
}

static void copy_locations(struct builder *b)
{
	for (row_id id = 1; id <= b->run->locations.count; id++) {
		const struct location_row *row = &b->run->locations.at[id - 1];
		uint32_t module = b->modules[row->module];
		struct walk_module *m = module == WALK_NONE ? NULL : &b->walk->modules.at[module];

		if (!is_marked(b->locations, id))
			continue;
		b->locations[id] = b->walk->locations.count;
		if (m && row->addr < m->low)
			m->low = row->addr;
		if (m && row->addr > m->high)
			m->high = row->addr;
		vec_push(&b->walk->locations,
			(struct walk_location){
				.module = module,
				.frame = innermost_frame(b, row),
				.addr = row->addr,
				.kernel = row->flags & LOCATION_KERNEL || (m && m->kernel),
			});
	}
}

/* One node per function at the location, the outermost first; its number is the innermost's. */
static uint32_t add_nodes(struct sample_walk *walk, uint32_t parent, uint32_t location)
{
	uint32_t chain[LABEL_INLINES_MAX], depth = 0;

	for (uint32_t frame = walk->locations.at[location].frame;
		frame != WALK_NONE && depth < LABEL_INLINES_MAX;
		frame = walk->frames.at[frame].outer)
		chain[depth++] = frame;
	for (uint32_t i = 0; i < depth; i++) {
		vec_push(&walk->nodes,
			(struct walk_node){parent, location, chain[depth - 1 - i], i});
		parent = walk->nodes.count - 1;
	}
	return parent;
}

/* A stack without a location stands at an address that is in no module. */
static uint32_t location_number(struct builder *b, row_id id)
{
	uint32_t label = b->book.of_module[0];

	if (id)
		return b->locations[id];
	if (b->nowhere == WALK_NONE) {
		b->nowhere = b->walk->locations.count;
		vec_push(&b->walk->locations,
			(struct walk_location){.module = WALK_NONE,
				.frame = add_frame(b, function_number(b, label, 0), WALK_NONE, 0)});
	}
	return b->nowhere;
}

static void copy_stacks(struct builder *b)
{
	for (row_id id = 1; id <= b->run->stacks.count; id++) {
		const struct stack_row *row = &b->run->stacks.at[id - 1];

		if (is_marked(b->stacks, id))
			b->stacks[id] = add_nodes(
				b->walk, b->stacks[row->parent], location_number(b, row->location));
	}
}

/* The node of samples that have no stack. */
static uint32_t no_stack_node(struct builder *b)
{
	uint32_t frame;

	if (b->no_stack != WALK_NONE)
		return b->no_stack;
	frame = add_frame(b, function_number(b, LABEL_NO_STACK, 0), WALK_NONE, 0);
	vec_push(&b->walk->locations, (struct walk_location){.module = WALK_NONE, .frame = frame});
	b->no_stack = add_nodes(b->walk, WALK_NONE, b->walk->locations.count - 1);
	return b->no_stack;
}

static uint32_t thread_number(struct builder *b, row_id id)
{
	const struct thread_row *row =
		id ? &b->run->threads.at[id - 1] : &(const struct thread_row){0};

	if (b->threads[id] == WALK_NONE) {
		b->threads[id] = b->walk->threads.count;
		vec_push(&b->walk->threads,
			(struct walk_thread){row->pid, row->tid, run_text(b->run, row->name), 0});
	}
	return b->threads[id];
}

static void copy_samples(struct builder *b, const bool *taken)
{
	struct sample_walk *walk = b->walk;

	for (uint32_t i = 0; i < b->run->samples.count; i++) {
		const struct sample_row *row = &b->run->samples.at[i];
		uint64_t period = walk->weighted ? row->period : 1;
		uint32_t thread;

		if (!taken[i])
			continue;
		thread = thread_number(b, row->thread);
		walk->threads.at[thread].samples += run_sample_count(b->run, row);
		if (!walk->samples.count)
			walk->common_period = period;
		else if (period != walk->common_period)
			walk->common_period = 0;
		vec_push(&walk->samples,
			(struct walk_sample){
				.time_ns = row->time_ns,
				.samples = run_sample_count(b->run, row),
				.period = period,
				.node = row->stack ? b->stacks[row->stack] : no_stack_node(b),
				.thread = thread,
				.cpu = row->cpu,
				.truncated = row->flags & SAMPLE_TRUNCATED,
				.broken = row->flags & SAMPLE_BROKEN,
			});
	}
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_time(const void *a, const void *b)
{
	const struct walk_sample *x = a, *y = b;
	int order = compare_u64(x->time_ns, y->time_ns);

	return order ? order : compare_u64(x->thread, y->thread);
}

static int by_thread(const void *a, const void *b)
{
	const struct walk_sample *x = a, *y = b;
	int order = compare_u64(x->thread, y->thread);

	return order ? order : compare_u64(x->time_ns, y->time_ns);
}

static int by_chain(const void *a, const void *b)
{
	const struct walk_sample *x = a, *y = b;
	int order = compare_u64(x->thread, y->thread);

	if (!order)
		order = compare_u64(x->node, y->node);
	return order ? order : compare_u64(x->time_ns, y->time_ns);
}

static void merge_equal(struct sample_walk *walk)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < walk->samples.count; i++) {
		const struct walk_sample *sample = &walk->samples.at[i];
		struct walk_sample *last = kept ? &walk->samples.at[kept - 1] : NULL;

		if (!last || last->thread != sample->thread || last->node != sample->node) {
			walk->samples.at[kept++] = *sample;
			continue;
		}
		last->samples += sample->samples;
		last->period += sample->period;
		last->truncated |= sample->truncated;
		last->broken |= sample->broken;
	}
	walk->samples.count = kept;
}

static void put_in_order(struct sample_walk *walk, enum walk_order order)
{
	int (*const compare[])(const void *, const void *) = {by_time, by_thread, by_chain};

	vec_sort(&walk->samples, compare[order]);
	if (order == WALK_MERGED)
		merge_equal(walk);
}

static void walk_describe(
	const struct run *run, const struct profile_samples *samples, struct sample_walk *walk)
{
	*walk = (struct sample_walk){
		.event = samples->name,
		.event_row = samples->event,
		.unit = samples->unit,
		.weighted = samples->weighted,
		.merged = samples->merged,
		.period_is_ns = str_equal(samples->unit, "ns"),
		.target = run_text(run, run->target),
		.started_ns = run->started_ns,
		.total_samples = samples->total.samples,
		.total_period = samples->total.weight,
		.first_ns = samples->first_ns,
		.last_ns = samples->last_ns,
	};
}

int sample_walk_make(const struct run *run, const struct profile_filter *filter,
	enum walk_order order, struct sample_walk *ret_walk, struct err *err)
{
	mem_auto bool *taken = mem_new((size_t)run->samples.count + 1, sizeof(*taken));
	profile_samples_auto struct profile_samples samples = {0};
	struct builder b;
	int r = profile_samples_take(run, filter, &samples, err);

	if (r >= 0)
		r = profile_filter_mark(run, filter, taken, err);
	if (r < 0)
		return r;
	walk_describe(run, &samples, ret_walk);
	builder_init(&b, run, ret_walk);
	for (uint32_t i = 0; i < run->samples.count; i++)
		if (taken[i])
			mark(b.stacks, run->samples.at[i].stack);
	mark_used(&b);
	copy_modules(&b);
	copy_frames(&b);
	copy_locations(&b);
	copy_stacks(&b);
	copy_samples(&b, taken);
	builder_done(&b);
	put_in_order(ret_walk, order);
	return 0;
}

void sample_walk_done(struct sample_walk *walk)
{
	vec_done(&walk->modules);
	vec_done(&walk->functions);
	vec_done(&walk->frames);
	vec_done(&walk->locations);
	vec_done(&walk->nodes);
	vec_done(&walk->threads);
	vec_done(&walk->samples);
	arena_done(&walk->texts);
}

void sample_walk_chain(const struct sample_walk *walk, uint32_t node, struct walk_chain *chain)
{
	uint32_t low = 0;

	chain->nodes.count = 0;
	for (; node != WALK_NONE; node = walk->nodes.at[node].parent)
		vec_push(&chain->nodes, node);
	for (uint32_t high = chain->nodes.count; low + 1 < high; low++, high--) {
		uint32_t swap = chain->nodes.at[low];

		chain->nodes.at[low] = chain->nodes.at[high - 1];
		chain->nodes.at[high - 1] = swap;
	}
}

void walk_chain_done(struct walk_chain *chain)
{
	vec_done(&chain->nodes);
}

const struct walk_module *sample_walk_module(const struct sample_walk *walk, uint32_t node)
{
	uint32_t module = walk->locations.at[walk->nodes.at[node].location].module;

	return module == WALK_NONE ? NULL : &walk->modules.at[module];
}

uint64_t sample_walk_others(const struct run *run, uint32_t event)
{
	uint64_t others = 0;

	vec_foreach (const struct sample_row, sample, &run->samples)
		others += sample->event != event ? run_sample_count(run, sample) : 0;
	return others;
}
