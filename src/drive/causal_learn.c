/* causal_learn.c - what of the mapped files is the user's own code, and how the frames of the rest
 * are left, for the engine.
 *
 * A function is the user's when its first line is: not a template of the C++ library or a part of
 * Rust's, even where a closure of his is inlined into it.  That closure's lines stay his.  Looked
 * at again from time to time, because libraries are loaded when they are needed.  Code whose rules
 * cannot be read, or that there is no room for, is left out: its time stays where it is spent,
 * outside the scope, and that is told. */
#include <stdint.h>
#include <string.h>

#include "causal_parts.h"
#include "code/image.h"
#include "code/places.h"
#include "code/unwind.h"
#include "source/causal_code.h"
#include "wire/causal_walk.h"

typedef vec_of(struct wire_causal_step) wire_step_vec;

static bool offset_fits(int32_t offset)
{
	return offset >= INT16_MIN && offset <= INT16_MAX;
}

static struct wire_causal_step step_of(const struct unwind_step *from)
{
	struct wire_causal_step step = {.cfa_offset = from->cfa_offset};

	if (!offset_fits(from->ra_offset) || !offset_fits(from->fp_offset))
		return step;
	step.frame = from->frame == UNWIND_FRAME_SP   ? WIRE_FRAME_SP
		     : from->frame == UNWIND_FRAME_FP ? WIRE_FRAME_FP
						      : WIRE_FRAME_UNKNOWN;
	step.ra_offset = (int16_t)from->ra_offset;
	step.fp_offset = (int16_t)from->fp_offset;
	return step;
}

static bool step_is_same(const struct wire_causal_step *a, const struct wire_causal_step *b)
{
	return a->frame == b->frame && a->cfa_offset == b->cfa_offset &&
	       a->ra_offset == b->ra_offset && a->fp_offset == b->fp_offset &&
	       a->is_own == b->is_own;
}

/* By bytes of the file, as mappings are told, and in order there; what changes nothing is left
 * out. */
static void step_push(const struct image *image, uint64_t addr, struct wire_causal_step step,
	wire_step_vec *steps)
{
	struct wire_causal_step last = {0};
	uint64_t offset;

	if (steps->count)
		last = steps->at[steps->count - 1];
	if (!image_offset_of_addr(image, addr, &offset) || offset > UINT32_MAX ||
		offset < last.offset)
		return;
	step.offset = (uint32_t)offset;
	if (steps->count && last.offset == step.offset)
		steps->at[steps->count - 1] = step;
	else if (!steps->count || !step_is_same(&last, &step))
		vec_push(steps, step);
}

/* The steps of one file while they are made. */
struct maker {
	const struct image *image;
	const struct place *own;
	bool is_own;  /* all of it */
	bool is_bare; /* how the user's own frames are left is not told */
	uint32_t at;  /* of the ranges: where the last question ended */
	wire_step_vec *steps;
};

static struct wire_causal_step own_step(const struct maker *maker, struct wire_causal_step step)
{
	if (maker->is_bare)
		step = (struct wire_causal_step){0};
	step.is_own = 1;
	return step;
}

/* The range that ends behind `addr`; questions come in order of address. */
static const struct place_range *range_from(struct maker *maker, uint64_t addr)
{
	const struct place *own = maker->own;

	while (maker->at < own->ranges.count && own->ranges.at[maker->at].high <= addr)
		maker->at++;
	return maker->at < own->ranges.count ? &own->ranges.at[maker->at] : NULL;
}

/* One stretch with one rule, in a function that is not the user's: his lines in it are. */
static void stretch_push(
	struct maker *maker, uint64_t low, uint64_t high, struct wire_causal_step step)
{
	const struct place_range *range;

	while (low < high && (range = range_from(maker, low)) && range->low < high) {
		if (range->low > low)
			step_push(maker->image, low, step, maker->steps);
		step_push(maker->image, range->low > low ? range->low : low, own_step(maker, step),
			maker->steps);
		low = range->high;
	}
	if (low < high)
		step_push(maker->image, low, step, maker->steps);
}

static void steps_make(struct maker *maker, const unwind_step_vec *from)
{
	bool is_own = maker->is_own;

	maker->at = 0;
	maker->steps->count = 0;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct unwind_step *step = &from->at[i];
		uint64_t high = i + 1 < from->count ? from->at[i + 1].addr : step->addr + 1;
		const struct place_range *range = range_from(maker, step->addr);

		if (step->begins && !maker->is_own)
			is_own = range && range->low <= step->addr;
		if (is_own)
			step_push(maker->image, step->addr, own_step(maker, step_of(step)),
				maker->steps);
		else
			stretch_push(maker, step->addr, high, step_of(step));
	}
}

/* Of a large program only which frames are the user's own, not how they are left: the libraries
 * need the room more. */
static void file_learn(
	struct causal_runner *c, const char *path, const struct place *own, bool is_own)
{
	struct err ignored = {0};
	struct unwind_table *table;
	unwind_step_vec from = {0};
	wire_step_vec steps = {0};
	struct maker maker = {.own = own, .is_own = is_own, .steps = &steps};
	struct image *image;
	bool fits = false;

	if (image_open(path, &image, &ignored) < 0)
		return;
	table = unwind_table_open(image);
	unwind_table_steps(table, &from);
	maker.image = image;
	for (int tries = 0; tries < 2 && !fits; tries++) {
		maker.is_bare = tries;
		steps_make(&maker, &from);
		fits = !steps.count ||
		       ((tries || steps.count < WIRE_CAUSAL_STEPS / 2) &&
			       causal_foreign_add(c->causal, path, steps.at, steps.count));
	}
	vec_done(&steps);
	vec_done(&from);
	unwind_table_close(table);
	image_close(image);
}

int causal_learn_files(struct causal_runner *c, struct err *err)
{
	static const struct place nothing = {0};
	const char *const *paths;
	uint32_t count, known;
	int r;

	if (!c->options->classify_code)
		return 0;
	r = causal_files(c->causal, &paths, &count, err);
	for (uint32_t i = 0; r >= 0 && i < count; i++) {
		const struct place *own = &nothing;
		enum causal_own kind = CAUSAL_OWN_NOTHING;

		if (map_get(&c->files_known, paths[i], strlen(paths[i]), &known))
			continue;
		map_put(&c->files_known, paths[i], strlen(paths[i]), 1);
		if (!causal_is_runtime(c->causal, paths[i]))
			kind = c->options->classify_code(c->options->context, paths[i], &own);
		file_learn(c, paths[i], own, kind == CAUSAL_OWN_ALL);
	}
	return r;
}
