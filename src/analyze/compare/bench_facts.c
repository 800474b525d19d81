/* bench_facts.c - what stands beside the runs of a benchmark: parameters, amounts, output, cache.
 *
 * They are fields and qualities of the run (docs/format.md), so an older run simply has none. */
#include <math.h>
#include <stdlib.h>

#include "analyze/bench.h"
#include "base/str.h"
#include "bench_parts.h"
#include "model/run.h"

/* "3.threads": of the third command.  0: it is something else. */
static unsigned long command_of(const char *name, const char **ret_rest)
{
	char *end;
	unsigned long command = strtoul(name, &end, 10);

	if (end == name || *end != '.' || !end[1])
		return 0;
	*ret_rest = end + 1;
	return command;
}

/* Counts them, and stores them where there is room. */
static void parameters_find(const struct run *run, struct bench_view *view)
{
	vec_foreach (const struct field_row, field, &run->fields) {
		const char *name = "";
		unsigned long command = str_equal(run_text(run, field->group), "parameter")
						? command_of(run_text(run, field->name), &name)
						: 0;
		struct bench_command *of;

		if (!command || command > view->command_count)
			continue;
		of = &view->commands[command - 1];
		if (of->parameters)
			of->parameters[of->parameter_count] = (struct bench_parameter){
				.name = name, .value = run_text(run, field->value)};
		of->parameter_count++;
	}
}

void bench_facts_find(const struct run *run, struct arena *arena, struct bench_view *view)
{
	parameters_find(run, view);
	for (uint32_t i = 0; i < view->command_count; i++) {
		struct bench_command *command = &view->commands[i];

		if (command->parameter_count)
			command->parameters = arena_take(
				arena, command->parameter_count * sizeof(*command->parameters));
		command->parameter_count = 0;
	}
	parameters_find(run, view);
	view->cache_state = run_get_field(run, "env", "cache_state", NULL);
	view->output_sha256 = run_get_field(run, "output", "sha256", NULL);
	view->failure_stderr = run_get_field(run, "failure", "stderr", NULL);
	(void)run_get_quality(run, "ops_per_run", &view->ops_per_run);
	(void)run_get_quality(run, "bytes_per_run", &view->bytes_per_run);
}

struct bench_rate bench_rate_of(const struct bench_command *command, uint64_t per_run)
{
	const struct interval *time = &command->wall.median_interval;
	double amount = (double)per_run * 1e9;
	bool bounded = isfinite(time->lo) && isfinite(time->hi) && time->lo > 0;

	/* The slowest time is the lowest rate. */
	return (struct bench_rate){
		.median = amount / command->wall.median,
		.lo = bounded ? amount / time->hi : (double)NAN,
		.hi = bounded ? amount / time->lo : (double)NAN,
	};
}
