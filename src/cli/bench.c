/* bench.c - `assay bench 'sleep 0.1' 'sleep 0.2'`: how long commands take, and how sure that is.
 *
 * Reads the words, has the commands run in turns, shows each and how they compare. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/bench.h"
#include "base/io.h"
#include "bench_job.h"
#include "render/bench.h"
#include "render/compare_json.h"
#include "render/export.h"
#include "render/markdown.h"

enum { COMMANDS_MAX = 64, RUNS_MAX = 1000000, RUNS_MIN_DEFAULT = 10 };
#define BUDGET_DEFAULT_NS 3000000000

/* Each command with each combination of the parameters. */
static int command_add(struct bench_job *job, const char *text, char *const *words, struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && (!i || i < job->parameters.combinations); i++) {
		job->combination = i;
		r = words ? bench_job_add_words(job, words, err) : bench_job_add(job, text, err);
	}
	return r;
}

static int parameters_read(
	const struct cli *cli, struct arena *arena, struct parameters *parameters, struct err *err)
{
	const char *name, *step = cli_value(cli, "parameter-step");
	int r = 0;

	if (step && !cli_has(cli, "parameter-scan"))
		return err_refuse(err, "--parameter-step is the step of nothing",
			"write it with -P NAME MIN MAX");
	for (unsigned i = 0; r >= 0 && (name = cli_value_at(cli, "parameter-scan", i)); i += 3)
		r = parameters_add_scan(parameters,
			&(struct parameter_scan){name, cli_value_at(cli, "parameter-scan", i + 1),
				cli_value_at(cli, "parameter-scan", i + 2), step},
			arena, err);
	for (unsigned i = 0; r >= 0 && (name = cli_value_at(cli, "parameter-list", i)); i += 2)
		r = parameters_add_list(
			parameters, name, cli_value_at(cli, "parameter-list", i + 1), arena, err);
	return r;
}

static int commands_add(struct bench_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	int r = parameters_read(cli, &job->arena, &job->parameters, err);

	for (uint32_t i = 0; r >= 0 && i < cli->operands.count; i++)
		r = command_add(job, cli->operands.at[i], NULL, err);
	if (r >= 0 && cli->program)
		r = command_add(job, cli->program[0], cli->program[1] ? cli->program : NULL, err);
	if (r >= 0 && !job->commands.count) {
		err_set(err, ERR_USAGE, EINVAL, "assay bench was given no command");
		err_hint(err, "usage: assay bench %s", cli->command->usage);
		r = -EINVAL;
	}
	return r;
}

/* "1000", "4K", "64MiB": K, M, G and T are thousands, Ki, Mi, Gi and Ti 1024s, a B may follow. */
static int amount_note(
	struct bench_job *job, const char *option, const char *quality, struct err *err)
{
	static const char units[] = "KMGT";
	const char *text = cli_value(job->cli, option);
	uint64_t value = 0;
	char *rest;
	const char *unit;

	if (!text)
		return 0;
	errno = 0;
	value = *text >= '0' && *text <= '9' ? strtoull(text, &rest, 10) : 0;
	unit = value && *rest ? strchr(units, *rest == 'k' ? 'K' : *rest) : NULL;
	if (unit) {
		bool binary = rest[1] == 'i';

		for (const char *at = units; at <= unit; at++)
			if (__builtin_mul_overflow(value, binary ? 1024 : 1000, &value))
				value = 0;
		rest += 1 + binary;
	}
	if (value && *rest == 'B' && str_equal(option, "bytes"))
		rest++;
	if (!value || errno || *rest) {
		err_set(err, ERR_USAGE, EINVAL, "--%s cannot be '%s'", option, text);
		err_hint(err, "write how many one run handles: 1000, 5K, 2M%s",
			str_equal(option, "bytes") ? ", 64MiB" : "");
		return -EINVAL;
	}
	run_set_quality(job->run, quality, value);
	return 0;
}

static int counts_choose(struct bench_job *job, struct bench_options *options, struct err *err)
{
	struct cli *cli = job->cli;
	uint64_t exact = 0, least = 0, most = 0, budget_ns = 0;
	int r = cli_number(cli, "runs", 1, RUNS_MAX, 0, &exact, err);

	if (r >= 0)
		r = cli_number(cli, "min-runs", 1, RUNS_MAX, RUNS_MIN_DEFAULT, &least, err);
	if (r >= 0)
		r = cli_number(cli, "max-runs", 1, RUNS_MAX, RUNS_MAX, &most, err);
	if (r >= 0)
		r = cli_duration(cli, "budget", BUDGET_DEFAULT_NS, &budget_ns, err);
	if (r < 0)
		return r;
	if (exact && (cli_has(cli, "min-runs") || cli_has(cli, "max-runs"))) {
		err_set(err, ERR_USAGE, EINVAL, "-n excludes --min-runs and --max-runs");
		err_hint(err, "-n N asks for exactly N runs; leave one of them out");
		return -EINVAL;
	}
	if (most < least && cli_has(cli, "min-runs")) {
		err_set(err, ERR_USAGE, EINVAL, "--max-runs is below --min-runs");
		err_hint(err, "-n N asks for exactly N runs");
		return -EINVAL;
	}
	options->rounds_max = (uint32_t)(exact ? exact : most);
	options->rounds_min = (uint32_t)(exact ? exact : least < most ? least : most);
	options->budget_ns = budget_ns * job->commands.count;
	return 0;
}

static int exports_write(const struct cli *cli, const struct bench_view *view, struct err *err)
{
	static const struct {
		const char *option;
		void (*write)(struct str *out, const struct bench_view *view);
	} exports[] = {
		{"export-json", bench_export_json},
		{"export-markdown", bench_export_markdown},
		{"export-csv", bench_export_csv},
	};
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < sizeof(exports) / sizeof(*exports); i++) {
		const char *path = cli_value(cli, exports[i].option);
		str_auto struct str text = {0};

		if (!path)
			continue;
		exports[i].write(&text, view);
		r = io_replace(path, str_text(&text), text.len, err);
	}
	return r;
}

static int bench_show(struct bench_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->run, .to_stderr = bench_job_shares_stdout(job)};
	struct bench_view view;
	struct err late = {0};
	int r = bench_view_make(job->run, cli_has(cli, "ignore-failure"), &job->arena, &view, err);
	int exported;

	if (r < 0)
		return r;
	exported = exports_write(cli, &view, err);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			bench_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			bench_agent(page.paper, &view);
		else
			bench_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, exported < 0 ? &late : err);
	return exported < 0 ? exported : r;
}

static int bench_run_job(struct bench_job *job, struct err *err)
{
	struct bench_options options = {0};
	struct err late = {0};
	int r = commands_add(job, err), end;

	if (r >= 0)
		r = counts_choose(job, &options, err);
	if (r >= 0)
		r = amount_note(job, "ops", "ops_per_run", err);
	if (r >= 0)
		r = amount_note(job, "bytes", "bytes_per_run", err);
	if (r < 0)
		return r;
	end = bench_job_run(job, &options, err);
	if (end < 0 && !job->run->executions.count)
		return end;
	r = bench_show(job, end < 0 ? &late : err);
	if (end < 0 || r < 0)
		return end < 0 ? end : r;
	return end == BENCH_INTERRUPTED ? EXIT_INTERRUPTED
	       : end == BENCH_FAILED	? EXIT_TARGET
					: EXIT_DONE;
}

static int bench_run_command(struct cli *cli, struct err *err)
{
	struct bench_job job;
	int r;

	bench_job_open(&job, cli);
	r = bench_run_job(&job, err);
	bench_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"runs", 'n', "N", false, NULL, "run each command exactly N times"},
	{"min-runs", 0, "N", false, NULL, "at least N times (default 10)"},
	{"max-runs", 0, "N", false, NULL, "at most N times"},
	{"budget", 0, "TIME", false, NULL, "measure each command about that long (default 3s)"},
	{"parameter-scan", 'P', "NAME MIN MAX", false, NULL,
		"replace {NAME} in the commands by the numbers from MIN to MAX"},
	{"parameter-step", 'D', "STEP", false, NULL, "the step of the scan before it (default 1)"},
	{"parameter-list", 'L', "NAME VALUES", false, NULL,
		"replace {NAME} by each of these values: a,b,c"},
	{"ops", 0, "N", false, NULL, "operations in a run: the rate is told too (5K, 2M)"},
	{"bytes", 0, "N", false, NULL, "bytes that a run handles: the rate is told too (64MiB)"},
	BENCH_JOB_OPTIONS{"export-json", 0, "FILE", false, NULL, "hyperfine's JSON format"},
	{"export-markdown", 0, "FILE", false, NULL, "a table"},
	{"export-csv", 0, "FILE", false, NULL, "one row per run"},
	{0},
};

static const char *const examples[] = {
	"assay bench 'grep -r main src'",
	"how long it takes, with the interval of the median",
	"assay bench --warmup 3 './old data' './new data'",
	"two commands in turns, and which is faster",
	"assay bench -n 50 --save before ./program",
	"50 runs, kept as .assay/before.assay",
	"assay bench -P threads 1 8 'make -j {threads}' --prepare 'make clean'",
	"one command per number of threads",
	NULL,
};

const struct command bench_command = {
	.name = "bench",
	.summary = "how long commands take, and how sure that is",
	.usage = "[-n N] [--warmup N] [--save NAME] CMD...",
	.examples = examples,
	.details =
		"Each CMD is one argument and is split into words as a shell does; no shell runs. "
		"Words behind -- are one more command as they stand. "
		"Several commands are run in turns. A run that fails ends the benchmark; the runs "
		"before it are kept. Every run gets an environment of random size.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = COMMANDS_MAX,
	.run = bench_run_command,
};
