/* round.c - see round.h.
 *
 * A gain is less time: 0.2 means that a fifth is gone, a ratio of 0.8.  The promise was made for a
 * place that takes `at` less of its own time; a change may do more or less than that to it, so
 * "more" and "less" are answers, not errors. */
#include "analyze/round.h"

#include <errno.h>
#include <math.h>

#include "analyze/answer.h"
#include "analyze/bench.h"
#include "analyze/causal_view.h"
#include "base/str.h"
#include "model/manifest.h"
#include "model/rounds.h"

/* Two sessions of one program differ by about this, besides what the runs of each vary; and by so
 * much of what other programs had of the CPUs.  Six sessions of examples/service beside a counting
 * process for each CPU (0.64 of the CPUs) had medians of 7.2, 5.6, 5.3, 4.8, 5.3 and 4.7 s of wall
 * time, of which the runs of one session knew nothing, and 3.7 to 4.2 s of CPU time. */
#define SESSIONS_DIFFER 0.01
#define WALL_BY_OTHERS 0.25
#define CPU_BY_OTHERS 0.15

const char *round_promise_word(enum round_promise promise)
{
	static const char *const words[] = {"none", "arrived", "less", "more", "open"};

	return words[promise];
}

/* As a deviation of the logarithm. */
static double sessions_differ(enum bench_measure measure, double others)
{
	double by_others = measure == BENCH_WALL_NS ? WALL_BY_OTHERS : CPU_BY_OTHERS;

	return hypot(SESSIONS_DIFFER, others > 0 ? by_others * others : 0);
}

struct two_sessions {
	const struct bench_command *before, *after;
	double others_share;
};

static int metric_compare(const struct two_sessions *two, enum bench_measure measure,
	struct arena *arena, struct comparison *ret_comparison, struct err *err)
{
	const struct bench_command *a = two->before, *b = two->after;
	bool cpu = measure == BENCH_CPU_NS;
	struct compare_input pair = {
		.name = cpu				? "cpu time"
			: measure == BENCH_CORRECTED_NS ? "corrected wall time"
							: "wall time",
		.kind = cpu ? COMPARE_CPU : COMPARE_WALL,
	};
	double *values_a = arena_take(arena, (a->run_count + 1) * sizeof(*values_a));
	double *values_b = arena_take(arena, (b->run_count + 1) * sizeof(*values_b));

	pair.a_count = bench_values(a, measure, values_a);
	pair.b_count = bench_values(b, measure, values_b);
	pair.a = values_a;
	pair.b = values_b;
	return compare_samples(&pair,
		&(struct compare_rule){.session = sessions_differ(measure, two->others_share)},
		ret_comparison, err);
}

static double finite_or_nan(double value)
{
	return isfinite(value) ? value : (double)NAN;
}

static int times_compare(const struct round_input *input, struct arena *arena,
	struct round_view *view, struct err *err)
{
	struct bench_view before, after;
	struct two_sessions two = {.others_share = input->others_share};
	enum bench_measure times[] = {BENCH_WALL_NS, BENCH_CPU_NS};
	struct comparison items[2];
	int r = bench_view_make(input->before_run, false, arena, &before, err);

	if (r >= 0)
		r = bench_view_make(input->after_run, false, arena, &after, err);
	if (r < 0)
		return r;
	if (!before.command_count || !after.command_count || !before.commands[0].used_count ||
		!after.commands[0].used_count)
		return 0;
	two.before = &before.commands[0];
	two.after = &after.commands[0];
	times[0] = bench_time_of_two(two.before, two.after);
	view->corrected = times[0] == BENCH_CORRECTED_NS;
	for (unsigned i = 0; r >= 0 && i < 2; i++)
		r = metric_compare(&two, times[i], arena, &items[i], err);
	if (r < 0)
		return r;
	compare_family(items, 2);
	view->has_baselines = true;
	view->wall = items[0];
	view->cpu = items[1];
	view->verdict = compare_decide(items, 2);
	view->verdict.by = view->verdict.by == &items[1] ? &view->cpu : &view->wall;
	view->before_ns = two.before->wall.median;
	view->after_ns = two.after->wall.median;
	view->ratio = 1 + view->wall.effect;
	view->ratio_lo = finite_or_nan(1 + view->wall.lo);
	view->ratio_hi = finite_or_nan(1 + view->wall.hi);
	return 0;
}

static void promise_judge(const struct round_input *input, struct round_view *view)
{
	const struct manifest_promise *p = &input->before->promise;
	double lo, hi;

	view->promised_location = p->location;
	view->is_place_unchanged = input->is_place_unchanged;
	if (input->is_place_unchanged)
		return;
	view->promised = input->reached ? input->reached->gain : p->gain;
	view->promised_lo = input->reached ? input->reached->lo : p->lo;
	view->promised_hi = input->reached ? input->reached->hi : p->hi;
	view->promised_at = input->reached ? input->reached->speedup : p->at;
	if (!isfinite(view->promised) || !isfinite(view->promised_lo) ||
		!isfinite(view->promised_hi))
		return;
	view->promise = ROUND_PROMISE_OPEN;
	if (!isfinite(view->gained_lo) || !isfinite(view->gained_hi))
		return;
	lo = view->gained_lo;
	hi = view->gained_hi;
	/* Runs that cannot tell a gain from none can still exclude the promised one. */
	if (hi < view->promised_lo)
		view->promise = ROUND_PROMISE_LESS;
	else if (view->verdict.outcome == COMPARE_IMPROVED && lo > 0)
		view->promise = lo > view->promised_hi ? ROUND_PROMISE_MORE : ROUND_PROMISE_ARRIVED;
}

static void next_choose(const struct round_input *input, struct round_view *view)
{
	enum compare_outcome outcome = view->verdict.outcome;
	/* CPU time stands in for a wall time that cannot tell. */
	const struct comparison *by =
		view->wall.outcome == COMPARE_INCONCLUSIVE ? view->verdict.by : &view->wall;
	bool small = outcome != COMPARE_INCONCLUSIVE && fabs(by->effect) < ROUND_RATIO_STOP;

	if (!view->has_baselines) {
		view->next = "measure again: one of the two has no baseline";
	} else if (outcome == COMPARE_REGRESSED) {
		view->next = "undo the change: it made the program slower";
	} else if (outcome == COMPARE_INCONCLUSIVE) {
		view->next = "measure again with a longer --budget: these runs cannot tell";
	} else if (small) {
		view->stop = true;
		view->next = "stop here: this round gained less than 5 %";
	} else if (!isfinite(input->next_score)) {
		view->stop = true;
		view->next = "stop here: no place is first now";
	} else if (!hotspot_is_worth(input->next_score, input->next_gain_lo)) {
		view->stop = true;
		view->next = "stop here: the next candidate scores below 2";
	} else {
		view->next = "continue with the place that is first now";
	}
}

static void machines_compare(const struct round_input *input,
	struct fingerprint_comparison *comparison, struct round_view *view)
{
	fingerprint_compare(comparison, input->before_run, input->after_run);
	view->class = comparison->class;
	view->differences = comparison->differences.at;
	while (view->difference_count < comparison->differences.count &&
		comparison->differences.at[view->difference_count].severity != FINGERPRINT_INFO)
		view->difference_count++;
}

int round_make(const struct round_input *input, struct fingerprint_comparison *comparison,
	struct arena *arena, struct round_view *ret_view, struct err *err)
{
	const struct manifest *before = input->before, *after = input->after;
	double so_far = isfinite(before->compounded) ? before->compounded : 1;
	int r = 0;

	*ret_view = (struct round_view){
		.round = before->round + 1,
		.before_id = before->run_id,
		.after_id = after->run_id,
		.before_ns = (double)NAN,
		.after_ns = (double)NAN,
		.ratio = (double)NAN,
		.ratio_lo = (double)NAN,
		.ratio_hi = (double)NAN,
		.promised = (double)NAN,
		.promised_lo = (double)NAN,
		.promised_hi = (double)NAN,
		.promised_at = (double)NAN,
		.output_changed = *before->output_sha256 && *after->output_sha256 &&
				  !str_equal(before->output_sha256, after->output_sha256),
	};
	if (input->before_run && input->after_run) {
		machines_compare(input, comparison, ret_view);
		r = times_compare(input, arena, ret_view, err);
	}
	if (r < 0)
		return r;
	ret_view->compounded = so_far * ret_view->ratio;
	ret_view->gained = 1 - ret_view->ratio;
	ret_view->gained_lo = 1 - ret_view->ratio_hi;
	ret_view->gained_hi = 1 - ret_view->ratio_lo;
	promise_judge(input, ret_view);
	next_choose(input, ret_view);
	return 0;
}

struct round_row round_row_of(
	const struct manifest *job, const struct round_view *round, const char *first)
{
	struct round_row row = {
		.time_ns = job->time_ns,
		.run_id = job->run_id,
		.target = job->target,
		.fingerprint = job->fingerprint,
		.against = "",
		.verdict = "",
		.first = first,
		.before_ns = (double)NAN,
		.after_ns = job->median_ns,
		.ratio = (double)NAN,
		.ratio_lo = (double)NAN,
		.ratio_hi = (double)NAN,
		.compounded = job->compounded,
		.promised = (double)NAN,
		.promised_lo = (double)NAN,
		.promised_hi = (double)NAN,
		.score = job->promise.score,
	};

	if (!round)
		return row;
	row.round = round->round;
	row.against = round->before_id;
	row.verdict = round->has_baselines ? compare_outcome_name(round->verdict.outcome) : "";
	row.before_ns = round->before_ns;
	row.ratio = round->ratio;
	row.ratio_lo = round->ratio_lo;
	row.ratio_hi = round->ratio_hi;
	row.promised = 1 - round->promised; /* a gain is less time: its ratio */
	row.promised_lo = 1 - round->promised_hi;
	row.promised_hi = 1 - round->promised_lo;
	return row;
}

struct round_line_view round_line_of(const struct round_row *row)
{
	return (struct round_line_view){
		.round = row->round,
		.run_id = row->run_id,
		.target = row->target,
		.against = row->against,
		.verdict = row->verdict,
		.first = row->first,
		.before_ns = row->before_ns,
		.after_ns = row->after_ns,
		.ratio = row->ratio,
		.ratio_lo = row->ratio_lo,
		.ratio_hi = row->ratio_hi,
		.compounded = row->compounded,
		.promised = row->promised,
	};
}
