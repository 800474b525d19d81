/* ab.c - see ab.h. */
#include "job/ab.h"

#include <errno.h>
#include <math.h>

#include "ab_parts.h"
#include "analyze/bench.h"
#include "drive/revisions.h"

enum { PAIRS_MAX = 1000 };
#define BUDGET_DEFAULT_NS 60000000000
#define LONG_NS 10000000000 /* until then ten pairs cost little, and tell the size too */

void ab_job_open(
	struct ab_job *ab, const struct ab_job_options *options, const struct job_host *host)
{
	*ab = (struct ab_job){.options = *options};
	bench_job_open(&ab->job, &options->bench, host);
}

void ab_job_done(struct ab_job *ab)
{
	revisions_close(ab->revisions);
	for (unsigned i = 0; i < 2; i++)
		run_close(ab->counted[i]);
	vec_foreach (struct run *, earlier, &ab->earlier_runs)
		run_close(*earlier);
	vec_done(&ab->earlier_runs);
	str_done(&ab->build_log);
	bench_job_done(&ab->job);
}

void ab_plan(struct ab_job *ab)
{
	const struct bench_counts *counts = &ab->options.bench.counts;
	struct bench_options *runs = &ab->job.runs;

	runs->budget_ns = counts->budget_ns ? counts->budget_ns
			  : counts->exact   ? UINT64_MAX
					    : BUDGET_DEFAULT_NS;
	/* A slow program gets its ten pairs unless the time was said to matter more. */
	runs->rounds_min = counts->budget_ns ? 1 : counts->exact ? counts->exact : COMPARE_BATCH;
	runs->rounds_max = counts->exact ? counts->exact : PAIRS_MAX;
	ab->rule.min_effect = ab->options.min_effect;
	ab->looks = counts->exact ? 1 : COMPARE_LOOKS_MAX;
}

static int view_make(
	struct ab_job *ab, struct arena *arena, struct ab_view *ret_view, struct err *err)
{
	struct bench_view *view = arena_take(arena, sizeof(*view));
	int r = bench_view_make(
		ab->job.run, ab->options.bench.runs.ignore_failure, arena, view, err);

	return r < 0 ? r : ab_view_make(view, &ab->rule, arena, ret_view, err);
}

/* The first look is after ten pairs; a program of some seconds need not be run that often to show
 * what three or four runs do. */
static bool look_is_due(struct ab_job *ab, const struct bench_progress *progress)
{
	uint32_t rounds = progress->rounds;

	if (!ab->has_plan) {
		if (rounds < COMPARE_PAIRS_MIN ||
			(rounds < COMPARE_BATCH && progress->elapsed_ns < LONG_NS))
			return false;
		ab->plan = compare_plan_make(rounds, progress->rounds_due);
		ab->has_plan = true;
	}
	return rounds % COMPARE_BATCH == 0 || compare_plan_looks_at(&ab->plan, rounds);
}

int ab_look(struct ab_job *ab, const struct bench_progress *progress, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct ab_view view;
	int r;

	if (ab->looks == 1 || !look_is_due(ab, progress))
		return 0;
	r = view_make(ab, &arena, &view, err);
	if (r < 0)
		return r;
	if (progress->rounds % COMPARE_BATCH == 0 && ab_is_narrow(&view))
		return 1;
	return compare_plan_looks_at(&ab->plan, progress->rounds) &&
	       (ab_is_settled(&view) ||
		       (progress->elapsed_ns >= LONG_NS && ab_is_confirmed(&view)));
}

static int round_look(struct bench_job *job, const struct bench_progress *progress, struct err *err)
{
	return ab_look(job->context, progress, err);
}

static int runs_ready(struct bench_job *job, struct err *err)
{
	return ab_check(job->context, err);
}

/* Each earlier comparison was made in turns in its own session; their ratios hold there, and a
 * product of ratios is the ratio of the whole way.  Per cents that are added are not. */
static int step_load(struct ab_job *ab, const char *path, struct ab_view *ret_view, struct err *err)
{
	const struct compare_rule rule = {0};
	struct bench_view *view = arena_take(&ab->job.arena, sizeof(*view));
	struct run *run;
	int r = job_load_run(ab->job.host, path, &run, err);

	if (r < 0)
		return r;
	vec_push(&ab->earlier_runs, run);
	if (run->commands.count != 2 || !run->executions.count) {
		err_set(err, ERR_USAGE, EINVAL, "%s has no comparison of two commands", path);
		return err_hint(err, "--after needs a run stored by `assay ab -o RUN.assay`");
	}
	r = bench_view_make(run, ab->options.bench.runs.ignore_failure, &ab->job.arena, view, err);
	return r < 0 ? r : ab_view_make(view, &rule, &ab->job.arena, ret_view, err);
}

int ab_steps_load(struct ab_job *ab, struct err *err)
{
	const char *const *after = ab->options.after;
	int r = 0;

	while (after && after[ab->earlier_count])
		ab->earlier_count++;
	ab->earlier = arena_take(&ab->job.arena, (ab->earlier_count + 1) * sizeof(*ab->earlier));
	for (uint32_t i = 0; after && r >= 0 && i < ab->earlier_count; i++)
		r = step_load(ab, after[i], &ab->earlier[i], err);
	return r;
}

/* One metric for all steps: ratios of different ones have no product.  Corrected wall time only
 * where every step has it; wall time is in all of them. */
static const char *step_metric(const struct ab_job *ab)
{
	const struct comparison *by = ab->view.verdict.by;
	bool corrected = ab->view.corrected;

	for (uint32_t i = 0; i < ab->earlier_count; i++)
		corrected &= ab->earlier[i].corrected;
	return by->kind == COMPARE_WALL
		       ? bench_time_name(corrected ? BENCH_CORRECTED_NS : BENCH_WALL_NS)
		       : by->name;
}

void ab_steps_multiply(struct ab_job *ab)
{
	uint32_t count = ab->earlier_count + 1;
	struct ab_step *steps = arena_take(&ab->job.arena, count * sizeof(*steps));
	double cumulative = 0;

	if (!ab->earlier_count)
		return;
	ab->page.step_metric = step_metric(ab);
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_view *one = i < ab->earlier_count ? &ab->earlier[i] : &ab->view;
		const struct comparison *metric = ab_metric_named(one, ab->page.step_metric);

		steps[i].path = ab->options.after[i];
		steps[i].effect = metric ? metric->effect : (double)NAN;
		cumulative = ab_compound(cumulative, steps[i].effect);
		steps[i].cumulative = cumulative;
	}
	ab->page.steps = steps;
	ab->page.step_count = count;
}

/* Everything behind the last run: judge and explain. */
static int ab_conclude(struct ab_job *ab, bool whole, struct err *err)
{
	int r = view_make(ab, &ab->job.arena, &ab->view, err);

	if (r >= 0 && whole)
		r = ab_explain_change(ab, err);
	if (r < 0)
		return r;
	ab->page.view = &ab->view;
	ab->page.artifact = ab->job.path;
	ab_steps_multiply(ab);
	return 0;
}

int ab_job_measure(struct ab_job *ab, struct err *err)
{
	struct err late = {0};
	int r = ab_steps_load(ab, err), end;

	if (r >= 0)
		r = ab_sides_add(ab, err);
	if (r < 0)
		return r;
	ab_plan(ab);
	ab->job.ready = runs_ready;
	ab->job.look = round_look;
	ab->job.context = ab;
	end = bench_job_run(&ab->job, err);
	if (end >= 0 || ab->job.run->executions.count)
		r = ab_conclude(ab, end == BENCH_DONE, end < 0 ? &late : err);
	return end < 0 || r >= 0 ? end : r;
}
