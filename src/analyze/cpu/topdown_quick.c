/* topdown_quick.c - the quick look: are instructions slow, and if so, do loads or branches explain
 * it?
 *
 * The costs that decide between two causes are those of data/metrics/generic.txt: about 20 cycles
 * for a wrong guess, up to 300 for a load from memory.  Overlap hides part of the second, so the
 * result is a hint: its confidence is low and it has no share. */

#include "base/str.h"
#include "topdown_parts.h"

enum { BRANCH_CYCLES = 20, MEMORY_CYCLES = 100 }; /* of 300, a third is left after overlap */

/* The core that used the most cycles, on a hybrid CPU. */
static const char *busiest_core(const struct topdown_view *view)
{
	const char *core = "";
	double most = -1;

	for (uint32_t i = 0; i < view->stat.event_count; i++) {
		const struct stat_event *event = &view->stat.events[i];

		if (event->known && str_starts(event->name, "cycles") && event->value > most) {
			most = event->value;
			core = event->core;
		}
	}
	return core;
}

const struct metric_result *topdown_metric(const struct topdown_view *view, const char *name)
{
	const struct metric_result *best = NULL;
	const char *core = busiest_core(view);

	for (uint32_t i = 0; i < view->stat.metric_count; i++) {
		const struct metric_result *row = &view->stat.metrics[i];

		if (!str_equal(row->metric->name, name))
			continue;
		if (!best || (row->known && (!best->known || str_equal(row->core, core))))
			best = row;
	}
	return best;
}

static bool result_alarms(const struct metric_result *row)
{
	return row && row->known && row->assessment == METRIC_INVESTIGATE;
}

static void step_add(struct arena *arena, struct topdown_view *view, const char *question,
	const char *metric, bool watch_alarms)
{
	const struct metric_result *row = topdown_metric(view, metric);
	struct topdown_step *step = &view->steps[view->step_count];
	const char *word;

	if (!row)
		return; /* not counted in this look */
	*step = (struct topdown_step){.question = question, .metric = metric, .known = row->known};
	step->alarming = result_alarms(row) ||
			 (watch_alarms && row->known && row->assessment == METRIC_WATCH);
	word = step->alarming ? "yes" : row->assessment == METRIC_WATCH ? "some" : "no";
	if (!row->known)
		step->answer = arena_format(arena, "not known: %s", row->reason);
	else if (str_equal(row->metric->unit, "share"))
		step->answer = arena_format(arena, "%s: %s (%s)", word,
			topdown_percent(arena, row->value), row->metric->threshold_words);
	else
		step->answer = arena_format(arena, "%s: %.3g %s (%s)", word, row->value,
			row->metric->unit, row->metric->threshold_words);
	view->step_count++;
}

void topdown_steps_make(struct arena *arena, struct topdown_view *view)
{
	step_add(arena, view, "are instructions slow?", "ipc", true);
	step_add(arena, view, "do loads go to memory?", "cache_mpki", false);
	step_add(arena, view, "are branches mispredicted?", "branch_mpki", false);
	step_add(
		arena, view, "does the core wait for instructions?", "frontend_stall_share", false);
	step_add(
		arena, view, "does the core wait for data or units?", "backend_stall_share", false);
}

static void conclude(struct topdown_view *view, enum verdict_category category, const char *why)
{
	view->verdict.category = category;
	view->verdict.why = why;
}

/* What wrong guesses and far loads cost, in cycles per 1,000 instructions. */
static void conclude_misses(struct arena *arena, struct topdown_view *view,
	const struct metric_result *loads, const struct metric_result *branches)
{
	double memory = loads && loads->known ? loads->value * MEMORY_CYCLES : 0;
	double wrong = branches && branches->known ? branches->value * BRANCH_CYCLES : 0;

	if (result_alarms(loads) && (!result_alarms(branches) || memory > 2 * wrong))
		conclude(view, VERDICT_MEMORY,
			arena_format(arena,
				"instructions are slow, and %.3g loads per 1,000 instructions go "
				"to memory",
				loads->value));
	else if (result_alarms(branches) && (!result_alarms(loads) || wrong > 2 * memory))
		conclude(view, VERDICT_BAD_SPECULATION,
			arena_format(arena,
				"instructions are slow, and %.3g branches per 1,000 instructions "
				"are mispredicted",
				branches->value));
	else
		conclude(view, VERDICT_MIXED,
			"instructions are slow, with many loads from memory and many "
			"mispredictions");
}

/* Nothing alarms and yet it is slow: what is left, if all was seen. */
static void conclude_rest(struct arena *arena, struct topdown_view *view)
{
	for (uint32_t i = 0; i < view->step_count && i < 3; i++)
		if (!view->steps[i].known) {
			conclude(view, VERDICT_UNCLEAR,
				arena_format(arena,
					"instructions are slow, but one question has no answer: %s",
					view->steps[i].question));
			return;
		}
	if (result_alarms(topdown_metric(view, "frontend_stall_share")))
		conclude(view, VERDICT_FRONTEND,
			"instructions are slow, loads and branches are fine, and the core often "
			"lacks instructions");
	else
		conclude(view, VERDICT_CORE,
			"instructions are slow although loads are near and branches predicted: "
			"they wait for each other or for a unit");
}

void topdown_quick_judge(struct arena *arena, struct topdown_view *view)
{
	const struct metric_result *ipc = topdown_metric(view, "ipc");
	const struct metric_result *loads = topdown_metric(view, "cache_mpki");
	const struct metric_result *branches = topdown_metric(view, "branch_mpki");

	view->verdict.share_reason = "generic counters show rates, not shares of the time";
	view->verdict.confidence = VERDICT_LOW;
	view->verdict.doubt = "a hint from rates: overlap hides a part of the misses";
	if (!ipc || !ipc->known)
		conclude(view, VERDICT_UNCLEAR,
			arena_format(arena, "the speed of instructions could not be measured: %s",
				ipc ? ipc->reason : "cycles and instructions were not counted"));
	else if (ipc->assessment == METRIC_HEALTHY)
		conclude(view, VERDICT_RETIRING,
			arena_format(arena, "%.2f instructions per cycle: the core is busy",
				ipc->value));
	else if (result_alarms(loads) || result_alarms(branches))
		conclude_misses(arena, view, loads, branches);
	else
		conclude_rest(arena, view);
	if (view->verdict.category == VERDICT_UNCLEAR)
		view->verdict.doubt = "the deciding events could not be measured";
}
