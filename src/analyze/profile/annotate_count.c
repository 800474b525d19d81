/* annotate_count.c - the one pass over the samples.
 *
 * For each stack the nearest call of the function on it (itself included) is known beforehand, so
 * a sample costs as many steps as the function has calls on its stack: mostly one, however deep the
 * stack is.  A sample below two calls of the same line counts there once. */
#include "annotate_parts.h"

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

static void cost_add(struct profile_cost *cost, uint64_t weight)
{
	cost->samples++;
	cost->weight += weight;
}

static void count_self(struct annotate_work *work, const struct annotate_place *place,
	uint32_t column, uint64_t weight)
{
	struct annotate_view *view = work->view;

	cost_add(&view->events[column].self, weight);
	cost_add(&work->lines.at[place->line].self[column], weight);
	if (place->instruction)
		cost_add(&view->instructions[place->instruction - 1].self[column], weight);
	else
		cost_add(&view->outside[column], weight);
	if (place->foreign)
		cost_add(&view->inlined[column], weight);
}

static void count_below(struct annotate_work *work, struct seen *seen, uint32_t sample,
	const struct annotate_place *place, uint64_t weight)
{
	uint32_t column = work->columns[work->run->samples.at[sample - 1].event] - 1;
	uint32_t instruction = place->instruction;

	if (seen->lines[place->line] != sample)
		cost_add(&work->lines.at[place->line].below[column], weight);
	seen->lines[place->line] = sample;
	if (!instruction)
		return;
	if (seen->instructions[instruction] != sample)
		cost_add(&work->view->instructions[instruction - 1].below[column], weight);
	seen->instructions[instruction] = sample;
}

static void count_sample(
	struct annotate_work *work, struct seen *seen, const row_id *nearest, uint32_t id)
{
	const struct run *run = work->run;
	const struct sample_row *sample = &run->samples.at[id - 1];
	uint32_t column = work->columns[sample->event] - 1;
	struct annotate_event *event = &work->view->events[column];
	uint64_t weight = event->weighted ? sample->period : 1;
	row_id at = nearest[sample->stack];

	cost_add(&event->run, weight);
	work->samples++;
	work->cut_samples += (sample->flags & (SAMPLE_TRUNCATED | SAMPLE_BROKEN)) != 0;
	if (sample->stack)
		work->copy_samples += work->places[run->stacks.at[sample->stack - 1].location].copy;
	if (at)
		cost_add(&event->total, weight);
	if (at && at == sample->stack) {
		const struct stack_row *stack = &run->stacks.at[at - 1];

		count_self(work, &work->places[stack->location], column, weight);
		at = nearest[stack->parent];
	}
	while (at) {
		const struct stack_row *stack = &run->stacks.at[at - 1];

		count_below(work, seen, id, &work->places[stack->location], weight);
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
