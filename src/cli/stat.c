/* stat.c - `assay stat -e task-clock,page-faults -r 5 -- ./program`: count what a program does. */
#include "job/stat.h"

#include <errno.h>
#include <unistd.h>

#include "analyze/stat.h"
#include "cli.h"
#include "model/run.h"
#include "render/cpu_json.h"
#include "render/stat.h"

/* The simulator starts a program of its own; it cannot look at one that runs. */
static int simulator_check(const struct cli *cli, struct err *err)
{
	static const char *const foreign[] = {"pid", "tid", "all-cpus", "interval", "proc"};

	for (unsigned i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (cli_has(cli, foreign[i])) {
			err_set(err, ERR_USAGE, EINVAL, "--engine sim and --%s exclude each other",
				foreign[i]);
			return err_hint(err,
				"it simulates a whole run of a program: assay stat --engine sim -- "
				"PROGRAM");
		}
	return 0;
}

static int watch_choose(const struct cli *cli, struct stat_options *options, struct err *err)
{
	unsigned chosen = cli_has(cli, "pid") + cli_has(cli, "tid") + cli_has(cli, "all-cpus");
	const char *which = cli_has(cli, "pid") ? "pid" : "tid";
	uint64_t id;
	int r;

	if (cli_has(cli, "time-limit") || cli_has(cli, "delay")) {
		err_set(err, ERR_USAGE, EINVAL, "--%s needs --engine sim",
			cli_has(cli, "delay") ? "delay" : "time-limit");
		return err_hint(err, "add --engine sim, or remove it");
	}
	if (chosen > 1) {
		err_set(err, ERR_USAGE, EINVAL, "-p, -t and -a exclude each other");
		return err_hint(err, "count one process, one thread or the whole machine");
	}
	if (cli_has(cli, "proc") && (cli_has(cli, "all-cpus") || cli_has(cli, "tid"))) {
		err_set(err, ERR_USAGE, EINVAL, "--proc follows a program or one process");
		return err_hint(err, "remove -a and -t, or name a process with -p PID");
	}
	if (cli_has(cli, "all-cpus")) {
		options->count.mode = COUNTERS_MACHINE;
		return 0;
	}
	if (!chosen)
		return 0;
	r = cli_number(cli, which, 1, INT32_MAX, 0, &id, err);
	options->count.mode = str_equal(which, "pid") ? COUNTERS_PROCESS : COUNTERS_THREAD;
	options->count.id = (pid_t)id;
	return r;
}

/* -I 100 is milliseconds, as in perf; -I 2s is a duration like any other. */
static int interval_choose(const struct cli *cli, uint64_t *ret_ns, struct err *err)
{
	const char *text = cli_value(cli, "interval");
	uint64_t number;

	*ret_ns = 0;
	if (!text)
		return 0;
	if (str_to_u64(text, &number) == 0 && number <= 86400000)
		*ret_ns = number * 1000000;
	else if (str_to_duration(text, ret_ns) < 0)
		*ret_ns = 0;
	if (*ret_ns >= 1000000)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "invalid -I '%s'", text);
	return err_hint(err, "write at least 1 ms: -I 100 or -I 2s");
}

static void interval_show(void *context, struct stat_job *job)
{
	uint32_t *counts_shown = context;
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};
	arena_auto struct arena arena = {0};
	struct stat_view view;

	stat_view_more(job->run, counts_shown, &arena, &view);
	for (uint32_t i = 0; i < view.interval_count; i++)
		stat_interval_text(&paper, &view, &view.intervals[i]);
	(void)cli_say(STDERR_FILENO, &text);
}

static int stat_show(struct cli *cli, struct stat_job *job, struct err *err)
{
	struct cli_page page = {.run = job->run, .to_stderr = true};
	struct stat_view view;

	stat_view_make(job->run, &job->book, &job->arena, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			stat_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			stat_agent(page.paper, &view);
		else
			stat_text(page.paper, &view);
	}
	return cli_page_end(cli, &page, err);
}

static int stat_status(const struct cli *cli, const struct stat_job *job, bool interrupted)
{
	int status = cli_target_status(cli, job->run);

	if (interrupted && cli->program)
		return EXIT_INTERRUPTED;
	if (status || cli->target_status)
		return status;
	if ((cli_has(cli, "strict") && stat_run_misses_event(job->run)) ||
		(!job->options.simulated && stat_run_is_empty(job->run)))
		return EXIT_UNAVAILABLE;
	return EXIT_DONE;
}

static int options_read(struct cli *cli, struct stat_options *options, struct err *err)
{
	const char *engine = cli_value(cli, "engine");
	uint64_t repeat = 0;
	int r;

	options->simulated = engine && str_equal(engine, "sim");
	options->count.argv = cli->program;
	options->events = cli_values(cli, "event");
	options->sets = cli_values(cli, "set");
	options->metrics = cli_values(cli, "metric");
	options->count.watch_proc = cli_has(cli, "proc");
	options->output = cli_value(cli, "output");
	options->fingerprint = cli_has(cli, "json");
	r = options->simulated ? simulator_check(cli, err) : watch_choose(cli, options, err);
	if (r >= 0)
		r = interval_choose(cli, &options->count.interval_ns, err);
	if (r >= 0)
		r = cli_number(cli, "repeat", 1, 1000000, 1, &repeat, err);
	if (r >= 0)
		r = cli_duration(cli, "time-limit", 0, &options->limit_ns, err);
	if (r >= 0)
		r = cli_duration(cli, "delay", 0, &options->delay_ns, err);
	options->count.repeat = (uint32_t)repeat;
	return r;
}

static int stat_run_job(struct cli *cli, struct stat_job *job, struct err *err)
{
	uint32_t counts_shown = 0;
	struct stat_options options = {.context = &counts_shown};
	struct err late = {0};
	int r = options_read(cli, &options, err), shown;

	if (r < 0)
		return r;
	if (options.count.interval_ns && cli->mode == CLI_TEXT && !cli->quiet)
		options.each = interval_show;
	r = stat_job_do(job, &options, &cli->host, err);
	if (!job->run->frozen)
		return r;
	shown = stat_show(cli, job, r < 0 ? &late : err);
	if (r < 0 || shown < 0) {
		cli_target_tell(cli, job->run);
		return r < 0 ? r : shown;
	}
	return stat_status(cli, job, r > 0);
}

static int stat_run(struct cli *cli, struct err *err)
{
	struct stat_job job = {0};
	int r = stat_run_job(cli, &job, err);

	stat_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"event", 'e', "EVENTS", false, NULL,
		"events: names (also this CPU vendor's), {groups}, :u :k :p modifiers, "
		"SYSTEM:TRACEPOINT, rHEX, PMU/FIELD=VALUE/; may be repeated"},
	{"set", 0, "NAME", false, NULL,
		"named set of events: default, memory, branches, l1, l2_tlb..."},
	{"metric", 'M', "NAME", false, NULL, "count the events of this metric"},
	{"repeat", 'r', "N", false, NULL, "run the program N times and show medians"},
	{"interval", 'I', "MS", false, NULL, "also show counts every MS milliseconds"},
	{"pid", 'p', "PID", false, NULL,
		"count a running process until it ends, until Ctrl-C, or until PROGRAM ends"},
	{"tid", 't', "TID", false, NULL, "count one thread"},
	{"all-cpus", 'a', NULL, false, NULL, "count the whole machine"},
	{"proc", 0, NULL, false, NULL,
		"also read /proc ten times a second: run queue, switches, reads and writes, "
		"memory, pressure"},
	{"strict", 0, NULL, false, NULL, "exit 6 when an event could not be counted"},
	{"engine", 0, "ENGINE", false, "auto|pmu|sim",
		"source of the counts; sim: valgrind's CPU model, exact and repeatable, 20 to 75 "
		"times slower"},
	{"time-limit", 0, "TIME", false, NULL,
		"with --engine sim: stop a run after TIME and keep the counts so far"},
	{"delay", 0, "TIME", false, NULL,
		"with --engine sim and calls: count from TIME on; until then it simulates faster"},
	{"output", 'o', "RUN", false, NULL, "store the run in this file (*.assay)"},
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"},
	{0},
};

const struct command stat_command = {
	.name = "stat",
	.summary = "count events of a program, process or machine",
	.usage = "[-e EVENTS] [--set NAME] [-r N] [-p PID|-a] [-I MS] [--strict] [--engine sim] -- "
		 "PROGRAM ARGS...",
	.examples = (const char *const[]){"assay stat -- ./program input",
		"the usual counts, wall and CPU time, peak memory",
		"assay stat -r 10 -e task-clock,page-faults,{cycles,instructions}:u -- ./program",
		"ten runs, medians; two events in one group, user mode only",
		"assay stat -p 1234 -I 1000", "process 1234, every second",
		"assay stat --engine sim -e instructions -- ./program",
		"instructions without a PMU: the same number in every run", NULL},
	.details =
		"What could not be counted is shown with the reason, never as 0. Exit status 5 "
		"when the program failed (see --target-status), 6 with --strict when an event is "
		"missing, 130 after Ctrl-C; the counts are shown and stored in each case.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = stat_run,
};
