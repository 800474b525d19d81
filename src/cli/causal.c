/* causal.c - `assay causal -- ./program` or `-p PID`: what would it gain if this line
 * were faster?
 *
 *     assay causal --show monday.assay tuesday.assay --svg gain.svg
 *
 * runs nothing: experiments that were stored or imported are judged again, as they would be right
 * after they were made. */
#include "job/causal.h"

#include <errno.h>
#include <string.h>

#include "analyze/causal_view.h"
#include "cli.h"
#include "render/answer_json.h"
#include "render/causal.h"
#include "render/export.h"
#include "render/markdown.h"
#include "render/svg.h"

/* --speedup: of the four levels, only those that are named. */
static int levels_read(const struct cli *cli, uint8_t *ret_levels, struct err *err)
{
	const char *text;

	for (unsigned i = 0; (text = cli_value_at(cli, "speedup", i)); i++) {
		uint64_t percent;
		unsigned level = 0;

		if (str_to_u64(text, &percent) < 0)
			percent = 0;
		while (level < CAUSAL_LEVELS && causal_levels[level] * 100 != (double)percent)
			level++;
		if (level == CAUSAL_LEVELS) {
			err_set(err, ERR_USAGE, EINVAL, "invalid --speedup '%s'", text);
			return err_hint(err, "levels: 25, 50, 75 and 100 percent");
		}
		*ret_levels |= (uint8_t)(1u << level);
	}
	return 0;
}

static enum causal_engine_choice engine_of(const char *word)
{
	if (!word || str_equal(word, "auto"))
		return CAUSAL_AUTO;
	return str_equal(word, "bpf") ? CAUSAL_ONLY_BPF : CAUSAL_ONLY_PRELOAD;
}

static int options_read(struct cli *cli, struct causal_job_options *options, struct err *err)
{
	uint64_t pid = 0, period_us = 0;

	*options = (struct causal_job_options){
		.run = {.argv = cli->program,
			.follows = cli_value(cli, "follow"),
			.engine = engine_of(cli_value(cli, "engine"))},
		.progress = cli_value(cli, "progress"),
		.scope = cli_values(cli, "scope"),
		.fixed = cli_values(cli, "fixed"),
		.waits = cli_values(cli, "waits"),
		.output = cli_value(cli, "output"),
	};
	if (cli_has(cli, "pid") && options->run.follows)
		return err_refuse(err, "--follow needs a program to start",
			"attach to the child itself with -p PID");
	if (cli_has(cli, "pid") && cli->program)
		return err_refuse(err, "-p and a program exclude each other",
			"attach to the process, or start the program under assay");
	if ((cli_has(cli, "pid") || options->run.follows) && options->progress &&
		str_equal(options->progress, CAUSAL_END_NAME))
		return err_refuse(err, "--progress end needs the program itself, to start it again",
			"start it under assay, without -p and --follow");
	if (cli_number(cli, "pid", 1, INT32_MAX, 0, &pid, err) < 0 ||
		cli_duration(cli, "budget", 0, &options->run.budget_ns, err) < 0 ||
		cli_number(cli, "period", 50, 100000, 0, &period_us, err) < 0 ||
		levels_read(cli, &options->levels, err) < 0)
		return -err->code;
	options->run.id = (pid_t)pid;
	options->run.period_ns = period_us * 1000;
	return 0;
}

/* With --show the words that would be a program are more runs. */
static int stored_read(struct cli *cli, const char **ret_paths, struct err *err)
{
	static const char *const measuring[] = {
		"scope", "fixed", "waits", "budget", "period", "target-status", NULL};
	const char *path;

	for (const char *const *name = measuring; *name; name++)
		if (cli_has(cli, *name)) {
			err_set(err, ERR_USAGE, EINVAL,
				"--%s needs new experiments, and --show makes none", *name);
			return err_hint(err, "remove one of the two");
		}
	for (unsigned i = 0; (path = cli_value_at(cli, "show", i)); i++)
		*ret_paths++ = path;
	for (char **word = cli->program; word && *word; word++) {
		if (**word == '-') {
			err_set(err, ERR_USAGE, EINVAL, "option %s after a run", *word);
			return err_hint(err,
				"write options first: assay causal %s ... --show RUN RUN...",
				*word);
		}
		*ret_paths++ = *word;
	}
	return 0;
}

static int files_write(const struct cli *cli, const struct run *run, const struct causal_view *view,
	struct arena *arena, struct err *err)
{
	str_auto struct str coz = {0}, markdown = {0}, svg = {0};
	const char *target = run_text(run, run->target);
	int r;

	if (cli_has(cli, "coz")) {
		struct causal_log log;

		causal_log_make(run, arena, &log);
		causal_coz(&coz, &log);
	}
	if (cli_has(cli, "markdown"))
		causal_markdown(&markdown, view, target);
	if (cli_has(cli, "svg"))
		causal_svg(&svg, view, target);
	r = cli_write(cli, "coz", &coz, err);
	if (r >= 0)
		r = cli_write(cli, "markdown", &markdown, err);
	return r < 0 ? r : cli_write(cli, "svg", &svg, err);
}

/* Show what the experiments of `run` say.  An enum exit_status, or a negative errno. */
static int causal_show(
	struct cli *cli, const struct run *run, const char *judge, bool to_stderr, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct cli_page page = {.run = run, .to_stderr = to_stderr};
	struct causal_view view;
	int r = causal_view_make(run, run->experiments.count ? judge : NULL, &arena, &view, err);

	if (r >= 0)
		r = files_write(cli, run, &view, &arena, err);
	if (r < 0)
		return r;
	while (cli_page_next(cli, &page)) {
		if (page.json)
			causal_json(page.json, &view, cli_value(cli, "coz"));
		else if (cli->mode == CLI_AGENT)
			causal_agent(page.paper, &view);
		else
			causal_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : view.pairs ? EXIT_DONE : EXIT_INCONCLUSIVE;
}

static int stored_show(struct cli *cli, struct err *err)
{
	run_auto struct run *run = NULL;
	const char **paths;
	size_t words = 0;
	int r;

	while (cli->argv[words])
		words++;
	paths = arena_take(&cli->arena, words * sizeof(*paths));
	r = stored_read(cli, paths, err);
	if (r >= 0)
		r = causal_load_stored(&cli->host, paths, cli_value(cli, "output"), &run, err);
	return r < 0 ? r : causal_show(cli, run, cli_value(cli, "progress"), false, err);
}

/* A program that failed before there was anything to experiment with is the program's failure. */
static int status_of(const struct cli *cli, const struct causal_job *job, int shown)
{
	struct execution_row last;

	if (job->is_interrupted)
		return EXIT_INTERRUPTED;
	if (!cli->target_status && shown == EXIT_INCONCLUSIVE && job->target_failed)
		return EXIT_TARGET;
	if (!cli->target_status || !job->run->executions.count)
		return shown;
	last = run_execution(job->run, job->run->executions.count);
	return last.signal ? 128 + last.signal : last.exit_status;
}

static int causal_run_command(struct cli *cli, struct err *err)
{
	struct causal_job_options options;
	struct causal_job job;
	struct err late = {0};
	int r, shown = 0;

	if (cli_has(cli, "show"))
		return stored_show(cli, err);
	r = options_read(cli, &options, err);
	if (r < 0)
		return r;
	causal_job_open(&job, &options, &cli->host);
	r = causal_job_measure(&job, err);
	if (r >= 0 || job.run->experiments.count)
		shown = causal_show(cli, job.run, job.rounds.judge, true, r < 0 ? &late : err);
	if (r >= 0)
		r = shown < 0 ? shown : status_of(cli, &job, shown);
	if (r < 0)
		cli_target_tell(cli, job.run);
	causal_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"pid", 'p', "PID", false, NULL,
		"attach to a running process and leave it unchanged (needs --progress)"},
	{"progress", 0, "POINT", false, NULL,
		"progress point: a counter's name, FILE:LINE, FUNCTION, syscall:NAME, "
		"usdt:PROVIDER:NAME, auto, or end (of the program: whole runs are compared)"},
	{"follow", 0, "FILE", false, NULL,
		"experiment on the child that runs this file: PROGRAM is a script or a driver"},
	{"scope", 's', "SCOPE", false, NULL,
		"only lines of these files, % matches any text (default: the program's own files)"},
	{"fixed", 'f', "TARGET", false, NULL,
		"only this target: FILE:LINE, FUNCTION, FUNCTION+ (with all it calls) or "
		"FUNCTION@CALLER; may be repeated"},
	{"waits", 0, "TARGET", false, NULL, "only waits in calls from here; may be repeated"},
	{"budget", 0, "TIME", false, NULL,
		"total time budget (default 60s of experiments; the program then continues)"},
	{"engine", 0, "ENGINE", false, "auto|bpf|preload",
		"how waits are observed: bpf (in the kernel) or preload (no privileges needed)"},
	{"speedup", 0, "PERCENT", false, NULL,
		"only this level: 25, 50, 75 or 100; may be repeated (default: all four)"},
	{"period", 0, "US", false, NULL, "sampling interval in microseconds (default 1000)"},
	{"output", 'o', "FILE", false, NULL, "store the experiments in this file (*.assay)"},
	{"show", 0, "RUN", false, NULL,
		"show stored experiments, of several runs together, without running anything"},
	{"coz", 0, "FILE", false, NULL, "write profile.coz for coz's viewer"},
	{"markdown", 0, "FILE", false, NULL, "write a report"},
	{"svg", 0, "FILE", false, NULL, "write the curves as SVG"},
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"},
	{0},
};

const struct command causal_command = {
	.name = "causal",
	.summary = "show what the program would gain if a line were faster",
	.usage = "[--progress POINT] [-s SCOPE] [-f TARGET] [--budget TIME] (-p PID | -- PROGRAM "
		 "ARGS...)",
	.examples = (const char *const[]){"assay causal -- ./server --requests 100000",
		"which line is worth making faster, and the gain",
		"assay causal --progress handle_request -f parse.c:142 -- ./server",
		"one line, judged by the calls of a function",
		"assay causal --budget 30s --svg gain.svg -o gain.assay -- ./program",
		"half a minute, with the curves",
		"assay causal -p 1234 --progress handle_request --budget 30s",
		"a running process, for half a minute",
		"assay causal --progress end --budget 60s -f 'pack+' -- ./archive-all",
		"a program with no regular event: whole runs, with and without the speed-up",
		"assay causal --show gain.assay --markdown gain.md",
		"show the result again without running anything", NULL},
	.details =
		"Slows everything except one line for a moment, in proportion, and measures the "
		"program's progress: the difference is the gain from making that line faster. "
		"Progress is counted by ASSAY_PROGRESS (assay.h), by coz's macros, or at a "
		"function, line or system call given with --progress. Without any of these, whole "
		"runs are compared if the program is short.\nA program that ends early is started "
		"again within the budget. Exit status 3 when no experiment was possible, 5 "
		"when the program failed, 6 when this machine or user cannot run experiments."
		"\nWithout permission for BPF the program samples itself and waits are seen "
		"through interposed pthread functions; the output names the engine and what "
		"it does not see.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = causal_run_command,
};
