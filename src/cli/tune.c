/* tune.c - `assay tune plan|apply|run|revert|status`: quiet the machine, with consent and a way
 * back.
 *
 *     sudo assay tune run --only frequency -- ./bench
 *     assay tune run --cpus 1 -- ./bench */
#include "job/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "render/machine_json.h"
#include "render/tune.h"

static void plan_print(struct tune_job *job)
{
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};

	tune_job_take_rows(job, &job->view, true);
	tune_text(&paper, &job->view);
	(void)cli_say(STDERR_FILENO, &text);
}

/* One question, the first below the plan; only y or yes is a yes. */
static bool group_agreed(void *context, struct tune_job *job, const char *group, uint32_t count)
{
	bool *is_printed = context;
	char answer[64] = "";
	ssize_t got;

	if (!*is_printed)
		plan_print(job);
	*is_printed = true;
	dprintf(STDERR_FILENO, "Change %u setting%s of the group %s? [y/N] ", count,
		count == 1 ? "" : "s", group);
	got = read(STDIN_FILENO, answer, sizeof(answer) - 1);
	if (got <= 0) {
		dprintf(STDERR_FILENO, "\n");
		return false;
	}
	return strcasecmp(str_trim(answer), "y") == 0 || strcasecmp(str_trim(answer), "yes") == 0;
}

static int tune_show(struct cli *cli, struct tune_job *job, struct err *err)
{
	struct cli_page page = {.run = job->run, .to_stderr = cli->program != NULL};
	struct err ignored = {0};

	if (cli_has(cli, "json"))
		job_take_fingerprint(job->run, &ignored);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			tune_json(page.json, &job->view);
		else if (cli->mode == CLI_AGENT)
			tune_agent(page.paper, &job->view);
		else if (!cli->quiet)
			tune_text(page.paper, &job->view);
	}
	return cli_page_end(cli, &page, err);
}

static int tune_run_command(struct cli *cli, struct err *err)
{
	static const int statuses[] = {
		[TUNE_JOB_DONE] = EXIT_DONE,
		[TUNE_JOB_DIFFERS] = EXIT_REGRESSION,
		[TUNE_JOB_PROGRAM] = EXIT_TARGET,
		[TUNE_JOB_PARTLY] = EXIT_UNAVAILABLE,
		[TUNE_JOB_STOPPED] = EXIT_INTERRUPTED,
	};
	bool plan_is_printed = false;
	const struct tune_job_options options = {
		.action = cli->operands.at[0],
		.only = cli_values(cli, "only"),
		.yes = cli_values(cli, "yes"),
		.has_yes = cli_has(cli, "yes"),
		.ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? group_agreed : NULL,
		.context = &plan_is_printed,
		.program = cli->program,
		.process.cpus = cli_value(cli, "cpus"),
		.process.no_aslr = cli_has(cli, "no-aslr"),
		.process.fifo = cli_has(cli, "fifo"),
		.process.awake = cli_has(cli, "awake"),
		.no_noise = cli_has(cli, "no-noise"),
		.snapshot = cli_has(cli, "snapshot"),
		.expect = cli_value(cli, "expect"),
		.root = getenv("ASSAY_TUNE_ROOT"),
	};
	struct tune_job job;
	struct err late = {0};
	int r = options.snapshot ? cli_output_as_json(cli, err) : 0, shown = 0;

	if (r < 0)
		return r;
	tune_job_open(&job, &options, &cli->host);
	r = tune_job_act(&job, err);
	if (job.has_view)
		shown = tune_show(cli, &job, r < 0 ? &late : err);
	if (r >= 0 && shown < 0)
		r = shown;
	else if (r >= 0 && cli->target_status && job.view.reverted && r != TUNE_JOB_STOPPED)
		r = job.view.signal ? 128 + job.view.signal : job.view.exit_status;
	else if (r >= 0)
		r = statuses[r];
	tune_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"only", 0, "NAME,...", false, NULL,
		"only these settings or groups; may be repeated (default: frequency, quiet and "
		"memory)"},
	{"yes", 'y', "GROUP,...", true, NULL,
		"agree to what `assay tune plan` shows; with groups: change only these"},
	{"cpus", 0, "LIST", false, NULL,
		"run: run the program only on these CPUs; the group irq keeps interrupts off them"},
	{"no-aslr", 0, NULL, false, NULL, "run: disable address randomization for the program"},
	{"fifo", 0, NULL, false, NULL,
		"run: real-time priority for the program (SCHED_FIFO 1); root"},
	{"awake", 0, NULL, false, NULL,
		"run: no deep idle states meanwhile (/dev/cpu_dma_latency); root"},
	{"no-noise", 0, NULL, false, NULL, "plan: do not look at other activity"},
	{"snapshot", 0, NULL, false, NULL, "status: show every setting, not only changed ones"},
	{"output", 'o', "FILE", false, NULL, "status --snapshot: write the JSON document to FILE"},
	{"expect", 0, "FILE", false, NULL,
		"status: compare with a snapshot; exit status 1 on a difference"},
	{"target-status", 0, NULL, false, NULL, "run: exit with the program's own status"},
	{0},
};

const struct command tune_command = {
	.name = "tune",
	.summary = "quiet the machine for measurements, with consent and a way back",
	.usage = "plan|apply|run|revert|status [--only NAME,...] [--yes[=GROUP,...]] [-- PROGRAM "
		 "ARGS...]",
	.examples = (const char *const[]){"assay tune plan",
		"what would change and why; changes nothing", "assay tune run --yes -- ./bench",
		"tuned while it runs, then restored", "assay tune apply --only frequency",
		"asks, changes, and remembers the old values", "assay tune revert",
		"restores the old values, even after a crash", "assay tune run --cpus 1 -- ./bench",
		"pinned to one CPU; changes nothing else", "assay tune status --expect tuning.json",
		"exit status 1 when the machine's settings differ", NULL},
	.details =
		"The old value of each setting is on disk before it changes, so revert restores it "
		"even after kill -9. A setting that someone else has changed since is left alone. "
		"run starts a guardian process that reverts when assay dies. Nothing survives a "
		"reboot. Exit status 5 when the program of run failed (see --target-status), 1 "
		"when --expect finds a difference, 6 when a setting could not be changed or "
		"restored, or needs root.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_min = 1,
	.operands_max = 1,
	.run = tune_run_command,
};
