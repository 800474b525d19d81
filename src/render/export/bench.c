/* bench.c - the runs for other tools: hyperfine's JSON (and thereby its plots), and one CSV row per
 * run. */
#include "render/export.h"

#include <inttypes.h>

#include "analyze/bench.h"
#include "base/jsonw.h"

static void hyperfine_arrays(struct jsonw *w, const struct bench_command *command)
{
	static const char *const keys[] = {"times", "memory_usage_byte", "exit_codes"};

	for (unsigned k = 0; k < 3; k++) {
		jsonw_open_array(w, keys[k]);
		for (uint32_t i = 0; i < command->run_count; i++) {
			struct bench_run run = bench_run_at(command, i);

			if (!run.used)
				continue;
			if (k == 0)
				jsonw_double(w, (double)run.wall_ns / 1e9);
			else if (k == 1)
				jsonw_u64(w, run.max_rss_bytes);
			else
				jsonw_i64(w, run.signal ? 128 + run.signal : run.exit_status);
		}
		jsonw_end_array(w);
	}
}

static void hyperfine_result(struct jsonw *w, const struct bench_command *command)
{
	const struct summary *wall = &command->wall;

	jsonw_begin_object(w);
	jsonw_put_text(w, "command", command->name);
	jsonw_put_double(w, "mean", wall->mean / 1e9);
	jsonw_put_double(w, "stddev", wall->deviation / 1e9); /* null with one run, as there */
	jsonw_put_double(w, "median", wall->median / 1e9);
	jsonw_put_double(w, "user", command->user_ns / 1e9);
	jsonw_put_double(w, "system", command->system_ns / 1e9);
	jsonw_put_double(w, "min", wall->min / 1e9);
	jsonw_put_double(w, "max", wall->max / 1e9);
	hyperfine_arrays(w, command);
	if (command->parameter_count) {
		jsonw_open_object(w, "parameters");
		for (uint32_t i = 0; i < command->parameter_count; i++)
			jsonw_put_text(
				w, command->parameters[i].name, command->parameters[i].value);
		jsonw_end_object(w);
	}
	jsonw_end_object(w);
}

void bench_export_json(struct str *out, const struct bench_view *view)
{
	struct jsonw w = {.out = out};

	jsonw_begin_object(&w);
	jsonw_open_array(&w, "results");
	for (uint32_t i = 0; i < view->command_count; i++)
		if (view->commands[i].used_count)
			hyperfine_result(&w, &view->commands[i]);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	str_add_char(out, '\n');
}

/* Always quoted, so that neither commas nor line breaks matter (RFC 4180). */
static void csv_text(struct str *out, const char *text)
{
	str_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			str_add_char(out, '"');
		str_add_char(out, *text);
	}
	str_add_char(out, '"');
}

static void csv_row(struct str *out, const struct bench_command *command, uint32_t index)
{
	struct bench_run run = bench_run_at(command, index);

	csv_text(out, command->name);
	str_addf(out, ",%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, run.number,
		run.position, run.wall_ns, run.user_ns, run.system_ns, run.max_rss_bytes);
	str_addf(out, ",%u,%u,%u,%u,", run.minor_faults, run.major_faults, run.voluntary_switches,
		run.involuntary_switches);
	if (run.has_steal)
		str_addf(out, "%" PRIu64, run.steal_ns);
	str_add_char(out, ',');
	if (run.has_pressure)
		str_addf(out, "%" PRIu64, run.pressure_ns);
	str_addf(out, ",%d,%d,%d,%d,%d", run.exit_status, run.signal, run.warmup, run.used,
		run.noise != 0);
	for (uint32_t i = 0; i < command->parameter_count; i++) {
		str_add_char(out, ',');
		csv_text(out, command->parameters[i].value);
	}
	str_add_char(out, ',');
	if (run.has_queue)
		str_addf(out, "%" PRIu64, run.queue_ns);
	str_add_char(out, '\n');
}

void bench_export_csv(struct str *out, const struct bench_view *view)
{
	str_add(out, "command,run,position,wall_ns,user_ns,system_ns,max_rss_bytes,minor_faults,"
		     "major_faults,voluntary_switches,involuntary_switches,steal_ns,pressure_ns,"
		     "exit,signal,warmup,used,dirty");
	for (uint32_t i = 0; view->command_count && i < view->commands[0].parameter_count; i++) {
		str_add(out, ",parameter_");
		str_add(out, view->commands[0].parameters[i].name);
	}
	str_add(out, ",queue_ns\n");
	for (uint32_t i = 0; i < view->command_count; i++)
		for (uint32_t k = 0; k < view->commands[i].run_count; k++)
			csv_row(out, &view->commands[i], k);
}
