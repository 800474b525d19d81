/* imported_runs.c - benchmarks of other tools: each command on a line, and what they do not tell.
 * People and agents get the same lines: there are few. */
#include "render/imported.h"

#include <math.h>

#include "render/shorten.h"

enum { ROWS = 20, AGENT_ROWS = 12, NAME_COLUMNS = 48, TIME_SIZE = 32 };

static void command_row(struct table *table, const struct bench_command *command)
{
	str_auto struct str name = {0};
	const struct summary *wall = &command->wall;
	char bytes[TIME_SIZE];

	name_shorten(command->name, NAME_COLUMNS, &name);
	if (name.len)
		str_flatten(name.at);
	table_cell(table, INK_PLAIN, "%s", str_text(&name));
	table_cell(table, INK_PLAIN, "%u", command->used_count);
	table_time(table, INK_BOLD, wall->median);
	table_time(table, INK_DIM, wall->min);
	table_time(table, INK_DIM, wall->max);
	if (isfinite(wall->variation))
		table_cell(table, INK_PLAIN, "%.1f %%", wall->variation * 100);
	else
		table_cell(table, INK_PLAIN, "-");
	table_time(table, INK_PLAIN, command->cpu.median);
	table_cell(table, INK_PLAIN, "%s",
		isfinite(command->rss.median)
			? paper_bytes(bytes, sizeof(bytes), command->rss.median)
			: "-");
}

static void failures_line(struct paper *paper, const struct bench_command *command)
{
	str_auto struct str name = {0};

	if (!command->failed_count)
		return;
	name_shorten(command->name, NAME_COLUMNS, &name);
	if (name.len)
		str_flatten(name.at);
	paper_add(paper, "  %u of %u runs of `%s` failed and are not used\n", command->failed_count,
		command->run_count, str_text(&name));
}

void imported_runs_text(
	struct paper *paper, const struct bench_view *view, const char *path, const char *stored)
{
	table_auto struct table table = {0};
	uint32_t rows = paper->ascii ? AGENT_ROWS : ROWS;

	table_columns(&table, "command", ">runs", ">median", ">min", ">max", ">spread", ">user+sys",
		">peak RSS");
	for (uint32_t i = 0; i < view->command_count && i < rows; i++)
		command_row(&table, &view->commands[i]);
	table_print(&table, paper, 2);
	if (view->command_count > rows)
		paper_add(paper, "  and %u more commands\n", view->command_count - rows);
	for (uint32_t i = 0; i < view->command_count && i < rows; i++)
		failures_line(paper, &view->commands[i]);
	paper_add(paper, "\n  - means not measured: the file does not have it\n");
	if (view->blocked && view->command_count > 1)
		paper_add(paper, "  the commands were not interleaved, so no ratio is shown\n");
	imported_next(paper, &(struct imported_step){"assay audit", ""}, path, stored);
}
