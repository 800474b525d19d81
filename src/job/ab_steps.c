/* ab_steps.c - `assay ab --after first.assay ./second -- ./third`: several changes in a row.
 *
 * Each comparison was made in turns in its own session; their ratios hold there, and a product of
 * ratios is the ratio of the whole way.  Per cents that are added are not. */
#include <errno.h>
#include <math.h>

#include "ab_parts.h"
#include "analyze/bench.h"

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
		err_set(err, ERR_USAGE, EINVAL, "%s holds no comparison of two commands", path);
		return err_hint(err, "--after takes a run that `assay ab -o RUN.assay` kept");
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
	for (uint32_t i = 0; r >= 0 && i < ab->earlier_count; i++)
		r = step_load(ab, after[i], &ab->earlier[i], err);
	return r;
}

void ab_steps_multiply(struct ab_job *ab)
{
	const struct ab_view *view = &ab->view;
	uint32_t count = ab->earlier_count + 1;
	struct ab_step *steps = arena_take(&ab->job.arena, count * sizeof(*steps));
	double cumulative = 0;

	if (!ab->earlier_count)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_view *one = i < ab->earlier_count ? &ab->earlier[i] : view;
		const struct comparison *metric = ab_metric_named(one, view->verdict.by->name);

		steps[i].path = ab->options.after[i];
		steps[i].effect = metric ? metric->effect : (double)NAN;
		cumulative = ab_compound(cumulative, steps[i].effect);
		steps[i].cumulative = cumulative;
	}
	ab->page.steps = steps;
	ab->page.step_count = count;
}
