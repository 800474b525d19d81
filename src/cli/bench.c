/* bench.c - `assay bench 'sleep 0.1' 'sleep 0.2'`: how long commands take, and how sure that is.
 *
 * Reads the words, has the commands run in turns, shows each and how they compare. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/bench.h"
#include "bench_options.h"
#include "render/bench.h"
#include "render/compare_json.h"
#include "render/export.h"
#include "render/markdown.h"

enum { COMMANDS_MAX = 64 };

static int parameters_read(struct cli *cli, struct parameters *parameters, struct err *err)
{
	const char *const *scan = cli_values(cli, "parameter-scan");
	const char *const *list = cli_values(cli, "parameter-list");
	const char *step = cli_value(cli, "parameter-step");
	int r = 0;

	if (step && !scan)
		return err_refuse(
			err, "--parameter-step without a scan", "use it with -P NAME MIN MAX");
	for (; r >= 0 && scan && *scan; scan += 3)
		r = parameters_add_scan(parameters,
			&(struct parameter_scan){scan[0], scan[1], scan[2], step}, &cli->arena,
			err);
	for (; r >= 0 && list && *list; list += 2)
		r = parameters_add_list(parameters, list[0], list[1], &cli->arena, err);
	return r;
}

/* "1000", "4K", "64MiB": K, M, G and T are thousands, Ki, Mi, Gi and Ti 1024s, a B may follow. */
static int amount_read(
	const struct cli *cli, const char *option, uint64_t *ret_amount, struct err *err)
{
	static const char units[] = "KMGT";
	const char *text = cli_value(cli, option);
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
		err_set(err, ERR_USAGE, EINVAL, "invalid --%s '%s'", option, text);
		return err_hint(err, "write how many one run handles: 1000, 5K, 2M%s",
			str_equal(option, "bytes") ? ", 64MiB" : "");
	}
	*ret_amount = value;
	return 0;
}

static int options_read(struct cli *cli, struct bench_job_options *options, struct err *err)
{
	int r = bench_options_read(cli, options, err);

	if (r >= 0 && !cli->operands.count && !cli->program) {
		err_set(err, ERR_USAGE, EINVAL, "assay bench needs a command");
		r = err_hint(err, "usage: assay bench %s", cli->command->usage);
	}
	if (r < 0 || parameters_read(cli, &options->parameters, err) < 0 ||
		cli_count(cli, "min-runs", BENCH_RUNS_MAX, &options->counts.least, err) < 0 ||
		cli_count(cli, "max-runs", BENCH_RUNS_MAX, &options->counts.most, err) < 0 ||
		amount_read(cli, "ops", &options->ops_per_run, err) < 0 ||
		amount_read(cli, "bytes", &options->bytes_per_run, err) < 0)
		return -err->code;
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
		str_auto struct str text = {0};

		if (cli_has(cli, exports[i].option))
			exports[i].write(&text, view);
		r = cli_write(cli, exports[i].option, &text, err);
	}
	return r;
}

static int bench_show(struct cli *cli, struct bench_job *job, struct err *err)
{
	struct cli_page page = {.run = job->run, .to_stderr = bench_job_shares_stdout(job)};
	struct bench_view view;
	struct err late = {0};
	int r = bench_view_make(job->run, job->runs.ignore_failure, &job->arena, &view, err);
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

static int bench_run_command(struct cli *cli, struct err *err)
{
	struct bench_job_options options;
	struct bench_job job;
	struct err late = {0};
	int r = options_read(cli, &options, err), end;

	if (r < 0)
		return r;
	bench_job_open(&job, &options, &cli->host);
	end = bench_job_measure(&job, err);
	if (end >= 0 || job.run->executions.count)
		r = bench_show(cli, &job, end < 0 ? &late : err);
	bench_job_done(&job);
	return end < 0 ? end : r < 0 ? r : bench_status(end, EXIT_DONE);
}

static const struct option_spec options[] = {
	{"runs", 'n', "N", false, NULL, "run each command exactly N times"},
	{"min-runs", 0, "N", false, NULL, "at least N times (default 10)"},
	{"max-runs", 0, "N", false, NULL, "at most N times"},
	{"budget", 0, "TIME", false, NULL, "measure each command for about this long (default 3s)"},
	{"parameter-scan", 'P', "NAME MIN MAX", false, NULL,
		"replace {NAME} in the commands with the numbers from MIN to MAX"},
	{"parameter-step", 'D', "STEP", false, NULL, "step of the preceding scan (default 1)"},
	{"parameter-list", 'L', "NAME VALUES", false, NULL,
		"replace {NAME} with each of these values: a,b,c"},
	{"ops", 0, "N", false, NULL, "operations per run, to show a rate (5K, 2M)"},
	{"bytes", 0, "N", false, NULL, "bytes per run, to show a rate (64MiB)"},
	BENCH_OPTIONS{"export-json", 0, "FILE", false, NULL, "hyperfine's JSON format"},
	{"export-markdown", 0, "FILE", false, NULL, "a table"},
	{"export-csv", 0, "FILE", false, NULL, "one row per run"},
	{0},
};

static const char *const examples[] = {
	"assay bench 'grep -r main src'",
	"how long it takes, with an interval for the median",
	"assay bench --warmup 3 './old data' './new data'",
	"two commands, interleaved, and which is faster",
	"assay bench -n 50 --save before ./program",
	"50 runs, stored as .assay/before.assay",
	"assay bench -P threads 1 8 'make -j {threads}' --prepare 'make clean'",
	"one command per number of threads",
	NULL,
};

const struct command bench_command = {
	.name = "bench",
	.summary = "measure how long commands take, with confidence intervals",
	.usage = "[-n N] [--warmup N] [--save NAME] CMD...",
	.examples = examples,
	.details = "Each CMD is one argument, split into words like a shell does; no shell runs. "
		   "Words after -- are one more command, taken literally. Several commands are "
		   "interleaved. A run that fails ends the benchmark; the runs before it are kept. "
		   "Every run gets an environment of random size.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = COMMANDS_MAX,
	.run = bench_run_command,
};
