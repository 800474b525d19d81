/* imported.c - one pass over the samples of an imported run. */
#include "analyze/imported.h"

#include "model/run.h"

static void events_make(const struct run *run, struct arena *arena, struct imported_view *view)
{
	view->event_count = run->events.count;
	view->events = arena_take(arena, (run->events.count + 1) * sizeof(*view->events));
	for (uint32_t i = 0; i < run->events.count; i++) {
		const struct event_row *row = &run->events.at[i];

		view->events[i] = (struct imported_event){
			.name = run_text(run, row->name),
			.unit = run_text(run, row->unit),
			.core = run_text(run, row->core),
			.merged = row->flags & EVENT_MERGED,
		};
	}
	vec_foreach (const struct count_row, count, &run->counts) {
		if (!count->event || count->event > view->event_count)
			continue;
		view->events[count->event - 1].counted = true;
		view->events[count->event - 1].count = count->value;
	}
}

static uint64_t quality_of(const struct run *run, const char *name)
{
	uint64_t value = 0;

	run_get_quality(run, name, &value);
	return value;
}

void imported_view_make(const struct run *run, struct arena *arena, struct imported_view *ret_view)
{
	struct imported_view view = {
		.target = run_text(run, run->target),
		.threads = run->threads.count,
		.modules = run->modules.count,
		.functions = run->functions.count,
		.stacks = run->stacks.count,
		.branches = run->branches.count,
		.accesses = run->accesses.count,
		.lost = quality_of(run, "lost_samples") + quality_of(run, "lost_records"),
		.truncated = quality_of(run, "truncated_stacks"),
		.broken = quality_of(run, "broken_stacks"),
	};
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	events_make(run, arena, &view);
	vec_foreach (const struct sample_row, sample, &run->samples) {
		view.samples += run_sample_count(run, sample);
		if (sample->time_ns && sample->time_ns < first_ns)
			first_ns = sample->time_ns;
		if (sample->time_ns > last_ns)
			last_ns = sample->time_ns;
		if (!sample->event || sample->event > view.event_count)
			continue;
		view.events[sample->event - 1].samples += run_sample_count(run, sample);
		view.events[sample->event - 1].weight += sample->period;
	}
	view.span_ns = last_ns > first_ns ? last_ns - first_ns : 0;
	*ret_view = view;
}
