/* bench_options.c - see bench_options.h. */
#include "bench_options.h"

int bench_options_read(struct cli *cli, struct bench_job_options *ret_options, struct err *err)
{
	uint64_t warmups = 0;

	*ret_options = (struct bench_job_options){
		.texts = cli->operands.at,
		.text_count = cli->operands.count,
		.program = cli->program,
		.setup = cli_value(cli, "setup"),
		.prepare = cli_value(cli, "prepare"),
		.cleanup = cli_value(cli, "cleanup"),
		.input = cli_value(cli, "input"),
		.program_output = cli_value(cli, "program-output"),
		.cache = cli_value(cli, "cache"),
		.output = cli_value(cli, "output"),
		.save = cli_value(cli, "save"),
		.runs.cold_files = cli_values(cli, "cold-file"),
		.runs.golden_path = cli_value(cli, "golden"),
		.runs.golden_save_path = cli_value(cli, "golden-save"),
		.runs.ignore_failure = cli_has(cli, "ignore-failure"),
		.has_warmups = cli_has(cli, "warmup"),
		.shell = cli_has(cli, "shell"),
		.takes_fingerprint = cli_has(cli, "json"),
		.no_history = cli_has(cli, "no-history"),
	};
	if (cli_number(cli, "warmup", 0, BENCH_RUNS_MAX, 0, &warmups, err) < 0 ||
		cli_duration(cli, "time-limit", 0, &ret_options->runs.limit_ns, err) < 0 ||
		cli_duration(cli, "budget", 0, &ret_options->counts.budget_ns, err) < 0 ||
		cli_count(cli, "runs", BENCH_RUNS_MAX, &ret_options->counts.exact, err) < 0)
		return -err->code;
	ret_options->runs.warmups = (uint32_t)warmups;
	return 0;
}

int bench_status(int end, int done)
{
	return end == BENCH_INTERRUPTED ? EXIT_INTERRUPTED
	       : end == BENCH_FAILED	? EXIT_TARGET
					: done;
}
