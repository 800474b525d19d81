/* store_fuzz.c - any bytes as a run file: refused with a sentence, or a run whose every id holds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
	if (!holds)
		abort();
}

static void walk(const struct run *run)
{
	vec_foreach (struct sample_row, sample, &run->samples) {
		need(sample->event <= run->events.count && sample->thread <= run->threads.count);
		need(sample->stack <= run->stacks.count);
		for (row_id id = sample->stack; id; id = run->stacks.at[id - 1].parent)
			need(run->stacks.at[id - 1].location <= run->locations.count);
	}
	vec_foreach (struct frame_row, frame, &run->frames)
		need(frame->function <= run->functions.count && frame->outer <= run->frames.count &&
			frame->file <= run_text_count(run));
	vec_foreach (struct location_row, location, &run->locations)
		need(location->module <= run->modules.count &&
			location->frame <= run->frames.count);
	vec_foreach (struct function_row, function, &run->functions)
		need(function->module <= run->modules.count &&
			function->name <= run_text_count(run));
	vec_foreach (struct count_row, count, &run->counts)
		need(count->event <= run->events.count &&
			count->execution <= run->executions.count);
	vec_foreach (struct event_row, event, &run->events)
		need(event->status < EVENT_STATUSES && event->name <= run_text_count(run));
	for (text_id id = 1; id <= run_text_count(run); id++)
		need(run_text(run, id)[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_auto struct run *run = NULL;
	struct err err = {0};

	if (store_load_bytes(data, size, "input", &run, &err) < 0)
		need(!run && err.code > 0 && err.text[0] && err.kind == ERR_USAGE);
	else
		walk(run);
	return 0;
}
