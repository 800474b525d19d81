/* ab_events.c - which event explains the change: a few more runs of each side, with counters.
 *
 * Apart from the runs that were timed, because counting costs time itself.  Five of A, then five of
 * B: counts, unlike times, hardly drift. */
#include <math.h>

#include "ab_parts.h"
#include "analyze/stat.h"
#include "drive/count.h"
#include "ingest/ingest.h"
#include "source/pmu.h"

enum { EVENT_RUNS = 5 };
#define EVENTS                                                                                     \
	"task-clock,page-faults,context-switches,{cycles,instructions},branch-misses,cache-misses"

static int side_count(struct ab_job *ab, unsigned side, struct err *err)
{
	const struct spawner_command *command = &ab->job.runs.commands[side];
	const struct count_options options = {
		.path = command->path,
		.argv = command->argv,
		.folder = command->folder,
		.input_path = ab->job.runs.input_path,
		.output_path = ab->job.runs.output_path ? ab->job.runs.output_path : "/dev/null",
		.repeat = EVENT_RUNS,
		.interrupted = ab->job.host->interrupted,
	};
	event_list_auto struct event_list events = {0};
	struct ingest ingest = {.run = run_open()};
	struct wire_sink sink = ingest_sink(&ingest);
	int r = event_list_parse(&events, EVENTS, err);

	ab->counted[side] = ingest.run;
	job_progress(ab->job.host, "counting events of %s", side ? "B" : "A");
	if (r >= 0)
		r = count_target(&options, &events, &sink, err);
	job_progress(ab->job.host, NULL);
	run_freeze(ingest.run);
	return r;
}

static void events_take(struct ab_job *ab, struct ab_side *sides)
{
	const struct metric_book no_metrics = {0};
	struct arena *arena = &ab->job.arena;
	struct stat_view views[2];
	struct ab_event *events;

	for (unsigned i = 0; i < 2; i++) {
		stat_view_make(ab->counted[i], &no_metrics, arena, &views[i]);
		ab_side_add_events(&sides[i], &views[i]);
	}
	events = arena_take(arena, views[0].event_count * sizeof(*events));
	for (uint32_t i = 0; i < views[0].event_count && i < views[1].event_count; i++) {
		const struct stat_event *a = &views[0].events[i], *b = &views[1].events[i];

		events[i] = (struct ab_event){
			.name = a->name,
			.unit = a->unit,
			.reason = a->known ? b->reason : a->reason,
			.a = a->known ? a->value : (double)NAN,
			.b = b->known ? b->value : (double)NAN,
		};
		ab->page.event_count++;
	}
	ab->page.events = events;
}

static bool has_moved(const struct ab_view *view)
{
	return view->verdict.outcome == COMPARE_REGRESSED ||
	       view->verdict.outcome == COMPARE_IMPROVED;
}

static bool events_wanted(const struct ab_job *ab, bool moved)
{
	enum ab_wish wish = ab->options.events;
	struct err ignored;

	if (job_interrupted(ab->job.host).count || wish == AB_NO)
		return false;
	return wish == AB_YES || (moved && pmu_present(&ignored) == 1);
}

int ab_explain_change(struct ab_job *ab, struct err *err)
{
	const struct ab_view *view = &ab->view;
	struct arena *arena = &ab->job.arena;
	struct ab_side sides[2] = {ab_side_of(view->a), ab_side_of(view->b)};
	struct ab_explanation *explanation = arena_take(arena, sizeof(*explanation));
	int r = 0;

	if (events_wanted(ab, has_moved(view))) {
		for (unsigned i = 0; r >= 0 && i < 2; i++)
			r = side_count(ab, i, err);
		if (r < 0)
			return r;
		events_take(ab, sides);
	}
	if (!has_moved(view) && !ab->page.event_count)
		return 0;
	*explanation = ab_explain(&sides[0], &sides[1], arena);
	ab->page.explanation = explanation;
	return 0;
}
