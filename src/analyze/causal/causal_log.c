/* causal_log.c - the experiments of a run one by one; see causal_view.h. */
#include "analyze/causal_view.h"
#include "base/vec.h"
#include "model/run.h"

static struct causal_entry_visit *visits_read(const struct run *run, struct arena *arena)
{
	struct causal_entry_visit *visits =
		arena_take(arena, (run->visits.count + 1) * sizeof(*visits));

	for (uint32_t i = 0; i < run->visits.count; i++) {
		const struct visit_row *row = &run->visits.at[i];
		const struct progress_point_row *point = &run->progress_points.at[row->point - 1];

		visits[i] = (struct causal_entry_visit){run_text(run, point->name),
			point->kind == PROGRESS_LATENCY, row->arrivals, row->departures,
			row->open_after};
	}
	return visits;
}

static bool are_halves(const struct experiment_row *a, const struct experiment_row *b)
{
	bool whole = a->flags & b->flags & EXPERIMENT_WHOLE;

	return a->pair == b->pair && a->target == b->target &&
	       (whole || a->execution == b->execution) && !(b->flags & EXPERIMENT_CUT);
}

/* Not cut short, nor left without the other half of its pair: who reads the log pairs by what is
 * nearest, and would give it to a stranger. */
static bool is_whole(const struct run *run, uint32_t i)
{
	const struct experiment_row *e = &run->experiments.at[i];

	if (e->flags & EXPERIMENT_CUT)
		return false;
	return !e->pair || (i && are_halves(e, e - 1)) ||
	       (i + 1 < run->experiments.count && are_halves(e, e + 1));
}

void causal_log_make(const struct run *run, struct arena *arena, struct causal_log *ret_log)
{
	const struct causal_entry_visit *visits = visits_read(run, arena);
	uint32_t at = 0;

	*ret_log = (struct causal_log){
		.started_ns = run->started_ns,
		.entries =
			arena_take(arena, (run->experiments.count + 1) * sizeof(*ret_log->entries)),
		.targets = arena_take(
			arena, (run->causal_targets.count + 1) * sizeof(*ret_log->targets)),
		.target_count = run->causal_targets.count,
	};
	for (uint32_t i = 0; i < run->causal_targets.count; i++) {
		const struct causal_target_row *row = &run->causal_targets.at[i];

		ret_log->targets[i] = (struct causal_entry_target){
			run_text(run, row->name), run_text(run, row->file), row->line, 0};
	}
	for (uint32_t i = 0; i < run->experiments.count; i++) {
		const struct experiment_row *e = &run->experiments.at[i];
		uint32_t first = at;

		while (at < run->visits.count && run->visits.at[at].experiment == i + 1)
			at++;
		if (!is_whole(run, i))
			continue;
		ret_log->targets[e->target - 1].hits += e->hits;
		ret_log->entries[ret_log->entry_count++] =
			(struct causal_entry){e->target - 1, e->speedup_permille / 1000.0,
				e->virtual_ns, e->hits, visits + first, at - first};
	}
}
