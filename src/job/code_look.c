/* code_look.c - see code_look.h.
 *
 * Only functions that are on the stacks of LEAST of the samples are read, hottest modules' files
 * once each.  What cannot be read (a file that is gone, JIT code, the kernel) stays unknown. */
#include "job/code_look.h"

#include <stdlib.h>

#include "analyze/hot_code.h"
#include "analyze/profile_filter.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "code/loops.h"
#include "model/run.h"

#define LEAST 0.005 /* of the samples */
enum { FUNCTIONS_MOST = 400, OWNERS_MOST = HOT_CODE_FRAMES };

struct code_look {
	const struct run *run;
	row_id *function_of; /* by location: the function that really stands there */
	uint64_t *weight;    /* by function row: samples with it on the stack */
	uint32_t *loops;     /* see hot_code.h */
	uint32_t *callee;
	struct map by_addr; /* module and address to function row */
	struct loop_reader *reader;
	row_id module; /* that the reader has open */
	bool is_open;
};

static void functions_find(struct code_look *look)
{
	const struct run *run = look->run;

	for (uint32_t i = 1; i <= run->locations.count; i++) {
		row_id frame = run->locations.at[i - 1].frame;

		while (frame && run->frames.at[frame - 1].outer)
			frame = run->frames.at[frame - 1].outer;
		look->function_of[i] = frame ? run->frames.at[frame - 1].function : 0;
	}
	for (uint32_t i = 1; i <= run->functions.count; i++) {
		const struct function_row *function = &run->functions.at[i - 1];
		uint64_t key[2] = {function->module, function->addr};

		if (function->addr && function->size_bytes)
			map_put(&look->by_addr, key, sizeof(key), i);
	}
}

static void functions_weigh(struct code_look *look, const struct profile_samples *samples)
{
	const struct run *run = look->run;

	vec_foreach (const struct profile_stack, at, &samples->stacks)
		for (row_id s = at->stack; s; s = run->stacks.at[s - 1].parent)
			look->weight[look->function_of[run->stacks.at[s - 1].location]] +=
				at->cost.weight; /* recursion counts more: it only opens the door */
}

static struct loop_reader *reader_of(struct code_look *look, row_id module)
{
	const struct module_row *row = module ? &look->run->modules.at[module - 1] : NULL;

	if (look->is_open && look->module == module)
		return look->reader;
	loop_reader_close(look->reader);
	look->reader = NULL;
	look->is_open = true;
	look->module = module;
	if (row && !(row->flags & (MODULE_KERNEL | MODULE_JIT)))
		look->reader = loop_reader_open(
			run_text(look->run, row->path), run_text(look->run, row->build_id));
	return look->reader;
}

/* Bit of the frame that owns the loop: the innermost one at the location that the loop is in too.
 */
static uint32_t owner_bit(
	const struct code_look *look, row_id location, const char *const *owners, unsigned count)
{
	const char *names[OWNERS_MOST];
	row_id frame = look->run->locations.at[location - 1].frame;
	unsigned n = 0, common = 0;

	for (; frame && n < OWNERS_MOST; frame = look->run->frames.at[frame - 1].outer) {
		row_id function = look->run->frames.at[frame - 1].function;

		names[n++] =
			function ? run_text(look->run, look->run->functions.at[function - 1].name)
				 : "";
	}
	if (frame || !n)
		return 0;
	while (common < n && common < count && str_equal(names[n - 1 - common], owners[common]))
		common++;
	return 1u << (n - (common ? common : 1)); /* no names: the function itself */
}

static void location_look(struct code_look *look, const struct loops *loops, row_id location)
{
	uint64_t addr = look->run->locations.at[location - 1].addr;
	const struct instruction *at = loops_instruction(loops, addr);
	uint32_t loop = at ? loops->innermost[at - loops->instructions] : 0;

	if (!at)
		return;
	look->loops[location] |= HOT_CODE_KNOWN;
	for (; loop; loop = loops->at[loop - 1].outer) {
		const char *owners[OWNERS_MOST];
		unsigned count =
			loop_reader_owners(look->reader, &loops->at[loop - 1], owners, OWNERS_MOST);

		look->loops[location] |= owner_bit(look, location, owners, count);
	}
	if (at->kind == INSTRUCTION_CALL && at->has_target) {
		uint64_t key[2] = {look->module, at->target};

		(void)map_get(&look->by_addr, key, sizeof(key), &look->callee[location]);
	}
}

struct code_spot {
	row_id module, function, location;
};

static int by_function(const void *a, const void *b)
{
	const struct code_spot *x = a, *y = b;

	return x->module != y->module ? (x->module < y->module ? -1 : 1)
				      : (x->function > y->function) - (x->function < y->function);
}

/* Locations by their function, functions by their module, so that each is read once. */
static void locations_look(struct code_look *look, uint64_t least)
{
	const struct run *run = look->run;
	vec_of(struct code_spot) order = {0};
	uint32_t functions = 0;

	for (uint32_t i = 1; i <= run->locations.count; i++) {
		row_id f = look->function_of[i];

		if (f && look->weight[f] >= least && run->functions.at[f - 1].size_bytes)
			vec_push(&order, (struct code_spot){run->functions.at[f - 1].module, f, i});
	}
	vec_sort(&order, by_function);
	for (uint32_t i = 0; i < order.count && functions < FUNCTIONS_MOST; functions++) {
		const struct function_row *function = &run->functions.at[order.at[i].function - 1];
		row_id row = order.at[i].function;
		arena_auto struct arena arena = {0};
		struct loops loops;
		struct loop_reader *reader = reader_of(look, function->module);
		bool known = reader && loop_reader_look(reader, function->addr,
					       function->size_bytes, &arena, &loops);

		for (; i < order.count && order.at[i].function == row; i++)
			if (known)
				location_look(look, &loops, order.at[i].location);
	}
	vec_done(&order);
}

const struct hot_code *code_look_take(const struct run *profile, struct arena *arena)
{
	struct code_look look = {.run = profile};
	struct profile_samples samples;
	struct hot_code *code;
	struct err ignored = {0};
	size_t count;

	if (!profile ||
		profile_samples_take(profile, &(struct profile_filter){0}, &samples, &ignored) < 0)
		return NULL;
	count = (size_t)profile->locations.count + 1;
	look.function_of = mem_new(count, sizeof(*look.function_of));
	look.weight = mem_new((size_t)profile->functions.count + 1, sizeof(*look.weight));
	look.loops = arena_take(arena, count * sizeof(*look.loops));
	look.callee = arena_take(arena, count * sizeof(*look.callee));
	functions_find(&look);
	functions_weigh(&look, &samples);
	locations_look(&look, (uint64_t)(LEAST * (double)samples.total.weight));
	code = arena_take(arena, sizeof(*code));
	*code = (struct hot_code){(uint32_t)count, look.loops, look.callee};
	loop_reader_close(look.reader);
	map_done(&look.by_addr);
	free(look.function_of);
	free(look.weight);
	profile_samples_done(&samples);
	return code;
}
