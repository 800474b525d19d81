/* gate.c - see gate.h.
 *
 * A gate asks another question than `ab`: not "is it the same", but "is it worse than what we let
 * through".  So an interval that ends below the failing bound passes, even where it is too wide to
 * call the two equal; only one that reaches across the bound is inconclusive.
 *
 * Runs of two sessions differ by what the machine did in between.  Rank tests on such data raised
 * 33 to 47 % false alarms at p < 0.05 on a loaded machine (facts of 010-statistics), mostly on wall
 * time; hence the second opinion that wall time needs. */
#include "analyze/gate.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gate_parts.h"
#include "model/run.h"

/* The median peak RSS of one small program moved by 176 KiB over four measurements: pages of
 * libraries that
 * happen to be mapped, and the environment of random size. */
#define RSS_STEP_BYTES 262144.0

/* On a machine that is known to be loud wall time alone must double.  With the failing bound of 5 %
 * 4 of 120 comparisons of a program with itself failed at load 7 to 12 on 2 CPUs, all of them by
 * wall time alone. */
#define WALL_ALONE_SHARE 1.0

const char *gate_decision_name(enum gate_decision decision)
{
	static const char *const names[] = {"pass", "warn", "inconclusive", "fail", "refused"};

	return names[decision];
}

static bool is_noise(const struct fingerprint_difference *difference)
{
	return difference->severity == FINGERPRINT_WARN && str_starts(difference->field, "noise.");
}

void gate_compare_machines(struct gate_comparability *comparability,
	const struct run *const *baselines, uint32_t count, const struct run *candidate)
{
	*comparability = (struct gate_comparability){
		.each = mem_new(count, sizeof(*comparability->each)),
		.known = true,
	};
	for (uint32_t i = 0; i < count; i++) {
		struct fingerprint_comparison *one = &comparability->each[comparability->count];

		if (!baselines[i]->fields.count || !candidate->fields.count) {
			comparability->known = false;
			if (comparability->class < ADVISORY)
				comparability->class = ADVISORY;
			continue;
		}
		fingerprint_compare(one, baselines[i], candidate);
		comparability->count++;
		if (one->class > comparability->class)
			comparability->class = one->class;
	}
	comparability->noise = comparability->known && count ? GATE_QUIET : GATE_NOISE_UNKNOWN;
	for (uint32_t i = 0; i < comparability->count; i++)
		vec_foreach (const struct fingerprint_difference, difference,
			&comparability->each[i].differences)
			if (is_noise(difference))
				comparability->noise = GATE_LOUD;
}

void gate_comparability_done(struct gate_comparability *comparability)
{
	for (uint32_t i = 0; i < comparability->count; i++)
		fingerprint_comparison_done(&comparability->each[i]);
	mem_free_pointer(&comparability->each);
}

/* The command of a baseline that the candidate's is held against: the one in its place, else the
 * first of that name; where both have one command only, whatever it is called. */
static const struct bench_command *command_match(
	const struct bench_view *baseline, const struct bench_view *candidate, uint32_t index)
{
	const char *name = candidate->commands[index].name;

	if (index < baseline->command_count && str_equal(baseline->commands[index].name, name))
		return &baseline->commands[index];
	for (uint32_t i = 0; i < baseline->command_count; i++)
		if (str_equal(baseline->commands[i].name, name))
			return &baseline->commands[i];
	return baseline->command_count == 1 && candidate->command_count == 1
		       ? &baseline->commands[0]
		       : NULL;
}

static bool all_above_zero(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] <= 0)
			return false;
	return count > 0;
}

/* What is judged: one command of the candidate and its counterparts. */
struct match {
	const struct bench_command *candidate;
	const struct bench_command **baselines;
	uint32_t count, runs;
};

static struct match match_make(const struct gate_input *input, uint32_t index, struct arena *arena)
{
	struct match match = {.candidate = &input->candidate->commands[index]};

	match.baselines = arena_take(arena, input->baseline_count * sizeof(*match.baselines));
	for (uint32_t i = 0; i < input->baseline_count; i++) {
		const struct bench_command *one =
			command_match(input->baselines[i], input->candidate, index);

		if (one && one->used_count) {
			match.baselines[match.count++] = one;
			match.runs += one->used_count;
		}
	}
	return match;
}

/* Why the metric cannot be judged, NULL: it can. */
static const char *metric_refuse(
	const struct match *match, enum gate_metric metric, const struct compare_input *pair)
{
	double floor = (double)match->candidate->rss_floor_bytes;

	if (!all_above_zero(pair->a, pair->a_count) || !all_above_zero(pair->b, pair->b_count))
		return metric == GATE_CPU ? "a run used less than the kernel can account for"
					  : "one side was not measured";
	if (metric == GATE_RSS && match->candidate->rss.median <= floor &&
		match->baselines[0]->rss.median <= floor)
		return "it is too small to measure";
	return NULL;
}

/* The values of all baselines and of the candidate, into arrays with room for them. */
static void values_take(const struct match *match, enum bench_measure measure, double *a, double *b,
	struct compare_input *pair)
{
	pair->a = a;
	pair->b = b;
	for (uint32_t i = 0; i < match->count; i++)
		pair->a_count += bench_values(match->baselines[i], measure, a + pair->a_count);
	pair->b_count = bench_values(match->candidate, measure, b);
}

/* Wall time as it was, beside the corrected one. */
static int plain_make(const struct gate_input *input, const struct match *match,
	struct gate_command *command, struct err *err)
{
	mem_auto double *a = mem_new(match->runs, sizeof(*a));
	mem_auto double *b = mem_new(match->candidate->used_count, sizeof(*b));
	struct compare_input pair = {.name = gate_metric_name(GATE_WALL), .kind = COMPARE_WALL};
	struct compare_rule rule = {.min_effect = input->min_effect};

	values_take(match, BENCH_WALL_NS, a, b, &pair);
	command->plain_wall = (struct gate_item){.metric = GATE_WALL};
	return compare_samples(&pair, &rule, &command->plain_wall.comparison, err);
}

static enum bench_measure measure_of(const struct gate_command *command, enum gate_metric metric)
{
	static const enum bench_measure measures[GATE_METRICS] = {[GATE_WALL] = BENCH_WALL_NS,
		[GATE_CPU] = BENCH_CPU_NS,
		[GATE_RSS] = BENCH_RSS_BYTES};

	return metric == GATE_WALL && command->corrected ? BENCH_CORRECTED_NS : measures[metric];
}

static int item_make(const struct gate_input *input, const struct match *match,
	enum gate_metric metric, struct gate_command *command, struct err *err)
{
	static const enum compare_kind kinds[GATE_METRICS] = {
		[GATE_WALL] = COMPARE_WALL, [GATE_CPU] = COMPARE_CPU, [GATE_RSS] = COMPARE_OTHER};
	mem_auto double *a = mem_new(match->runs, sizeof(*a));
	mem_auto double *b = mem_new(match->candidate->used_count, sizeof(*b));
	struct gate_item *item = &command->items[command->item_count];
	struct compare_input pair = {.name = gate_metric_name(metric), .kind = kinds[metric]};
	struct compare_rule rule = {.min_effect = input->min_effect};

	if (metric == GATE_WALL && command->corrected)
		pair.name = bench_time_name(BENCH_CORRECTED_NS);
	values_take(match, measure_of(command, metric), a, b, &pair);
	command->unjudged[metric] = metric_refuse(match, metric, &pair);
	if (command->unjudged[metric])
		return 0;
	*item = (struct gate_item){.metric = metric};
	/* The history keeps wall time: what varied there is what was taken out here. */
	if (input->history && measure_of(command, metric) != BENCH_CORRECTED_NS)
		item->noise = gate_history_noise(
			input->history, match->candidate->name, input->fingerprint, metric);
	rule.noise_iqr = item->noise.iqr;
	if (metric == GATE_RSS)
		rule.min_effect =
			fmax(rule.min_effect, RSS_STEP_BYTES / match->baselines[0]->rss.median);
	command->item_count++;
	return compare_samples(&pair, &rule, &item->comparison, err);
}

/* Is corrected wall time to be judged: of all sides, or of none. */
static void command_correct(
	const struct match *match, struct arena *arena, struct gate_command *command)
{
	const struct bench_command **all = arena_take(arena, (match->count + 1) * sizeof(*all));
	uint32_t count = match->count + 1;

	if (!match->count)
		return;
	for (uint32_t i = 0; i < match->count; i++)
		all[i] = match->baselines[i];
	all[match->count] = match->candidate;
	command->may_have_waited = bench_may_have_waited(all, count);
	command->uncorrected = bench_first_uncorrected(all, count);
	command->corrected = bench_time_measure(all, count) == BENCH_CORRECTED_NS;
}

static int command_make(const struct gate_input *input, const struct match *match,
	struct arena *arena, struct gate_command *command, struct err *err)
{
	int r = 0;

	*command = (struct gate_command){
		.candidate = match->candidate,
		.baselines = match->baselines,
		.baseline_count = match->count,
		.baseline_runs = match->runs,
		.items = arena_take(arena, GATE_METRICS * sizeof(*command->items)),
	};
	if (input->judges[GATE_WALL])
		command_correct(match, arena, command);
	if (command->corrected)
		r = plain_make(input, match, command, err);
	for (enum gate_metric metric = 0; r >= 0 && metric < GATE_METRICS; metric++)
		if (!match->count)
			command->unjudged[metric] = "there is no baseline";
		else if (!input->judges[metric])
			command->unjudged[metric] = "--metrics excludes it";
		else
			r = item_make(input, match, metric, command, err);
	return r;
}

/* All items of all commands are one family. */
static void family_correct(struct gate_view *view)
{
	mem_auto struct comparison *all = mem_new(view->command_count * GATE_METRICS, sizeof(*all));
	size_t count = 0;

	for (uint32_t i = 0; i < view->command_count; i++)
		for (uint32_t k = 0; k < view->commands[i].item_count; k++)
			all[count++] = view->commands[i].items[k].comparison;
	compare_family(all, count);
	count = 0;
	for (uint32_t i = 0; i < view->command_count; i++)
		for (uint32_t k = 0; k < view->commands[i].item_count; k++)
			view->commands[i].items[k].comparison = all[count++];
}

const struct gate_item *gate_item_of(const struct gate_command *command, enum gate_metric metric)
{
	for (uint32_t i = 0; i < command->item_count; i++)
		if (command->items[i].metric == metric)
			return &command->items[i];
	return NULL;
}

static double wall_least(const struct gate_command *command, const struct bench_command *side)
{
	return command->corrected ? side->corrected.min : side->wall.min;
}

/* Load makes most runs slower, but hardly the fastest one; the program itself makes all slower. */
static bool fastest_is_slower(const struct gate_command *command, double share)
{
	double then = HUGE_VAL;

	for (uint32_t i = 0; i < command->baseline_count; i++)
		then = fmin(then, wall_least(command, command->baselines[i]));
	return wall_least(command, command->candidate) > then * (1 + share);
}

/* CPU time bears wall time out only when it is as bad: 3 % more of it explain no 50 % on the wall.
 */
static bool cpu_fails(const struct gate_view *view, const struct gate_item *cpu)
{
	return cpu->comparison.outcome == COMPARE_REGRESSED &&
	       gate_severity_of(&view->preset, cpu->comparison.effect) >= view->preset.fail_on;
}

static bool item_is_clear(const struct gate_view *view, const struct gate_command *command,
	const struct gate_item *item, enum gate_noise_level noise)
{
	const struct comparison *one = &item->comparison;
	const struct gate_item *cpu = gate_item_of(command, GATE_CPU);
	double bound =
		noise == GATE_LOUD ? fmax(view->fail_above, WALL_ALONE_SHARE) : view->fail_above;

	/* Three runs of another day fail no change. */
	if (one->a_count < COMPARE_RUNS_GOOD || one->b_count < COMPARE_RUNS_GOOD)
		return false;
	if (item->metric != GATE_WALL || noise == GATE_QUIET || (cpu && cpu_fails(view, cpu)))
		return one->lo > one->min_effect;
	return one->lo > bound && fastest_is_slower(command, bound);
}

/* As in `ab`: what takes less of one time and not more of the other is let through. */
static bool time_improved(const struct gate_command *command)
{
	bool improved = false;

	for (enum gate_metric metric = GATE_WALL; metric <= GATE_CPU; metric++) {
		const struct gate_item *item = gate_item_of(command, metric);

		if (item && item->comparison.outcome == COMPARE_REGRESSED)
			return false;
		improved |= item && item->comparison.outcome == COMPARE_IMPROVED;
	}
	return improved;
}

/* Is it below what fails?  The interval that says "equivalent" is enough, unless it excludes 0:
 * then it would be shown beside a p that finds no change. */
static bool item_is_below(const struct gate_view *view, struct gate_item *item)
{
	struct comparison same = item->comparison;

	if (same.hi <= view->fail_above)
		return true;
	compare_show(&same, same.same_confidence);
	if (same.hi > view->fail_above || same.lo > 0)
		return false;
	item->comparison = same;
	return true;
}

static void item_judge(const struct gate_view *view, const struct gate_command *command,
	struct gate_item *item, enum gate_noise_level noise)
{
	const struct comparison *one = &item->comparison;

	if (one->outcome != COMPARE_REGRESSED) {
		bool known = one->outcome != COMPARE_INCONCLUSIVE || item_is_below(view, item) ||
			     (item->metric != GATE_RSS && time_improved(command));

		item->decision = known ? GATE_PASS : GATE_UNKNOWN;
		return;
	}
	item->severity = gate_severity_of(&view->preset, one->effect);
	item->clear = item_is_clear(view, command, item, noise);
	if (item->severity >= view->preset.fail_on)
		item->decision = item->clear && !view->advisory ? GATE_FAIL : GATE_UNKNOWN;
	else
		item->decision = item->severity > GATE_NONE ? GATE_WARN : GATE_PASS;
}

/* compare_decide() over the items, which do not lie side by side. */
static void command_decide(struct gate_command *command, struct arena *arena)
{
	struct comparison *all = arena_take(arena, command->item_count * sizeof(*all));

	for (uint32_t i = 0; i < command->item_count; i++)
		all[i] = command->items[i].comparison;
	command->verdict = compare_decide(all, command->item_count);
}

int gate_make(const struct gate_input *input, struct arena *arena, struct gate_view *ret_view,
	struct err *err)
{
	uint32_t most = input->candidate->command_count;
	struct gate_input own = *input;
	struct gate_view view = {
		.preset = input->preset,
		.advisory = input->advisory,
		.min_effect = input->min_effect > 0 ? input->min_effect
						    : gate_preset_least(&input->preset),
		.fail_above = gate_preset_limit(&input->preset),
	};
	int r = 0;

	own.min_effect = view.min_effect;
	view.commands = arena_take(arena, most * sizeof(*view.commands));
	view.unmatched = arena_take(arena, most * sizeof(*view.unmatched));
	for (uint32_t i = 0; r >= 0 && i < most; i++) {
		struct match match = match_make(&own, i, arena);

		if (own.only && !strstr(match.candidate->name, own.only))
			continue;
		if (!match.count && own.baseline_count)
			view.unmatched[view.unmatched_count++] = match.candidate->name;
		r = command_make(&own, &match, arena, &view.commands[view.command_count++], err);
	}
	if (r < 0)
		return r;
	family_correct(&view);
	for (uint32_t i = 0; i < view.command_count; i++) {
		struct gate_command *command = &view.commands[i];

		command_decide(command, arena);
		for (uint32_t k = 0; k < command->item_count; k++)
			item_judge(&view, command, &command->items[k], own.noise);
	}
	gate_budgets_judge(&view, own.budgets, arena);
	gate_decide(&view);
	*ret_view = view;
	return 0;
}
