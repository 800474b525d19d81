/* hot_loop.c - see hot_loop.h. */
#include "analyze/hot_loop.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "code/listing.h"
#include "model/run.h"

enum { LOOP_MOST = 200 }; /* instructions; a longer one is no loop that a static look explains */

/* Samples at each instruction. */
static uint64_t weights_take(const struct run *run, const struct function_row *function,
	const struct listing *listing, uint64_t *weights)
{
	uint64_t sum = 0;

	vec_foreach (const struct sample_row, sample, &run->samples) {
		row_id location = sample->stack ? run->stacks.at[sample->stack - 1].location : 0;
		const struct location_row *at = location ? &run->locations.at[location - 1] : NULL;

		if (!at || at->module != function->module)
			continue;
		for (uint32_t i = 0; i < listing->instruction_count; i++) {
			const struct instruction *one = &listing->instructions[i];

			if (at->addr >= one->addr && at->addr < one->addr + one->size_bytes) {
				weights[i]++;
				sum++;
				break;
			}
		}
	}
	return sum;
}

static uint32_t index_of(const struct listing *listing, uint64_t addr)
{
	for (uint32_t i = 0; i < listing->instruction_count; i++)
		if (listing->instructions[i].addr == addr)
			return i;
	return UINT32_MAX;
}

struct piece {
	uint32_t first, last;
	uint64_t weight;
};

/* Smaller is better as long as it holds half of the samples. */
static bool piece_choose(const struct listing *listing, const uint64_t *weights, uint64_t sum,
	struct piece *ret_piece)
{
	bool found = false;

	for (uint32_t i = 0; i < listing->instruction_count; i++) {
		const struct instruction *jump = &listing->instructions[i];
		struct piece piece = {.last = i};

		if (jump->kind != INSTRUCTION_JUMP || !jump->has_target ||
			jump->target > jump->addr)
			continue;
		piece.first = index_of(listing, jump->target);
		if (piece.first > i || i - piece.first >= LOOP_MOST)
			continue;
		for (uint32_t k = piece.first; k <= i; k++)
			piece.weight += weights[k];
		if (piece.weight * 2 < sum)
			continue;
		if (!found || i - piece.first < ret_piece->last - ret_piece->first)
			*ret_piece = piece;
		found = true;
	}
	return found;
}

static void loop_fill(const struct listing *listing, const struct piece *piece, struct arena *arena,
	struct hot_loop *loop)
{
	const char **lines;

	loop->count = piece->last - piece->first + 1;
	lines = arena_take(arena, loop->count * sizeof(*lines));
	for (uint32_t i = 0; i < loop->count; i++) {
		const struct instruction *one = &listing->instructions[piece->first + i];

		lines[i] = one->text;
		loop->calls |= one->kind == INSTRUCTION_CALL;
		if (one->kind == INSTRUCTION_BYTES)
			loop->missing = "a part of the loop could not be decoded";
	}
	loop->lines = lines;
	loop->addr = listing->instructions[piece->first].addr;
}

void hot_loop_find(const struct run *clock, uint32_t function, const struct listing *listing,
	struct arena *arena, struct hot_loop *ret_loop)
{
	const struct function_row *row = &clock->functions.at[function - 1];
	struct hot_loop loop = {.function = run_text(clock, row->name),
		.measured_cycles = (double)NAN,
		.predicted_cycles = (double)NAN,
		.throughput_cycles = (double)NAN};
	mem_auto uint64_t *weights = mem_new(listing->instruction_count + 1, sizeof(*weights));
	struct piece piece = {0};
	uint64_t sum;

	if (listing->missing) {
		loop.missing = listing->missing;
		*ret_loop = loop;
		return;
	}
	sum = weights_take(clock, row, listing, weights);
	if (sum && piece_choose(listing, weights, sum, &piece)) {
		loop.share = (double)piece.weight / (double)sum;
		loop_fill(listing, &piece, arena, &loop);
	} else {
		loop.missing = "its samples are not in a loop of its own";
	}
	*ret_loop = loop;
}
