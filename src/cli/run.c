/* run.c - `assay run -- ./program input`, or just `assay -- ./program input`: the main job.
 *
 *     assay run --check assay-out/latest: is the evidence complete and unchanged? */
#include "job/run.h"

#include <unistd.h>

#include "cli.h"
#include "model/directory.h"
#include "model/run.h"
#include "render/answer_json.h"
#include "render/round.h"

static int check_status(enum job_check_result result)
{
	return result == JOB_CHECK_CHANGED   ? EXIT_REGRESSION
	       : result == JOB_CHECK_PARTIAL ? EXIT_INCONCLUSIVE
					     : EXIT_DONE;
}

static int run_check(struct cli *cli, struct err *err)
{
	arena_auto struct arena arena = {0};
	directory_check_auto struct directory_check check = {0};
	run_auto struct run *front = run_open();
	struct cli_page page = {.run = front};
	struct job_check_view view;
	const char *path;
	int r = directory_resolve(cli_value(cli, "check"), &arena, &path, err);

	if (r >= 0)
		r = directory_check(path, &check, err);
	if (r < 0)
		return r;
	job_check_view_make(&check, cli_value(cli, "check"), &arena, &view);
	front->partial = view.result == JOB_CHECK_PARTIAL;
	front->fingerprint = run_intern(front, check.manifest.fingerprint);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			job_check_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			job_check_agent(page.paper, &view);
		else
			job_check_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : check_status(view.result);
}

static void plan_show(void *context, const struct plan_page *plan)
{
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};

	(void)context;
	plan_text(&paper, plan);
	(void)cli_say(STDERR_FILENO, &text);
}

static int result_show(struct cli *cli, const struct run_result *result, struct err *err)
{
	struct cli_page page = {.run = result->front};
	const struct round_view *round = result->summary.round;

	while (cli_page_next(cli, &page)) {
		if (page.json) {
			run_result_json(page.json, result);
		} else if (cli->mode == CLI_AGENT) {
			job_agent(page.paper, &result->summary);
			if (round)
				round_agent(page.paper, round);
			answer_agent(page.paper, &result->answer);
		} else {
			if (round)
				round_text(page.paper, round);
			answer_text(page.paper, &result->answer);
			job_text(page.paper, &result->summary);
		}
	}
	return cli_page_end(cli, &page, err);
}

static int status_of(const struct cli *cli, const struct run_result *result)
{
	const struct round_view *round = result->summary.round;

	if (result->stopped)
		return EXIT_INTERRUPTED;
	if (cli->target_status)
		return EXIT_DONE;
	if (round && round->has_baselines && round->class == NOT_COMPARABLE)
		return EXIT_NOT_COMPARABLE;
	if (round && round->has_baselines && round->verdict.outcome == COMPARE_REGRESSED)
		return EXIT_REGRESSION;
	return result->answer.view->kind == ANSWER_NOT_MEASURED ? EXIT_INCONCLUSIVE : EXIT_DONE;
}

static int run_command_run(struct cli *cli, struct err *err)
{
	__attribute__((cleanup(run_result_done))) struct run_result result = {0};
	struct run_options options = {
		.program = cli->program,
		.output = cli_value(cli, "output"),
		.against = cli_value(cli, "against"),
		.phases = cli_value(cli, "phase"),
		.skip = cli_value(cli, "skip"),
		.input = cli_value(cli, "input"),
		.golden = cli_value(cli, "golden"),
		.sizes = cli_value(cli, "sizes"),
		.smaller = cli_value(cli, "smaller"),
		.show_plan = cli->quiet || cli->mode != CLI_TEXT ? NULL : plan_show,
	};
	struct err late = {0};
	int r, shown;

	if (cli_has(cli, "check"))
		return run_check(cli, err);
	r = cli_duration(cli, "budget", 0, &options.budget_ns, err);
	if (r >= 0)
		r = run_job_do(&options, &cli->host, &result, err);
	cli->target_exit = result.target_exit;
	if (!result.is_answered)
		return r;
	shown = result_show(cli, &result, r < 0 ? &late : err);
	return r < 0 ? r : shown < 0 ? shown : status_of(cli, &result);
}

static const struct option_spec options[] = {
	{"output", 'o', "DIR", false, NULL,
		"evidence directory (default: a new one below " DIRECTORY_ROOT ")"},
	{"budget", 0, "TIME", false, NULL, "total time budget (default 60s)"},
	{"against", 0, "DIR", false, NULL,
		"compare with this earlier run (latest: the last one): what changed, and did the "
		"promised gain arrive"},
	{"phase", 0, "LIST", false, NULL,
		"only these phases: baseline, observed, profile, smaller, smallest, counters, "
		"calls, causal, events"},
	{"skip", 0, "LIST", false, NULL, "not these"},
	{"input", 0, "FILE", false, NULL,
		"stdin of each run (default: assay's stdin, stored and replayed)"},
	{"smaller", 0, "CMD", false, NULL,
		"the same program with a smaller input, to see how its time grows"},
	{"sizes", 0, "LIST", false, NULL,
		"sizes for {n} in the command (1k,2k,4k): the largest is measured, the two below "
		"it show how its time grows"},
	{"golden", 0, "FILE", false, NULL, "compare the program's output with this file"},
	{"check", 0, "DIR", false, NULL,
		"run nothing: check that this directory is complete and unchanged"},
	{"target-status", 0, NULL, false, NULL, "exit with the status of the program's first run"},
	{0},
};

const struct command run_command = {
	.name = "run",
	.summary = "find out what to change first to make a program faster, with evidence",
	.usage = "[-o DIR] [--budget TIME] [--against DIR] -- PROGRAM ARGS... | --check DIR",
	.examples = (const char *const[]){"assay run -- ./program input",
		"the whole chain, and the answer on one screen", "assay -- ./program input",
		"the same", "assay run --budget 2m --against latest -- ./program input",
		"after a change: did it help, and what is next?",
		"assay run --check assay-out/latest", "is the evidence complete and unchanged?",
		NULL},
	.details =
		"Runs the program once, shows a plan with times, then measures in phases, one "
		"after another: repeated runs, system activity, samples, simulated counters, "
		"experiments. Each phase leaves a file in the evidence directory, or its reason. "
		"The program's output is stored there and must not change; its stdin is stored and "
		"replayed.\nA program that does not end is observed for a while in each phase and "
		"stopped.\nExit status: 0 answered; 1 slower than the earlier run (--against), or "
		"changed (--check); 3 nothing could be measured, or partial (--check); 4 the "
		"earlier run is from another machine; 5 the program failed; 7 the evidence could "
		"not be written; 130 Ctrl-C, with a report so far.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = run_command_run,
};
