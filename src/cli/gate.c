/* gate.c - `assay gate --baseline main`: may this change go in?
 *
 *     assay bench --save main './prog data'     on the old build
 *     assay gate --baseline main                on the new one: exit 1 when it is slower */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/words.h"
#include "bench_options.h"
#include "job/gate.h"
#include "render/compare_json.h"
#include "render/export.h"
#include "render/markdown.h"

enum { RUNS_GIVEN_MAX = 64, CONFIRM_MAX = 10, BLOCKS_MIN = 2, BLOCKS_MAX = 100 };

static int options_read(struct cli *cli, struct gate_job_options *options, struct err *err)
{
	uint64_t blocks = 0;

	*options = (struct gate_job_options){
		.baselines = cli_values(cli, "baseline"),
		.candidate = cli_value(cli, "candidate"),
		.budgets = cli_value(cli, "budgets"),
		.preset = cli_value(cli, "preset"),
		.fail_on = cli_value(cli, "fail-on"),
		.metrics = cli_value(cli, "metrics"),
		.only = cli_value(cli, "only"),
		.allow_mismatch = cli_has(cli, "allow-mismatch"),
		.missing_ok = cli_has(cli, "missing-ok"),
		.envelope = cli_has(cli, "envelope"),
	};
	if (bench_options_read(cli, &options->bench, err) < 0 ||
		cli_share(cli, "min-effect", &options->min_effect, err) < 0 ||
		cli_count(cli, "confirm", CONFIRM_MAX, &options->confirm, err) < 0 ||
		cli_number(cli, "blocks", BLOCKS_MIN, BLOCKS_MAX, 0, &blocks, err) < 0)
		return -err->code;
	options->blocks = (uint32_t)blocks;
	return 0;
}

static int summary_append(const char *path, const struct str *text, struct err *err)
{
	io_auto int fd = open(
		path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	int r = fd < 0 ? -errno : io_write_all(fd, str_text(text), text->len);

	if (r < 0) {
		err_set(err, ERR_OUTPUT, -r, "cannot append to %s: %s", path, err_words(-r));
		err_hint(err, "it is set by GITHUB_STEP_SUMMARY; unset it to skip this");
	}
	return r;
}

/* Markdown file, step summary and annotations, where they were asked for. */
static int extras_write(const struct cli *cli, const struct gate_page *page, struct err *err)
{
	const char *summary = cli_has(cli, "github") ? getenv("GITHUB_STEP_SUMMARY") : NULL;
	str_auto struct str text = {0}, lines = {0};
	int r;

	gate_markdown(&text, page);
	r = cli_write(cli, "markdown", &text, err);
	if (r >= 0 && summary && *summary)
		r = summary_append(summary, &text, err);
	if (r < 0 || !cli_has(cli, "github"))
		return r;
	gate_github(&lines, page);
	/* The runner reads both; stdout may be one JSON document, or end with the next command. */
	r = io_write_all(
		cli->mode == CLI_TEXT ? STDOUT_FILENO : STDERR_FILENO, str_text(&lines), lines.len);
	if (r < 0) {
		err_set(err, ERR_OUTPUT, -r, "cannot write the annotations: %s", err_words(-r));
		err_hint(err, "remove --github where nobody reads annotations");
	}
	return r;
}

static int gate_show(struct cli *cli, struct gate_job *job, struct err *err)
{
	struct cli_page page = {.run = job->page_run,
		.to_stderr = job->bench.run && bench_job_shares_stdout(&job->bench)};
	str_auto struct str reproduce = {0};
	struct err late = {0};
	int r, extra;

	str_add(&reproduce, "assay ");
	words_quote(cli->argv + 1, &reproduce);
	job->page.reproduce = str_text(&reproduce);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			gate_json(page.json, &job->page);
		else if (cli->mode == CLI_AGENT)
			gate_agent(page.paper, &job->page);
		else
			gate_text(page.paper, &job->page);
	}
	r = cli_page_end(cli, &page, err);
	extra = extras_write(cli, &job->page, r < 0 ? &late : err);
	return r < 0 ? r : extra;
}

static int gate_run(struct cli *cli, struct err *err)
{
	static const int statuses[] = {
		[GATE_PASS] = EXIT_DONE,
		[GATE_WARN] = EXIT_DONE,
		[GATE_UNKNOWN] = EXIT_INCONCLUSIVE,
		[GATE_FAIL] = EXIT_REGRESSION,
		[GATE_REFUSED] = EXIT_NOT_COMPARABLE,
	};
	struct gate_job_options options;
	struct gate_job job;
	int r = options_read(cli, &options, err), end, status;

	if (r < 0)
		return r;
	gate_job_open(&job, &options, &cli->host);
	end = gate_job_judge(&job, err);
	r = end < 0 ? end : gate_show(cli, &job, err);
	status = statuses[job.view.verdict.decision];
	gate_job_done(&job);
	if (status == EXIT_INCONCLUSIVE && cli_has(cli, "allow-inconclusive"))
		status = EXIT_DONE;
	return r < 0 ? r : bench_status(end, status);
}

static const struct option_spec options[] = {
	{"baseline", 'b', "NAME|RUN", false, NULL,
		"baseline: a name of --save or a run file; may be repeated"},
	{"candidate", 0, "NAME|RUN", false, NULL, "judge this stored run; run nothing"},
	{"budgets", 0, "FILE", false, NULL, "file with the limits of each command"},
	{"preset", 0, "NAME", false, NULL, "severity scale: perf-regression (default) or ci"},
	{"fail-on", 0, "SEVERITY", false, "minor|moderate|major",
		"fail from this severity (default: the preset's)"},
	{"min-effect", 0, "SHARE", false, NULL,
		"smallest change that matters (default: the preset's)"},
	{"metrics", 0, "LIST", false, NULL, "metrics to judge (default wall,cpu,max_rss)"},
	{"only", 0, "TEXT", false, NULL, "only commands that contain this text"},
	{"runs", 'n', "N", false, NULL, "run each command N times (default: as in the baseline)"},
	{"confirm", 0, "N", false, NULL, "measure a failure up to N times again: most must fail"},
	{"allow-mismatch", 0, NULL, false, NULL,
		"compare different machines; the result is advisory"},
	{"allow-inconclusive", 0, NULL, false, NULL, "exit 0, not 3, when inconclusive"},
	{"missing-ok", 0, NULL, false, NULL, "a missing baseline is only a warning"},
	{"envelope", 0, NULL, false, NULL, "check whether repeated baselines agree"},
	{"blocks", 0, "N", false, NULL, "with --envelope of one run: split it in N (default 3)"},
	{"markdown", 0, "FILE", false, NULL, "write a comment for a pull request"},
	{"github", 0, NULL, false, NULL, "print annotations and fill the step summary"},
	{"no-history", 0, NULL, false, NULL, "do not write .assay/history.ndjson"},
	BENCH_OPTIONS{0},
};

static const char *const examples[] = {
	"assay gate --baseline main",
	"run the commands of `assay bench --save main` again: are they slower?",
	"assay gate --baseline main --budgets perf.budgets -- ./build/prog data",
	"another build against the baseline and the budgets",
	"assay gate --baseline main --confirm 2 --markdown gate.md --github",
	"for CI: a failure must show in two of three measurements",
	"assay gate --envelope main1 main2 main3",
	"do three baselines of one build agree?",
	NULL,
};

const struct command gate_command = {
	.name = "gate",
	.summary = "fail when slower than a baseline or budget",
	.usage = "--baseline NAME|RUN [--budgets FILE] [--candidate NAME|RUN | -- CMD]",
	.examples = examples,
	.details =
		"Without a candidate the commands of the baseline run again, as often as before. A "
		"change counts only with a test (p < 0.01, corrected), an interval and a size. "
		"Exit status: 0 pass or warn, 1 slower or over budget, 3 inconclusive, 4 the "
		"machines are not comparable, 5 a command failed.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = RUNS_GIVEN_MAX,
	.run = gate_run,
};
