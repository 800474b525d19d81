/* bench.c - see bench.h.
 *
 * Nothing is thrown away: a run far from the others stays in every number and is named with what
 * went with it.  The cause of such a run is what explains at least half of its excess over the
 * median, asked in the order of how much it proves. */
#include "analyze/bench.h"

#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/words.h"
#include "bench_parts.h"
#include "model/run.h"

enum { WARMUP_MAX = 10 };

const char *bench_cause_text(enum bench_cause cause)
{
	static const char *const texts[BENCH_CAUSES] = {
		[BENCH_CAUSE_NONE] = "",
		[BENCH_CAUSE_WARMUP] = "before the times were stable",
		[BENCH_CAUSE_DISK] = "pages came from disk",
		[BENCH_CAUSE_STEAL] = "steal: the host took the CPU",
		[BENCH_CAUSE_CPU] = "it used more CPU time itself",
		[BENCH_CAUSE_PUSHED] = "preempted by other programs",
		[BENCH_CAUSE_PRESSURE] = "tasks waited for a CPU",
		[BENCH_CAUSE_WAITED] = "it waited more often",
		[BENCH_CAUSE_FASTER] = "faster than the other runs",
		[BENCH_CAUSE_UNKNOWN] = "nothing measured explains it",
	};

	return texts[cause];
}

/* Whether an imported run tells this too. */
static bool is_told(unsigned flags, unsigned flag)
{
	return (flags & (EXECUTION_NO_USAGE | flag)) != EXECUTION_NO_USAGE;
}

struct bench_run bench_run_at(const struct bench_command *command, uint32_t index)
{
	const struct bench_mark *mark = &command->marks[index];
	const struct execution_row row = run_execution(command->run, mark->position);
	unsigned flags = row.flags;

	return (struct bench_run){
		.number = index + 1 - (index < command->warmup_count ? 0 : command->warmup_count),
		.position = mark->position,
		.start_ns = row.start_ns,
		.wall_ns = row.wall_ns,
		.user_ns = row.user_ns,
		.system_ns = row.system_ns,
		.max_rss_bytes = row.max_rss_bytes,
		.minor_faults = (uint32_t)row.minor_faults,
		.major_faults = (uint32_t)row.major_faults,
		.voluntary_switches = (uint32_t)row.voluntary_switches,
		.involuntary_switches = (uint32_t)row.involuntary_switches,
		.steal_ns = row.steal_ns,
		.pressure_ns = row.pressure_ns,
		.queue_ns = row.queue_ns,
		.has_steal = flags & EXECUTION_STEAL,
		.has_queue = flags & EXECUTION_QUEUE,
		.parallel = flags & EXECUTION_PARALLEL,
		.has_pressure = flags & EXECUTION_PRESSURE,
		.has_usage = !(flags & EXECUTION_NO_USAGE),
		.has_cpu = is_told(flags, EXECUTION_CPU),
		.has_rss = is_told(flags, EXECUTION_RSS),
		.has_exit = is_told(flags, EXECUTION_EXIT),
		.failed = flags & EXECUTION_FAILED,
		.exit_status = (int16_t)row.exit_status,
		.signal = (int16_t)row.signal,
		.throttled = flags & EXECUTION_THROTTLED,
		.wrong_output = flags & EXECUTION_WRONG_OUTPUT,
		.warmup = flags & EXECUTION_WARMUP,
		.interrupted = flags & EXECUTION_INTERRUPTED,
		.leftovers = flags & EXECUTION_LEFTOVERS,
		.timed_out = flags & EXECUTION_TIMED_OUT,
		.noise = mark->noise,
		.used = mark->used,
		.far = mark->far,
		.cause = mark->cause,
	};
}

/* Judge run `index`, whose mark has its position only. */
static void command_take(
	struct bench_command *command, uint32_t index, bool ignore_failure, struct arena *arena)
{
	struct bench_mark *mark = &command->marks[index];
	struct bench_run run = bench_run_at(command, index);
	bool failed = (run.exit_status || run.signal || run.failed) && !run.interrupted;

	mark->used = !run.warmup && !run.interrupted && !run.timed_out && !run.wrong_output &&
		     (!failed || ignore_failure);
	mark->noise = (uint8_t)bench_noise_of(&run);
	command->used_count += mark->used;
	command->failed_count += failed || run.wrong_output;
	command->leftover_count += run.leftovers;
	command->timed_out_count += run.timed_out;
	if (!command->failed && (failed || run.timed_out || run.wrong_output)) {
		struct bench_run *first = arena_take(arena, sizeof(*first));

		*first = bench_run_at(command, index);
		command->failed = first;
	}
}

/* The medians that a run far off is held against. */
struct usual {
	double wall, cpu, major, pushed, waited, pressure, steal;
};

static enum bench_cause cause_of(
	const struct bench_command *command, const struct bench_run *run, const struct usual *usual)
{
	double excess = (double)run->wall_ns - usual->wall, half = excess / 2;

	if (excess < 0)
		return BENCH_CAUSE_FASTER;
	if ((double)run->major_faults > usual->major)
		return BENCH_CAUSE_DISK;
	if (run->has_steal && (double)run->steal_ns - usual->steal >= half)
		return BENCH_CAUSE_STEAL;
	if (command->warms_up && run->number <= command->wall.warm_after)
		return BENCH_CAUSE_WARMUP;
	if (bench_run_measure(run, BENCH_CPU_NS) - usual->cpu >= half)
		return BENCH_CAUSE_CPU;
	if ((double)run->involuntary_switches > usual->pushed)
		return BENCH_CAUSE_PUSHED;
	if (run->has_pressure && (double)run->pressure_ns - usual->pressure >= half)
		return BENCH_CAUSE_PRESSURE;
	if ((double)run->voluntary_switches > usual->waited)
		return BENCH_CAUSE_WAITED;
	return BENCH_CAUSE_UNKNOWN;
}

static void causes_find(struct bench_command *command, double *values)
{
	struct usual usual = {
		.wall = command->wall.median,
		.cpu = command->cpu.median,
		.major = bench_median(command, BENCH_MAJOR_FAULTS),
		.pushed = bench_median(command, BENCH_PUSHES),
		.waited = bench_median(command, BENCH_WAITS),
		.pressure = bench_median(command, BENCH_PRESSURE_NS),
		.steal = bench_median(command, BENCH_STEAL_NS),
	};
	double sigma;

	stats_sort(values, bench_values(command, BENCH_WALL_NS, values));
	sigma = stats_robust_sigma_sorted(values, command->used_count);
	for (uint32_t i = 0; i < command->run_count; i++) {
		struct bench_mark *mark = &command->marks[i];
		struct bench_run run;

		if (!mark->used)
			continue;
		run = bench_run_at(command, i);
		mark->far = (uint8_t)outlier_class_of((double)run.wall_ns, usual.wall, sigma);
		if (mark->far == OUTLIER_NONE)
			continue;
		mark->cause = (uint8_t)cause_of(command, &run, &usual);
		command->causes[mark->cause]++;
	}
}

/* The three series of a command, in the order of measurement. */
static int summaries_make(struct bench_command *command, double *values, struct err *err)
{
	static const enum bench_measure measures[] = {BENCH_WALL_NS, BENCH_CPU_NS, BENCH_RSS_BYTES};
	struct summary *summaries[] = {&command->wall, &command->cpu, &command->rss};
	int r = 0;

	for (unsigned k = 0; r >= 0 && k < 3; k++) {
		size_t count = 0;

		for (uint32_t i = 0; i < command->run_count; i++) {
			struct bench_run run = bench_run_at(command, i);

			if (run.used && (k == 0 || (k == 1 ? run.has_cpu : run.has_rss)))
				values[count++] = bench_run_measure(&run, measures[k]);
		}
		r = summary_make(values, count, summaries[k], err);
	}
	command->warms_up = command->wall.warm_after && command->wall.warm_after <= WARMUP_MAX;
	command->user_ns = command->cpu.count ? bench_median(command, BENCH_USER_NS) : (double)NAN;
	command->system_ns =
		command->cpu.count ? bench_median(command, BENCH_SYSTEM_NS) : (double)NAN;
	return r;
}

uint32_t bench_pairs_find(const struct bench_command *a, const struct bench_command *b,
	struct arena *arena, struct bench_pair **ret_pairs)
{
	uint32_t most = a->used_count < b->used_count ? a->used_count : b->used_count, count = 0;
	struct bench_pair *pairs = arena_take(arena, most * sizeof(*pairs));
	uint32_t i = a->warmup_count, k = b->warmup_count;

	for (; i < a->run_count && k < b->run_count; i++, k++)
		if (a->marks[i].used && b->marks[k].used)
			pairs[count++] = (struct bench_pair){i, k};
	*ret_pairs = pairs;
	return count;
}

/* The pairs of two commands, by one time. */
struct pairing {
	const struct bench_command *first, *second;
	enum bench_measure time;
	const struct bench_pair *pairs;
	uint32_t count;
};

static int pairs_compare(
	const struct pairing *two, struct comparison *ret_comparison, struct err *err)
{
	const struct compare_rule rule = {0};
	mem_auto double *a = mem_new(two->count, sizeof(*a));
	mem_auto double *b = mem_new(two->count, sizeof(*b));
	const struct compare_input input = {
		bench_time_name(two->time), COMPARE_WALL, a, b, two->count, two->count};

	for (uint32_t i = 0; i < two->count; i++) {
		a[i] = bench_measure_at(two->first, two->pairs[i].a, two->time);
		b[i] = bench_measure_at(two->second, two->pairs[i].b, two->time);
	}
	return compare_pairs(&input, &rule, ret_comparison, err);
}

/* Runs that were not in turns: the two sets as they are, at most advisory. */
static int sets_compare(
	const struct pairing *two, struct comparison *ret_comparison, struct err *err)
{
	const struct compare_rule rule = {0};
	mem_auto double *a = mem_new(two->first->used_count, sizeof(*a));
	mem_auto double *b = mem_new(two->second->used_count, sizeof(*b));
	const struct compare_input input = {bench_time_name(two->time), COMPARE_WALL, a, b,
		bench_values(two->first, two->time, a), bench_values(two->second, two->time, b)};

	return compare_samples(&input, &rule, ret_comparison, err);
}

/* The time to compare all commands by, and which of them is the fastest by it. */
static void fastest_find(struct bench_view *view)
{
	mem_auto const struct bench_command **used = mem_new(view->command_count, sizeof(*used));
	uint32_t count = 0;
	double best = HUGE_VAL;

	for (uint32_t i = 0; i < view->command_count; i++)
		if (view->commands[i].used_count)
			used[count++] = &view->commands[i];
	view->time = bench_time_measure(used, count);
	if (bench_may_have_waited(used, count))
		view->uncorrected = bench_first_uncorrected(used, count);
	for (uint32_t i = 0; i < count; i++) {
		bool corrected = view->time == BENCH_CORRECTED_NS;
		double median = corrected ? used[i]->corrected.median : used[i]->wall.median;

		if (median < best) {
			best = median;
			view->fastest = (uint32_t)(used[i] - view->commands);
		}
	}
}

static int ratios_make(struct bench_view *view, struct arena *arena, struct err *err)
{
	const struct bench_command *fastest;
	int r = 0;

	fastest_find(view);
	fastest = &view->commands[view->fastest];
	view->ratios = arena_take(arena, view->command_count * sizeof(*view->ratios));
	for (uint32_t i = 0; r >= 0 && i < view->command_count; i++) {
		const struct bench_command *other = &view->commands[i];
		struct bench_ratio *ratio = &view->ratios[view->ratio_count];
		struct pairing two = {.first = fastest, .second = other, .time = view->time};
		struct bench_pair *pairs;

		if (i == view->fastest)
			continue;
		two.count = bench_pairs_find(fastest, other, arena, &pairs);
		two.pairs = pairs;
		/* A time of 0 (a file can say so) has no ratio to anything. */
		if (!two.count || fastest->wall.min <= 0 || other->wall.min <= 0)
			continue;
		ratio->command = i;
		r = view->blocked ? sets_compare(&two, &ratio->wall, err)
				  : pairs_compare(&two, &ratio->wall, err);
		view->ratio_count++;
	}
	return r;
}

/* How many runs each command has, and the marks with the positions of them. */
static void marks_make(const struct run *run, struct arena *arena, struct bench_view *view)
{
	mem_auto uint32_t *warmups = mem_new(run->commands.count, sizeof(*warmups));
	mem_auto uint32_t *others = mem_new(run->commands.count, sizeof(*others));

	vec_foreach (const struct execution_packed, row, &run->executions)
		if (row->command) {
			struct bench_command *command = &view->commands[row->command - 1];

			command->run_count++;
			command->warmup_count += (row->flags & EXECUTION_WARMUP) != 0;
		}
	for (uint32_t i = 0; i < view->command_count; i++) {
		struct bench_command *command = &view->commands[i];

		command->marks = arena_take(arena, command->run_count * sizeof(*command->marks));
		others[i] = command->warmup_count;
	}
	for (uint32_t i = 0; i < run->executions.count; i++) {
		const struct execution_packed *row = &run->executions.at[i];
		uint32_t command = row->command - 1U;

		if (row->command)
			view->commands[command]
				.marks[row->flags & EXECUTION_WARMUP ? warmups[command]++
								     : others[command]++]
				.position = i + 1;
	}
}

static int commands_make(
	const struct run *run, struct arena *arena, struct bench_view *view, struct err *err)
{
	int r = 0;

	view->commands = arena_take(arena, run->commands.count * sizeof(*view->commands));
	view->command_count = run->commands.count;
	marks_make(run, arena, view);
	for (uint32_t i = 0; r >= 0 && i < run->commands.count; i++) {
		struct bench_command *command = &view->commands[i];
		uint32_t count = command->run_count;
		char **argv = NULL;

		command->run = run;
		command->name = run_text(run, run->commands.at[i].argv);
		r = words_split(command->name, arena, &argv, NULL, err);
		command->argv = argv;
		for (uint32_t k = 0; k < count; k++)
			command_take(command, k, view->ignore_failure, arena);
		if (count)
			command->rss_floor_bytes =
				run_execution(run, command->marks[count - 1].position)
					.rss_floor_bytes;
	}
	return r;
}

bool bench_run_is_blocked(const struct run *run)
{
	uint64_t blocked = 0;

	return run_get_quality(run, "blocked_order", &blocked) && blocked;
}

int bench_view_make(const struct run *run, bool ignore_failure, struct arena *arena,
	struct bench_view *ret_view, struct err *err)
{
	mem_auto double *values = mem_new(run->executions.count, sizeof(*values));
	int r;

	*ret_view = (struct bench_view){
		.ignore_failure = ignore_failure, .blocked = bench_run_is_blocked(run)};
	r = commands_make(run, arena, ret_view, err);
	for (uint32_t i = 0; r >= 0 && i < ret_view->command_count; i++) {
		r = summaries_make(&ret_view->commands[i], values, err);
		if (r >= 0)
			causes_find(&ret_view->commands[i], values);
		if (r >= 0)
			r = bench_noise_find(&ret_view->commands[i], values, err);
		if (r >= 0)
			r = bench_queue_find(&ret_view->commands[i], values, err);
	}
	bench_facts_find(run, arena, ret_view);
	return r < 0 ? r : ratios_make(ret_view, arena, err);
}
