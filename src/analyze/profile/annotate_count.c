/* annotate_count.c - the one pass over the samples.
 *
 * For each stack the nearest call of the function on it (itself included) is known beforehand, so
 * a sample costs as many steps as the function has calls on its stack: mostly one, however deep the
 * stack is.  A sample below two calls of the same line counts there once. */
#include "annotate_parts.h"
#include "profile_parts.h"

struct seen {
	uint32_t *lines, *instructions; /* the number of the last sample that was counted there */
};

/* For each stack: the innermost stack from it outwards whose location is in the function. */
static row_id *nearest_calls(const struct annotate_work *work)
{
	const struct run *run = work->run;
	row_id *nearest = mem_new(run->stacks.count + 1, sizeof(*nearest));

	for (row_id id = 1; id <= run->stacks.count; id++) {
		const struct stack_row *stack = &run->stacks.at[id - 1];

		nearest[id] = work->places[stack->location].inside ? id : nearest[stack->parent];
	}
	return nearest;
}

static void count_self(struct annotate_work *work, const struct annotate_place *place,
	uint32_t column, const struct profile_cost *cost)
{
	struct annotate_view *view = work->view;

	profile_cost_add(&view->events[column].self, cost);
	profile_cost_add(&work->lines.at[place->line].self[column], cost);
	if (place->instruction)
		profile_cost_add(&view->instructions[place->instruction - 1].self[column], cost);
	else
		profile_cost_add(&view->outside[column], cost);
	if (place->foreign)
		profile_cost_add(&view->inlined[column], cost);
}

static void count_below(struct annotate_work *work, struct seen *seen, uint32_t sample,
	const struct annotate_place *place, const struct profile_cost *cost)
{
	uint32_t column = work->columns[work->run->samples.at[sample - 1].event] - 1;
	uint32_t instruction = place->instruction;

	if (seen->lines[place->line] != sample)
		profile_cost_add(&work->lines.at[place->line].below[column], cost);
	seen->lines[place->line] = sample;
	if (!instruction)
		return;
	if (seen->instructions[instruction] != sample)
		profile_cost_add(&work->view->instructions[instruction - 1].below[column], cost);
	seen->instructions[instruction] = sample;
}

static void count_sample(
	struct annotate_work *work, struct seen *seen, const row_id *nearest, uint32_t id)
{
	const struct run *run = work->run;
	const struct sample_row *sample = &run->samples.at[id - 1];
	uint32_t column = work->columns[sample->event] - 1;
	struct annotate_event *event = &work->view->events[column];
	uint64_t count = run_sample_count(run, sample);
	const struct profile_cost one = {count, event->weighted ? sample->period : count},
				  *cost = &one;
	row_id at = nearest[sample->stack];

	profile_cost_add(&event->run, cost);
	work->samples += cost->samples;
	if (sample->flags & (SAMPLE_TRUNCATED | SAMPLE_BROKEN))
		work->cut_samples += cost->samples;
	if (sample->stack && work->places[run->stacks.at[sample->stack - 1].location].copy)
		work->copy_samples += cost->samples;
	if (at)
		profile_cost_add(&event->total, cost);
	if (at && at == sample->stack) {
		const struct stack_row *stack = &run->stacks.at[at - 1];

		count_self(work, &work->places[stack->location], column, cost);
		at = nearest[stack->parent];
	}
	while (at) {
		const struct stack_row *stack = &run->stacks.at[at - 1];

		count_below(work, seen, id, &work->places[stack->location], cost);
		at = nearest[stack->parent];
	}
}

void annotate_count(struct annotate_work *work)
{
	mem_auto row_id *nearest = nearest_calls(work);
	mem_auto uint32_t *lines = mem_new(work->lines.count + 1, sizeof(*lines));
	mem_auto uint32_t *instructions =
		mem_new(work->view->instruction_count + 1, sizeof(*instructions));
	struct seen seen = {.lines = lines, .instructions = instructions};

	for (uint32_t id = 1; id <= work->run->samples.count; id++)
		if (work->columns[work->run->samples.at[id - 1].event])
			count_sample(work, &seen, nearest, id);
}
