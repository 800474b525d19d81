/* sample_walk.c - mark what the samples use, number it, copy it.
 *
 * Rows of a run refer only to earlier rows, so one pass backwards marks everything that is reached
 * and one pass forwards numbers it: no recursion, however deep a chain is, and no hashing.  After
 * the samples (40 bytes each) the call chains are the largest part: 12 bytes a step. */
#include "analyze/sample_walk.h"

#include <string.h>

#include "base/str.h"
#include "model/run.h"

/* A chain of inlined functions longer than this is a broken file; its outermost part is kept. */
enum { INLINE_DEPTH_MOST = 1000 };

/* New numbers by row id; index 0 is "none". */
struct numbering {
	uint32_t *stacks, *locations, *frames, *functions, *modules, *threads;
	uint32_t *unnamed; /* the frame of what has no name, by module */
	uint32_t no_stack; /* node */
};

static uint32_t *numbers_new(uint32_t count)
{
	uint32_t *numbers = mem_new((size_t)count + 1, sizeof(*numbers));

	memset(numbers, 0xff, ((size_t)count + 1) * sizeof(*numbers));
	return numbers;
}

static void numbering_init(struct numbering *n, const struct run *run)
{
	n->stacks = numbers_new(run->stacks.count);
	n->locations = numbers_new(run->locations.count);
	n->frames = numbers_new(run->frames.count);
	n->functions = numbers_new(run->functions.count);
	n->modules = numbers_new(run->modules.count);
	n->threads = numbers_new(run->threads.count);
	n->unnamed = numbers_new(run->modules.count);
	n->no_stack = WALK_NONE;
}

static void numbering_done(struct numbering *n)
{
	free(n->stacks);
	free(n->locations);
	free(n->frames);
	free(n->functions);
	free(n->modules);
	free(n->threads);
	free(n->unnamed);
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

static void mark_used(const struct run *run, struct numbering *n)
{
	for (row_id id = run->stacks.count; id; id--) {
		const struct stack_row *row = &run->stacks.at[id - 1];

		if (!is_marked(n->stacks, id))
			continue;
		mark(n->stacks, row->parent);
		mark(n->locations, row->location);
	}
	for (row_id id = run->locations.count; id; id--)
		if (is_marked(n->locations, id)) {
			mark(n->frames, run->locations.at[id - 1].frame);
			mark(n->modules, run->locations.at[id - 1].module);
		}
	for (row_id id = run->frames.count; id; id--)
		if (is_marked(n->frames, id)) {
			mark(n->frames, run->frames.at[id - 1].outer);
			mark(n->functions, run->frames.at[id - 1].function);
		}
	for (row_id id = run->functions.count; id; id--)
		if (is_marked(n->functions, id))
			mark(n->modules, run->functions.at[id - 1].module);
}

static void copy_modules(const struct run *run, struct numbering *n, struct sample_walk *walk)
{
	for (row_id id = 1; id <= run->modules.count; id++) {
		const struct module_row *row = &run->modules.at[id - 1];
		const char *path = run_text(run, row->path), *slash = strrchr(path, '/');

		if (!is_marked(n->modules, id))
			continue;
		n->modules[id] = walk->modules.count;
		vec_push(&walk->modules, (struct walk_module){
						 .path = path,
						 .name = slash && slash[1] ? slash + 1 : path,
						 .build_id = run_text(run, row->build_id),
						 .kernel = row->flags & MODULE_KERNEL,
						 .jit = row->flags & MODULE_JIT,
						 .low = UINT64_MAX,
					 });
	}
}

static void copy_functions(const struct run *run, struct numbering *n, struct sample_walk *walk)
{
	for (row_id id = 1; id <= run->functions.count; id++) {
		const struct function_row *row = &run->functions.at[id - 1];

		if (!is_marked(n->functions, id))
			continue;
		n->functions[id] = walk->functions.count;
		vec_push(&walk->functions, (struct walk_function){
						   .name = run_text(run, row->name),
						   .file = run_text(run, row->file),
						   .line = row->line,
						   .module = n->modules[row->module],
						   .addr = row->addr,
						   .size_bytes = row->size_bytes,
					   });
	}
}

static uint32_t add_function(struct sample_walk *walk, const char *name, uint32_t module)
{
	vec_push(&walk->functions,
		(struct walk_function){.name = name, .file = "", .module = module});
	vec_push(&walk->frames, (struct walk_frame){.function = walk->functions.count - 1,
					.outer = WALK_NONE,
					.file = ""});
	return walk->frames.count - 1;
}

static uint32_t unnamed_frame(struct numbering *n, struct sample_walk *walk, row_id module)
{
	if (n->unnamed[module] == WALK_NONE)
		n->unnamed[module] = add_function(walk, "[unknown]", n->modules[module]);
	return n->unnamed[module];
}

static void copy_frames(const struct run *run, struct numbering *n, struct sample_walk *walk)
{
	for (row_id id = 1; id <= run->frames.count; id++) {
		const struct frame_row *row = &run->frames.at[id - 1];

		if (!is_marked(n->frames, id))
			continue;
		n->frames[id] = walk->frames.count;
		vec_push(&walk->frames, (struct walk_frame){
						.function = n->functions[row->function],
						.outer = n->frames[row->outer],
						.file = run_text(run, row->file),
						.line = row->line,
					});
	}
}

static void copy_locations(const struct run *run, struct numbering *n, struct sample_walk *walk)
{
	for (row_id id = 1; id <= run->locations.count; id++) {
		const struct location_row *row = &run->locations.at[id - 1];
		uint32_t module = n->modules[row->module];
		struct walk_module *m =
			module == WALK_NONE ? NULL : &walk->modules.at[module];

		if (!is_marked(n->locations, id))
			continue;
		n->locations[id] = walk->locations.count;
		if (m && row->addr < m->low)
			m->low = row->addr;
		if (m && row->addr > m->high)
			m->high = row->addr;
		vec_push(&walk->locations,
			(struct walk_location){
				.module = module,
				.frame = row->frame ? n->frames[row->frame]
						    : unnamed_frame(n, walk, row->module),
				.addr = row->addr,
				.kernel = row->flags & LOCATION_KERNEL || (m && m->kernel),
			});
	}
}

/* One node per function at the location, the outermost first. */
static uint32_t add_nodes(struct sample_walk *walk, uint32_t parent, uint32_t location)
{
	uint32_t chain[INLINE_DEPTH_MOST], depth = 0;

	for (uint32_t frame = walk->locations.at[location].frame; frame != WALK_NONE;
		frame = walk->frames.at[frame].outer)
		chain[depth++ % INLINE_DEPTH_MOST] = frame;
	for (uint32_t left = depth < INLINE_DEPTH_MOST ? depth : INLINE_DEPTH_MOST; left; left--) {
		vec_push(&walk->nodes,
			(struct walk_node){parent, location, chain[--depth % INLINE_DEPTH_MOST]});
		parent = walk->nodes.count - 1;
	}
	return parent;
}

static void copy_stacks(const struct run *run, struct numbering *n, struct sample_walk *walk)
{
	for (row_id id = 1; id <= run->stacks.count; id++) {
		const struct stack_row *row = &run->stacks.at[id - 1];

		if (is_marked(n->stacks, id))
			n->stacks[id] = add_nodes(
				walk, n->stacks[row->parent], n->locations[row->location]);
	}
}

/* The node of samples that have no stack. */
static uint32_t no_stack_node(struct numbering *n, struct sample_walk *walk)
{
	if (n->no_stack == WALK_NONE) {
		vec_push(&walk->locations,
			(struct walk_location){.module = WALK_NONE,
				.frame = add_function(walk, "[no stack]", WALK_NONE)});
		n->no_stack = add_nodes(walk, WALK_NONE, walk->locations.count - 1);
	}
	return n->no_stack;
}

static uint32_t thread_number(
	const struct run *run, struct numbering *n, struct sample_walk *walk, row_id id)
{
	const struct thread_row *row = id ? &run->threads.at[id - 1] : NULL;

	if (n->threads[id] == WALK_NONE) {
		n->threads[id] = walk->threads.count;
		vec_push(&walk->threads,
			(struct walk_thread){row ? row->pid : 0, row ? row->tid : 0,
				row ? run_text(run, row->name) : "", 0});
	}
	return n->threads[id];
}

static void copy_samples(const struct run *run, struct numbering *n, struct sample_walk *walk,
	const struct profile_filter *filter)
{
	vec_foreach (const struct sample_row, row, &run->samples) {
		uint32_t thread;

		if (!profile_filter_takes(filter, run, row))
			continue;
		thread = thread_number(run, n, walk, row->thread);
		walk->threads.at[thread].samples++;
		if (!walk->total_samples || row->time_ns < walk->first_ns)
			walk->first_ns = row->time_ns;
		if (row->time_ns > walk->last_ns)
			walk->last_ns = row->time_ns;
		if (!walk->total_samples)
			walk->common_period = row->period;
		else if (row->period != walk->common_period)
			walk->common_period = 0;
		walk->total_samples++;
		walk->total_period += row->period;
		vec_push(&walk->samples,
			(struct walk_sample){
				.time_ns = row->time_ns,
				.samples = 1,
				.period = row->period,
				.node = row->stack ? n->stacks[row->stack] : no_stack_node(n, walk),
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

	if (walk->samples.count)
		qsort(walk->samples.at, walk->samples.count, sizeof(*walk->samples.at),
			compare[order]);
	if (order == WALK_MERGED)
		merge_equal(walk);
}

void sample_walk_make(const struct run *run, const struct profile_filter *filter,
	enum walk_order order, struct sample_walk *ret_walk)
{
	const struct event_row *event =
		filter->event ? &run->events.at[filter->event - 1] : NULL;
	struct sample_walk walk = {
		.event = event ? run_text(run, event->name) : "",
		.unit = event ? run_text(run, event->unit) : "",
		.target = run_text(run, run->target),
		.started_ns = run->started_ns,
	};
	struct numbering n;

	walk.period_is_ns = str_equal(walk.unit, "ns");
	numbering_init(&n, run);
	vec_foreach (const struct sample_row, row, &run->samples)
		if (profile_filter_takes(filter, run, row))
			mark(n.stacks, row->stack);
	mark_used(run, &n);
	copy_modules(run, &n, &walk);
	copy_functions(run, &n, &walk);
	copy_frames(run, &n, &walk);
	copy_locations(run, &n, &walk);
	copy_stacks(run, &n, &walk);
	copy_samples(run, &n, &walk, filter);
	numbering_done(&n);
	put_in_order(&walk, order);
	*ret_walk = walk;
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

bool sample_walk_is_inlined(const struct sample_walk *walk, uint32_t node)
{
	return walk->frames.at[walk->nodes.at[node].frame].outer != WALK_NONE;
}
