/* bench.c - see bench.h.  The first line of a command is its median with the interval; everything
 * that makes the number doubtful stands below it, in words. */
#include "render/bench.h"

#include <math.h>

#include "render/shorten.h"

enum { TIME_SIZE = 32, NAME_COLUMNS = 60 };
enum { SPLIT_TRUSTED_NS = 50000000 }; /* the kernel scales user and system by ticks below that */

static const char *name_of(const struct bench_command *command, struct str *out)
{
	str_clear(out);
	name_shorten(command->name, NAME_COLUMNS, out);
	return str_text(out);
}

static void interval_text(struct str *out, double lo, double hi)
{
	char low[TIME_SIZE], high[TIME_SIZE];

	if (isfinite(lo) && isfinite(hi))
		str_addf(out, "%s .. %s", paper_time(low, sizeof(low), lo),
			paper_time(high, sizeof(high), hi));
	else
		str_add(out, "no interval with fewer than 6 runs");
}

static const char *spread_word(enum summary_spread spread)
{
	static const char *const words[] = {
		[SUMMARY_SPREAD_UNKNOWN] = "",
		[SUMMARY_SPREAD_TIGHT] = "tight",
		[SUMMARY_SPREAD_USUAL] = "usual",
		[SUMMARY_SPREAD_WIDE] = "wide",
		[SUMMARY_SPREAD_WILD] = "wild",
	};

	return words[spread];
}

static void row_begin(struct table *table, const char *name, const char *value)
{
	table_cell(table, INK_PLAIN, "%s", name);
	table_cell(table, INK_BOLD, "%s", value);
}

static void wall_row(struct table *table, const struct summary *wall)
{
	str_auto struct str interval = {0};
	char value[TIME_SIZE];

	interval_text(&interval, wall->median_interval.lo, wall->median_interval.hi);
	row_begin(table, "wall, median", paper_time(value, sizeof(value), wall->median));
	if (isnan(wall->variation))
		table_cell(table, INK_DIM, "%s", str_text(&interval));
	else
		table_cell(table, INK_DIM, "%s   spread %.1f %% (%s)", str_text(&interval),
			wall->variation * 100, spread_word(wall->spread));
}

/* Where other programs took enough of the time for commands to be compared without it. */
static void corrected_row(struct table *table, const struct bench_command *command)
{
	char value[TIME_SIZE];

	if (bench_time_measure(&command, 1) != BENCH_CORRECTED_NS)
		return;
	row_begin(table, "corrected wall",
		paper_time(value, sizeof(value), command->corrected.median));
	table_cell(table, INK_DIM, "less the time it waited for a CPU, %.1f %%   spread %.1f %%",
		command->queue_share * 100, command->corrected.variation * 100);
}

static void range_row(struct table *table, const struct summary *wall)
{
	char low[TIME_SIZE], high[TIME_SIZE], mean[TIME_SIZE];

	table_cell(table, INK_PLAIN, "min .. max");
	table_cell(table, INK_BOLD, "%s .. %s", paper_time(low, sizeof(low), wall->min),
		paper_time(high, sizeof(high), wall->max));
	table_cell(table, INK_DIM, "mean %s", paper_time(mean, sizeof(mean), wall->mean));
}

/* The percentiles that the runs can tell; of the first that they cannot, what it would take. */
static void percentiles_row(struct table *table, const struct summary *wall)
{
	str_auto struct str known = {0}, note = {0};
	char value[TIME_SIZE];

	for (unsigned i = 2; i < SUMMARY_PERCENTILES && !note.len; i++) {
		const struct summary_percentile *one = &wall->percentiles[i];

		if (one->worst_of_all)
			str_addf(&note, "p%g and up: needs %llu runs; worst of %zu: %s",
				one->share * 100, (unsigned long long)one->needed, wall->count,
				paper_time(value, sizeof(value), wall->max));
		else
			str_addf(&known, "%sp%g %s", known.len ? ", " : "", one->share * 100,
				paper_time(value, sizeof(value), one->value));
	}
	if (!known.len)
		str_addf(&known, "worst of %zu", wall->count);
	row_begin(table, "percentiles", str_text(&known));
	table_cell(table, INK_DIM, "%s", str_text(&note));
}

/* "41.2 K/s" of what a run handles. */
static void rate_row(
	struct table *table, const struct bench_command *command, uint64_t per_run, bool bytes)
{
	struct bench_rate rate = bench_rate_of(command, per_run);
	char *(*number)(char *, size_t, double) = bytes ? paper_bytes : paper_count;
	char median[TIME_SIZE], low[TIME_SIZE], high[TIME_SIZE];

	if (!per_run)
		return;
	table_cell(table, INK_PLAIN, "%s", bytes ? "bytes per second" : "ops per second");
	table_cell(table, INK_BOLD, "%s", number(median, sizeof(median), rate.median));
	if (isfinite(rate.lo) && isfinite(rate.hi))
		table_cell(table, INK_DIM, "%s .. %s", number(low, sizeof(low), rate.lo),
			number(high, sizeof(high), rate.hi));
	else
		table_cell(table, INK_DIM, "no interval with fewer than 6 runs");
}

static void command_table(
	struct paper *paper, const struct bench_view *view, const struct bench_command *command)
{
	table_auto struct table table = {0};
	char value[TIME_SIZE], user[TIME_SIZE], system[TIME_SIZE];

	table_columns(&table, "", "", "");
	wall_row(&table, &command->wall);
	corrected_row(&table, command);
	range_row(&table, &command->wall);
	percentiles_row(&table, &command->wall);
	rate_row(&table, command, view->ops_per_run, false);
	rate_row(&table, command, view->bytes_per_run, true);
	row_begin(&table, "user+sys", paper_time(value, sizeof(value), command->cpu.median));
	if (command->cpu.median >= SPLIT_TRUSTED_NS)
		table_cell(&table, INK_DIM, "user %s, sys %s",
			paper_time(user, sizeof(user), command->user_ns),
			paper_time(system, sizeof(system), command->system_ns));
	else
		table_cell(&table, INK_DIM, "%s", "");
	row_begin(&table, "peak RSS", paper_bytes(value, sizeof(value), command->rss.median));
	table_cell(&table, INK_DIM, "%s",
		command->rss.median <= (double)command->rss_floor_bytes
			? "upper bound: a smaller peak cannot be measured"
			: "");
	table_print(&table, paper, 2);
}

/* "A ran 1.23 (1.20 .. 1.26) times faster than B" */
static void ratio_text(
	struct paper *paper, const struct bench_view *view, const struct bench_ratio *ratio)
{
	str_auto struct str fast = {0}, slow = {0};
	const struct comparison *wall = &ratio->wall;

	name_of(&view->commands[view->fastest], &fast);
	name_of(&view->commands[ratio->command], &slow);
	paper_add(paper, "  ");
	if (wall->outcome == COMPARE_REGRESSED) {
		paper_ink(paper, INK_GOOD, "%s", str_text(&fast));
		paper_add(paper, " ran ");
		paper_ink(paper, INK_BOLD, "%.2f (%.2f .. %.2f)", 1 + wall->effect, 1 + wall->lo,
			1 + wall->hi);
		paper_add(paper, " times faster than %s\n", str_text(&slow));
	} else if (wall->outcome == COMPARE_EQUIVALENT) {
		paper_add(paper, "%s and %s take the same time within %.3g %%\n", str_text(&fast),
			str_text(&slow), wall->min_effect * 100);
	} else {
		paper_add(paper, "%s and %s: no difference found in %zu pairs", str_text(&fast),
			str_text(&slow), wall->a_count);
		if (wall->pairs_needed)
			paper_add(paper,
				"; about %llu would be enough: `assay ab` measures more pairs",
				(unsigned long long)wall->pairs_needed);
		paper_add(paper, "\n");
	}
}

/* By what they were compared, where that is not obvious. */
static void measure_text(struct paper *paper, const struct bench_view *view)
{
	str_auto struct str line = {0};

	if (!view->ratio_count)
		return;
	if (view->time == BENCH_CORRECTED_NS)
		str_add(&line, "compared by wall time less the time they waited for a CPU");
	else if (view->uncorrected)
		str_addf(&line, "wall time includes the wait for a CPU: %s", view->uncorrected);
	if (line.len)
		paper_wrap(paper, 2, INK_DIM, str_text(&line));
}

/* One line per combination of the parameters. */
static void scan_table(struct paper *paper, const struct bench_view *view)
{
	const struct bench_command *first = &view->commands[0];
	table_auto struct table table = {0};
	char value[TIME_SIZE];

	if (view->command_count < 2 || !first->parameter_count)
		return;
	for (uint32_t k = 0; k < first->parameter_count; k++)
		table_column(&table, first->parameters[k].name, true);
	table_columns(&table, ">median", ">95 % interval");
	for (uint32_t i = 0; i < view->command_count; i++) {
		const struct bench_command *command = &view->commands[i];
		str_auto struct str interval = {0};

		if (!command->used_count || command->parameter_count != first->parameter_count)
			continue;
		for (uint32_t k = 0; k < command->parameter_count; k++)
			table_cell(&table, INK_PLAIN, "%s", command->parameters[k].value);
		interval_text(&interval, command->wall.median_interval.lo,
			command->wall.median_interval.hi);
		table_cell(&table, INK_BOLD, "%s",
			paper_time(value, sizeof(value), command->wall.median));
		table_cell(&table, INK_DIM, "%s", str_text(&interval));
	}
	table_print(&table, paper, 2);
	paper_add(paper, "\n");
}

void bench_text(struct paper *paper, const struct bench_view *view)
{
	for (uint32_t i = 0; i < view->command_count; i++) {
		const struct bench_command *command = &view->commands[i];
		str_auto struct str name = {0};

		paper_add(paper, "\n");
		paper_ink(paper, INK_BOLD, "%s", name_of(command, &name));
		paper_ink(paper, INK_DIM, "   %u runs", command->used_count);
		if (command->warmup_count)
			paper_ink(paper, INK_DIM, ", %u warm-ups", command->warmup_count);
		paper_add(paper, "\n");
		if (command->used_count) {
			command_table(paper, view, command);
			bench_doubts(paper, command);
		}
		bench_troubles(paper, "", command);
		if (command->failed && !command->failed->used)
			bench_stderr(paper, view->failure_stderr);
	}
	paper_add(paper, "\n");
	scan_table(paper, view);
	for (uint32_t i = 0; i < view->ratio_count; i++)
		ratio_text(paper, view, &view->ratios[i]);
	measure_text(paper, view);
	if (view->ratio_count)
		paper_add(paper, "\n");
}

enum { AGENT_COMMANDS = 8, AGENT_NAME = 120 };

static void agent_command(struct paper *paper, const struct bench_command *command)
{
	const struct summary *wall = &command->wall;

	paper_add(paper, "command: %.*s\n", AGENT_NAME, command->name);
	if (!command->used_count)
		paper_add(paper, "runs = 0");
	else
		paper_add(paper,
			"runs = %u wall_ns = %.0f [%.0f .. %.0f] min = %.0f max = %.0f cpu_ns = "
			"%.0f max_rss_bytes = %.0f far = %zu",
			command->used_count, wall->median, wall->median_interval.lo,
			wall->median_interval.hi, wall->min, wall->max, command->cpu.median,
			command->rss.median, wall->far + wall->extreme);
	if (command->failed)
		paper_add(paper, "; run %u failed: exit %d signal %d%s", command->failed->number,
			command->failed->exit_status, command->failed->signal,
			command->failed->timed_out	? " (time limit)"
			: command->failed->wrong_output ? " (wrong output)"
							: "");
	paper_add(paper, "\n");
}

/* Rates and what was disturbed, where there is something to say: one line, because eight commands
 * and their comparisons are to fit in 40. */
static void agent_more(
	struct paper *paper, const struct bench_view *view, const struct bench_command *command)
{
	str_auto struct str line = {0};

	if (!command->used_count)
		return;
	if (view->ops_per_run)
		str_addf(&line, "ops_per_s = %.0f ",
			bench_rate_of(command, view->ops_per_run).median);
	if (view->bytes_per_run)
		str_addf(&line, "bytes_per_s = %.0f ",
			bench_rate_of(command, view->bytes_per_run).median);
	if (bench_time_measure(&command, 1) == BENCH_CORRECTED_NS)
		str_addf(&line, "corrected_wall_ns = %.0f queue_share = %.3f ",
			command->corrected.median, command->queue_share);
	if (command->dirty_count)
		str_addf(&line, "disturbed = %u of %u ", command->dirty_count, command->used_count);
	if (line.len)
		paper_add(paper, "%.*s\n", (int)line.len - 1, str_text(&line));
}

static void next_line(struct paper *paper, const struct bench_view *view)
{
	str_auto struct str line = {0};

	if (view->command_count == 2) {
		str_add(&line, "assay ab ");
		word_quote(view->commands[0].name, &line);
		str_add(&line, " -- ");
		word_quote(view->commands[1].name, &line);
	} else {
		str_addf(&line, "assay record -- %s",
			view->command_count == 1 ? view->commands[0].name : "PROGRAM");
	}
	str_flatten(line.at);
	paper_add(paper, "next: %s\n", line.at);
}

void bench_agent(struct paper *paper, const struct bench_view *view)
{
	for (uint32_t i = 0; i < view->command_count && i < AGENT_COMMANDS; i++) {
		agent_command(paper, &view->commands[i]);
		agent_more(paper, view, &view->commands[i]);
	}
	if (view->command_count > AGENT_COMMANDS)
		paper_add(paper, "and %u more commands: use --json\n",
			view->command_count - AGENT_COMMANDS);
	for (uint32_t i = 0; i < view->ratio_count && i < AGENT_COMMANDS; i++)
		ratio_text(paper, view, &view->ratios[i]);
	measure_text(paper, view);
	next_line(paper, view);
}
