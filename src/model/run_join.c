/* run_join.c - the experiments of one run behind those of another, as if one run had made them.
 *
 * The same line in two runs is one target, the same progress point one point: by name, because a
 * program that was built anew has other addresses but, where it was not edited, the same lines.
 * Pairs stay pairs: their numbers go on counting. */
#include "base/mem.h"
#include "model/run.h"

static row_id target_join(
	struct run *run, const struct run *more, const struct causal_target_row *from)
{
	struct causal_target_row row = *from;

	row.name = run_intern(run, run_text(more, from->name));
	row.file = run_intern(run, run_text(more, from->file));
	row.function = run_intern(run, run_text(more, from->function));
	for (uint32_t i = 0; i < run->causal_targets.count; i++) {
		const struct causal_target_row *known = &run->causal_targets.at[i];

		if (known->name == row.name && known->file == row.file && known->line == row.line &&
			known->kind == row.kind)
			return i + 1;
	}
	return run_add_causal_target(run, &row);
}

static row_id point_join(
	struct run *run, const struct run *more, const struct progress_point_row *from)
{
	struct progress_point_row row = *from;

	row.name = run_intern(run, run_text(more, from->name));
	for (uint32_t i = 0; i < run->progress_points.count; i++)
		if (run->progress_points.at[i].name == row.name &&
			run->progress_points.at[i].kind == row.kind)
			return i + 1;
	return run_add_progress_point(run, &row);
}

static void notes_join(struct run *run, const struct run *more)
{
	vec_foreach (const struct note_row, note, &more->notes) {
		text_id text = run_intern(run, run_text(more, note->text));
		bool known = false;

		vec_foreach (const struct note_row, before, &run->notes)
			known |= before->text == text;
		if (!known)
			run_add_note(run, run_text(more, note->code), run_text(more, note->text),
				run_text(more, note->hint));
	}
}

static uint32_t pair_highest(const struct run *run)
{
	uint32_t highest = 0;

	vec_foreach (const struct experiment_row, e, &run->experiments)
		highest = e->pair > highest ? e->pair : highest;
	return highest;
}

void run_join_experiments(struct run *run, const struct run *more)
{
	uint32_t executions = run->executions.count, pairs = pair_highest(run);
	uint32_t experiments = run->experiments.count;
	mem_auto row_id *targets = mem_new(more->causal_targets.count + 1, sizeof(*targets));
	mem_auto row_id *points = mem_new(more->progress_points.count + 1, sizeof(*points));

	for (uint32_t i = 0; i < more->causal_targets.count; i++)
		targets[i + 1] = target_join(run, more, &more->causal_targets.at[i]);
	for (uint32_t i = 0; i < more->progress_points.count; i++)
		points[i + 1] = point_join(run, more, &more->progress_points.at[i]);
	for (row_id id = 1; id <= more->executions.count; id++) {
		struct execution_row row = run_execution(more, id);

		row.command = 0;
		run_add_execution(run, &row);
	}
	vec_foreach (const struct experiment_row, from, &more->experiments) {
		struct experiment_row row = *from;

		row.target = targets[from->target];
		row.execution = from->execution ? from->execution + executions : 0;
		row.pair = from->pair ? from->pair + pairs : 0;
		run_add_experiment(run, &row);
	}
	vec_foreach (const struct visit_row, from, &more->visits) {
		struct visit_row row = *from;

		row.experiment += experiments;
		row.point = points[from->point];
		run_add_visit(run, &row);
	}
	notes_join(run, more);
}
