/* topdown.c - `assay topdown -- ./program`: where the cycles go, and what to do about it. */
#include "job/topdown.h"

#include <errno.h>

#include "base/io.h"
#include "model/run.h"
#include "render/cpu_json.h"
#include "render/markdown.h"
#include "render/topdown.h"
#include "site_page.h"

static int options_check(const struct cli *cli, struct err *err)
{
	const char *clash = NULL, *engine = cli_value(cli, "engine");

	if (engine && str_equal(engine, "sim") && cli_has(cli, "quick"))
		clash = "--engine sim and --quick";
	else if (cli_has(cli, "once") && cli_has(cli, "repeat"))
		clash = "--once and -r";
	else if (cli_has(cli, "once") && cli_has(cli, "quick"))
		clash = "--once and --quick";
	else if (cli_has(cli, "quick") && cli_has(cli, "level"))
		clash = "--quick and --level";
	if (!clash)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "%s exclude each other", clash);
	err_hint(err, "remove one of them; see `assay help topdown`");
	return -EINVAL;
}

static int options_read(const struct cli *cli, struct topdown_options *ret_options, struct err *err)
{
	uint64_t level = 0, rounds = 0;
	int r = options_check(cli, err);

	*ret_options = (struct topdown_options){
		.program = cli->program,
		.engine = cli_engine(cli),
		.once = cli_has(cli, "once"),
		.quick = cli_has(cli, "quick"),
		.output = cli_value(cli, "output"),
	};
	if (r >= 0)
		r = cli_number(cli, "level", 1, TOPDOWN_LEVELS, 0, &level, err);
	if (r >= 0)
		r = cli_number(cli, "repeat", 1, 1000, 0, &rounds, err);
	if (r >= 0)
		r = cli_duration(cli, "time-limit", 0, &ret_options->limit_ns, err);
	ret_options->level = (unsigned)level;
	ret_options->rounds = (uint32_t)rounds;
	return r;
}

static void report_draw(struct str *text, const struct topdown_job *job)
{
	const struct run *run = job->run;
	const struct topdown_fact facts[] = {
		{"CPU", run_get_field(run, "cpu", "model", "")},
		{"kernel", run_get_field(run, "kernel", "release", "")},
		{"frequency governor", run_get_field(run, "freq", "governor", "")},
		{"machine", run_text(run, run->fingerprint)},
		{0},
	};

	if (job->engine == ENGINE_SIM)
		simulated_markdown(text, &job->simulated, &job->page);
	else
		topdown_markdown(text, &job->measured, facts);
}

static void draw(const struct cli *cli, const struct cli_page *page, const struct topdown_job *job)
{
	bool simulated = job->engine == ENGINE_SIM, agent = cli->mode == CLI_AGENT;

	if (simulated && page->json)
		simulated_json(page->json, &job->simulated, &job->page);
	else if (simulated && agent)
		simulated_agent(page->paper, &job->simulated, &job->page);
	else if (simulated)
		simulated_text(page->paper, &job->simulated, &job->page);
	else if (page->json)
		topdown_json(page->json, &job->measured);
	else if (agent)
		topdown_agent(page->paper, &job->measured);
	else
		topdown_text(page->paper, &job->measured);
}

/* Stopped in the first run: without simulated counts there is no cause to tell. */
static void draw_nothing(
	const struct cli *cli, const struct cli_page *page, const struct topdown_job *job)
{
	static const char why[] = "it was stopped before anything was simulated";

	if (page->json) {
		jsonw_put_text(page->json, "engine", "sim");
		jsonw_put_missing(page->json, "arch", why);
		jsonw_put_missing(page->json, "metrics", why);
		jsonw_put_missing(page->json, "verdict", why);
		return;
	}
	paper_add(page->paper, "no cause found: %s\n", why);
	if (cli->mode == CLI_AGENT)
		paper_add(page->paper, "next: assay topdown -- %s\n",
			run_text(job->run, job->run->target));
}

static int topdown_show(struct cli *cli, const struct topdown_job *job, struct err *err)
{
	struct cli_page page = {.run = job->run, .to_stderr = true};
	const char *report = cli_value(cli, "report");
	str_auto struct str text = {0};
	int r;

	while (cli_page_next(cli, &page))
		(job->has_view ? draw : draw_nothing)(cli, &page, job);
	r = cli_page_end(cli, &page, err);
	if (r < 0 || !report || !job->has_view)
		return r;
	report_draw(&text, job);
	return io_replace(report, IO_SHARED, text.at, text.len, err);
}

static int topdown_run_job(struct cli *cli, struct topdown_job *job, struct err *err)
{
	struct topdown_options options;
	struct err late = {0};
	int r = options_read(cli, &options, err), shown, status;

	if (r >= 0)
		r = topdown_job_do(job, &options, &cli->host, err);
	if (r < 0 && !job->has_view)
		return r;
	shown = topdown_show(cli, job, r < 0 ? &late : err);
	if (r < 0 || shown < 0)
		cli_target_tell(cli, job->run);
	if (r || shown < 0)
		return r < 0 ? r : shown < 0 ? shown : EXIT_INTERRUPTED;
	status = cli_target_status(cli, job->clock);
	return status ? status : cli_target_status(cli, job->run);
}

static int topdown_run(struct cli *cli, struct err *err)
{
	struct topdown_job job = {0};
	int r = topdown_run_job(cli, &job, err);

	topdown_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"engine", 0, "ENGINE", false, "auto|pmu|sim",
		"source of the numbers: the PMU, or a simulator"},
	{"level", 0, "N", false, "1|2", "levels of the tree (default 2)"},
	{"repeat", 'r', "N", false, NULL,
		"rounds; each counts every set of events once (default 3)"},
	{"once", 0, NULL, false, NULL,
		"run the program only once: the events share the PMU and are scaled"},
	{"quick", 0, NULL, false, NULL,
		"only events that every CPU has, over 5 rounds: are instructions slow, and why"},
	{"time-limit", 0, "TIME", false, NULL,
		"with the simulator: stop after TIME and keep the counts so far"},
	{"report", 0, "FILE", false, NULL, "write a Markdown report (FILE.md)"},
	{"output", 'o', "RUN", false, NULL, "store the run in this file (*.assay)"},
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"},
	{0},
};

const struct command topdown_command = {
	.name = "topdown",
	.summary = "show where the cycles go, and what to do about it",
	.usage = "[--engine auto|pmu|sim] [--level N] [-r N] [--once|--quick] [-o RUN] -- PROGRAM "
		 "ARGS...",
	.examples = (const char *const[]){"assay topdown -- ./program input",
		"the tree of this CPU, the cause, and what to do",
		"assay topdown --quick -- ./program", "instructions, loads and branches only",
		"assay topdown --report finding.md -- ./program",
		"the same as a report for someone else", NULL},
	.details =
		"The program runs once for each set of events, three times over, so that nothing "
		"is multiplexed and each number has a range. Counters that fail the self-test, or "
		"read 0 where every program counts, are not used. A CPU without a table in assay "
		"gets generic events, and the output says so. Exit status 5 when the program "
		"failed, 6 when there is neither a PMU nor a simulator.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = topdown_run,
};
