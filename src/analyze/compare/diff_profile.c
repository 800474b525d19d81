/* diff_profile.c - see diff_profile.h.
 *
 * A sample either falls into a row or not, so a share is a binomial one.  Newcombe's interval for
 * the difference of two (method 10 of his 1998 comparison) joins the Wilson limits of each side by
 * squares and holds its level also for rows of a few samples, where p +- 2 s does not.  Costs are
 * the same with each side stretched by its total.  Weights that differ from sample to sample make
 * the effective number of trials smaller (Kish). */
#include "analyze/diff_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "base/distribution.h"
#include "base/interval.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run.h"

enum { SAMPLES_TO_TELL = 8 }; /* all of them on one side: p is 2 / 2^8, still no evidence of many */
#define LEVEL 0.05

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {
		[DIFF_CHANGED] = "changed", [DIFF_POSSIBLE] = "possible", [DIFF_SAME] = "same"};

	return names[verdict];
}

/* ---- may they be compared? ---- */

static void refuse(struct diff_view *view, const char *sentence)
{
	vec_push(&view->refusals, sentence);
}

static const char *first_event(const struct run *run)
{
	profile_samples_auto struct profile_samples samples = {0};
	struct err err;

	if (profile_samples_take(run, &(struct profile_filter){0}, &samples, &err) < 0)
		return "";
	return samples.name;
}

static bool has_event(const struct run *run, const char *name)
{
	profile_samples_auto struct profile_samples samples = {0};
	struct err err;

	return profile_samples_take(run, &(struct profile_filter){.event = name}, &samples, &err) ==
		       0 &&
	       str_equal(samples.name, name);
}

/* An import has fields too, of the recording; they are no fingerprint. */
static bool machine_is_known(const struct run *run)
{
	vec_foreach (const struct field_row, field, &run->fields)
		if (!str_equal(run_text(run, field->group), "recording"))
			return true;
	return false;
}

static void compare_machines(const struct run *a, const struct run *b,
	const struct diff_options *options, struct diff_view *view)
{
	view->machines_known = machine_is_known(a) && machine_is_known(b);
	if (!view->machines_known)
		return;
	fingerprint_compare(&view->machines, a, b);
	if (view->machines.class != NOT_COMPARABLE || options->force)
		return;
	vec_foreach (const struct fingerprint_difference, difference, &view->machines.differences)
		if (difference->severity == FINGERPRINT_BLOCK)
			refuse(view, arena_format(&view->texts, "%s is %s in A and %s in B: %s",
					     difference->field,
					     difference->a ? difference->a : difference->a_missing,
					     difference->b ? difference->b : difference->b_missing,
					     difference->reason));
}

static int compare_kinds(const struct run *a, const struct run *b,
	const struct diff_options *options, struct diff_view *view, struct err *err)
{
	if (!a->samples.count && !b->samples.count && options->without_samples)
		return 0;
	if (!a->samples.count && !b->samples.count) {
		err_set(err, ERR_USAGE, ENODATA, "neither run has samples to compare");
		err_hint(err,
			"record them with assay record -o RUN -- PROGRAM; assay stat shows counts");
		return -ENODATA;
	}
	if (!a->samples.count || !b->samples.count)
		refuse(view, arena_format(&view->texts,
				     "only %s has samples; %s has the result of assay %s",
				     a->samples.count ? "A" : "B", a->samples.count ? "B" : "A",
				     run_text(a->samples.count ? b : a,
					     a->samples.count ? b->command : a->command)));
	return 0;
}

/* ---- rows of both ---- */

/* The program of a run is the same module on both sides, whatever its file is called. */
static bool is_program(const struct run *run, const char *module)
{
	const char *target = run_text(run, run->target);
	size_t len = strcspn(target, " ");
	const char *base = target;

	for (size_t i = 0; i < len; i++)
		if (target[i] == '/')
			base = target + i + 1;
	len -= (size_t)(base - target);
	module = label_base(module);
	return len && strlen(module) == len && strncmp(module, base, len) == 0;
}

/* An import does not tell which of its modules the program was. */
static bool program_is_seen(const struct run *run)
{
	vec_foreach (const struct module_row, module, &run->modules)
		if (is_program(run, run_text(run, module->path)))
			return true;
	return false;
}

/* `run` NULL: modules are known by their names alone. */
static void row_key(
	const struct run *run, const struct profile_row *row, enum profile_by by, struct str *key)
{
	const char *module = by == PROFILE_MODULE ? row->name : row->module;

	str_clear(key);
	if (by != PROFILE_MODULE)
		str_addf(key, "%s\n", row->name);
	str_add(key, run && is_program(run, module) ? "" : label_base(module));
	if (by == PROFILE_LINE)
		str_addf(key, "\n%s:%u", label_base(row->file), row->line);
}

struct joiner {
	struct diff_view *view;
	struct map rows; /* by key, to index */
	bool by_role;	 /* both programs are known: they are one module, whatever their names */
};

static void join_side(
	struct joiner *joiner, const struct run *run, const struct profile_view *profile, bool is_b)
{
	struct diff_view *view = joiner->view;
	str_auto struct str key = {0};

	vec_foreach (const struct profile_row, row, &profile->rows) {
		const struct profile_cost *cost = view->by_total ? &row->total : &row->self;
		double share = view->by_total ? row->total_share : row->self_share;
		struct diff_row *joined;
		uint32_t at;

		if (!cost->samples)
			continue;
		row_key(joiner->by_role ? run : NULL, row, view->by, &key);
		if (map_add(&joiner->rows, str_text(&key), key.len, view->rows.count, &at)) {
			vec_push(&view->rows, (struct diff_row){0});
		}
		joined = &view->rows.at[at];
		joined->name = row->name;
		joined->module = row->module;
		joined->file = row->file;
		joined->line = row->line;
		joined->flags = row->flags;
		*(is_b ? &joined->b_samples : &joined->a_samples) += cost->samples;
		*(is_b ? &joined->b_share : &joined->a_share) += share;
	}
}

/* ---- how sure ---- */

struct share {
	double p, trials;
	double scale; /* p * scale is what is compared */
};

#define CONFIDENCE 0.95

struct change {
	double middle, low, high;
};

/* b - a with Newcombe's limits. */
static struct change difference(struct share a, struct share b)
{
	struct interval of_a = interval_of_share_score(a.p, a.trials, CONFIDENCE);
	struct interval of_b = interval_of_share_score(b.p, b.trials, CONFIDENCE);
	double middle = b.scale * b.p - a.scale * a.p;

	return (struct change){
		.middle = middle,
		.low = middle - hypot(b.scale * (b.p - of_b.lo), a.scale * (of_a.hi - a.p)),
		.high = middle + hypot(b.scale * (of_b.hi - b.p), a.scale * (a.p - of_a.lo)),
	};
}

/* Two shares, tested with the variance that they would have if they were one. */
static double chance_of_none(struct share a, struct share b)
{
	double pooled = (a.p * a.trials + b.p * b.trials) / (a.trials + b.trials);
	double deviation = sqrt(pooled * (1 - pooled) * (1 / a.trials + 1 / b.trials));

	return deviation > 0 ? 2 * normal_cdf(-fabs(b.p - a.p) / deviation) : 1;
}

static void row_judge(const struct diff_view *view, struct diff_row *row)
{
	struct share a = {fmin(1, row->a_share), view->a.trials, 1};
	struct share b = {fmin(1, row->b_share), view->b.trials, 1};
	struct change change = difference(a, b), cost;

	row->a_share = a.p;
	row->b_share = b.p;
	row->change = change.middle;
	row->change_low = change.low;
	row->change_high = change.high;
	row->p = chance_of_none(a, b);
	row->verdict = change.low > 0 || change.high < 0 ? DIFF_POSSIBLE : DIFF_SAME;
	a.scale = view->a.cost; /* NAN when there is none, and so is all that follows */
	b.scale = view->b.cost;
	cost = difference(a, b);
	row->a_cost = a.p * a.scale;
	row->b_cost = b.p * b.scale;
	row->cost_change = cost.middle;
	row->cost_low = cost.low;
	row->cost_high = cost.high;
	row->cost_changed = cost.low > 0 || cost.high < 0;
}

struct ranked {
	double p;
	struct diff_row *row;
};

static int compare_chances(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Holm: the smallest chance against LEVEL / m, the next against LEVEL / (m - 1), until one fails.
 * A row of few samples in both runs together could never pass and would only weaken the rest;
 * leaving it out by that sum does not look at the difference. */
static void rows_judge(struct diff_view *view)
{
	mem_auto struct ranked *tested = mem_new((size_t)view->rows.count + 1, sizeof(*tested));

	vec_foreach (struct diff_row, row, &view->rows) {
		row_judge(view, row);
		if (row->a_samples + row->b_samples >= SAMPLES_TO_TELL)
			tested[view->tested++] = (struct ranked){row->p, row};
	}
	qsort(tested, view->tested, sizeof(*tested), compare_chances);
	for (uint32_t i = 0; i < view->tested; i++) {
		if (tested[i].p > LEVEL / (view->tested - i))
			break;
		if (tested[i].row->verdict == DIFF_POSSIBLE)
			tested[i].row->verdict = DIFF_CHANGED;
	}
	vec_foreach (const struct diff_row, row, &view->rows)
		view->counts[row->verdict]++;
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double dx = fabs(x->change), dy = fabs(y->change);

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (dx < dy || dx > dy)
		return dx < dy ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* ---- all of it ---- */

static int side_make(const struct run *run, const struct profile_options *options,
	struct profile_view *profile, struct diff_side *side, struct err *err)
{
	profile_samples_auto struct profile_samples samples = {0};
	int r = profile_samples_take(run, &options->filter, &samples, err);

	if (r >= 0)
		r = profile_make(run, options, profile, err);
	if (r < 0)
		return r;
	profile_quality_make(run, &options->filter, &samples, &side->quality);
	side->event = samples.name;
	side->executions = run->executions.count;
	side->trials = (double)samples.total.weight * (double)samples.total.weight /
		       samples.weight_squares;
	side->cost = (double)samples.total.weight / (side->executions ? side->executions : 1);
	return 0;
}

static int rows_make(const struct run *a, const struct run *b, struct profile_options *options,
	struct diff_view *view, struct err *err)
{
	profile_auto struct profile_view left = {0}, right = {0};
	struct joiner joiner = {.view = view, .by_role = program_is_seen(a) && program_is_seen(b)};
	int r = side_make(a, options, &left, &view->a, err);

	if (r >= 0) {
		options->filter.event = *view->a.event ? view->a.event : NULL;
		r = side_make(b, options, &right, &view->b, err);
	}
	if (r < 0)
		return r;
	view->unit = view->a.quality.unit;
	if (!view->a.quality.weighted || !view->b.quality.weighted)
		view->cost_reason = "the samples of one side have no weights";
	else if (a->partial || b->partial)
		view->cost_reason = "one side is partial, so its sum is too low";
	if (view->cost_reason)
		view->a.cost = view->b.cost = (double)NAN;
	if (!left.all.samples || !right.all.samples) {
		refuse(view, arena_format(&view->texts, "the filters leave no samples of %s",
				     left.all.samples ? "B" : "A"));
		return 0;
	}
	join_side(&joiner, a, &left, false);
	join_side(&joiner, b, &right, true);
	map_done(&joiner.rows);
	rows_judge(view);
	vec_sort(&view->rows, compare_rows);
	return 0;
}

int diff_profile_make(const struct run *a, const struct run *b, const struct diff_options *options,
	struct diff_view *ret_view, struct err *err)
{
	struct profile_options profile = {
		.filter = options->filter, .by = options->by, .by_total = options->by_total};
	diff_profile_auto struct diff_view view = {
		.by = options->by, .by_total = options->by_total};
	int r = compare_kinds(a, b, options, &view, err);

	if (r < 0)
		return r;
	compare_machines(a, b, options, &view);
	if (a->samples.count && b->samples.count && !options->filter.event &&
		!has_event(b, first_event(a)))
		refuse(&view,
			arena_format(&view.texts,
				"A was sampled by %s and B by %s: they count different things",
				first_event(a), first_event(b)));
	view.has_samples = a->samples.count && b->samples.count;
	if (!view.refusals.count && view.has_samples)
		r = rows_make(a, b, &profile, &view, err);
	if (r < 0)
		return r;
	*ret_view = view;
	view = (struct diff_view){0};
	return 0;
}

void diff_profile_done(struct diff_view *view)
{
	profile_quality_done(&view->a.quality);
	profile_quality_done(&view->b.quality);
	fingerprint_comparison_done(&view->machines);
	vec_done(&view->rows);
	vec_done(&view->refusals);
	arena_done(&view->texts);
}
