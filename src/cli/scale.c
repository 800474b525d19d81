/* scale.c - `assay scale './sort_it {n}'`: how the time grows with the size of the input. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench_options.h"
#include "job/scale.h"
#include "render/compare_json.h"
#include "render/markdown.h"
#include "render/scale.h"
#include "render/svg.h"

static int options_read(struct cli *cli, struct scale_job_options *options, struct err *err)
{
	*options = (struct scale_job_options){
		.sizes = cli_value(cli, "sizes"),
		.threads = cli_value(cli, "threads"),
		.variables = cli_values(cli, "env"),
		.expect = cli_value(cli, "expect"),
		.metric = cli_value(cli, "metric"),
	};
	if (cli->operands.count + (cli->program != NULL) != 1) {
		err_set(err, ERR_USAGE, EINVAL, "assay scale takes one command");
		return err_hint(err, "usage: assay scale %s", cli->command->usage);
	}
	return bench_options_read(cli, &options->bench, err);
}

static int files_write(const struct cli *cli, const struct scale_view *view, struct err *err)
{
	static const struct {
		const char *option;
		void (*write)(struct str *out, const struct scale_view *view);
	} files[] = {{"svg", scale_svg}, {"export-markdown", scale_markdown}};
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < sizeof(files) / sizeof(*files); i++) {
		str_auto struct str text = {0};

		if (cli_has(cli, files[i].option))
			files[i].write(&text, view);
		r = cli_write(cli, files[i].option, &text, err);
	}
	return r;
}

/* The terminal's own encoding, by the variables that every program goes by. */
static bool terminal_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (unsigned i = 0; i < 3; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strstr(value, "UTF-8") || strstr(value, "utf8") ||
			       strstr(value, "UTF8") || strstr(value, "utf-8");
	}
	return false;
}

static int scale_show(struct cli *cli, const struct scale_job *job, struct err *err)
{
	const struct scale_view *view = &job->view;
	struct cli_page page = {
		.run = job->bench.run, .to_stderr = bench_job_shares_stdout(&job->bench)};
	struct err late = {0};
	int r, written = files_write(cli, view, err);

	while (cli_page_next(cli, &page)) {
		if (page.paper)
			page.paper->ascii |= !terminal_is_utf8();
		if (page.json)
			scale_json(page.json, view);
		else if (cli->mode == CLI_AGENT)
			scale_agent(page.paper, view);
		else
			scale_text(page.paper, view);
	}
	r = cli_page_end(cli, &page, written < 0 ? &late : err);
	return written < 0 ? written : r;
}

static int status_of(const struct scale_view *view)
{
	switch (view->expectation) {
	case SCALE_MET:
		return EXIT_DONE;
	case SCALE_WORSE:
		return EXIT_REGRESSION;
	case SCALE_UNDECIDED:
		return EXIT_INCONCLUSIVE;
	case SCALE_NOT_ASKED:
		break;
	}
	return view->doubt == SCALE_SURE ? EXIT_DONE : EXIT_INCONCLUSIVE;
}

static int scale_run_command(struct cli *cli, struct err *err)
{
	struct scale_job_options options;
	struct scale_job job;
	struct err late = {0};
	int r = options_read(cli, &options, err), end;

	if (r < 0)
		return r;
	scale_job_open(&job, &options, &cli->host);
	end = scale_job_measure(&job, err);
	if (job.has_view)
		r = scale_show(cli, &job, end < 0 ? &late : err);
	if (end >= 0)
		end = r < 0 ? r : bench_status(end, status_of(&job.view));
	scale_job_done(&job);
	return end;
}

static const struct option_spec options[] = {
	{"sizes", 0, "LIST", false, NULL,
		"1k,10k,100k or 1..64x2 or 10..50+10 (default 1,10,50,100,500,1000)"},
	{"threads", 0, "LIST", false, NULL,
		"scale over threads instead: 1,2,4, or auto for this machine's CPUs"},
	{"env", 0, "NAME", false, NULL,
		"also pass the size or count in this variable; may be repeated"},
	{"metric", 0, "METRIC", false, "wall|cpu", "metric to fit (default wall)"},
	{"expect", 0, "LAW", false, NULL, "exit 1 when it grows faster than this: 'O(n log n)'"},
	{"runs", 'n', "N", false, NULL, "run each size exactly N times"},
	{"budget", 0, "TIME", false, NULL,
		"measure for about this long in total (default 10s, and 7 runs of each size)"},
	{"svg", 0, "FILE", false, NULL, "write the chart as SVG"},
	{"export-markdown", 0, "FILE", false, NULL, "write verdict and table as Markdown"},
	BENCH_OPTIONS{0},
};

static const char *const examples[] = {
	"assay scale './sort_it {n}'",
	"how the time grows with n = 1, 10, 50, 100, 500, 1000",
	"assay scale --sizes 1k..1Mx10 --expect 'O(n log n)' --metric cpu './sort_it {n}'",
	"a gate: exit status 1 when it is worse than n log n",
	"assay scale --threads auto './work -t {t}'",
	"what more threads gain, and where it ends",
	NULL,
};

const struct command scale_command = {
	.name = "scale",
	.summary = "show how time grows with input size, or throughput with threads",
	.usage = "[--sizes LIST | --threads LIST] [--expect LAW] 'CMD {n}'",
	.examples = examples,
	.details =
		"{n} in the command, in --prepare and in --input is replaced by the size ({t} is "
		"the same). Sizes are interleaved, every other round backwards. The laws are O(1), "
		"O(log n), O(n), O(n log n) and O(n^2), each with a start-up cost. Exit status: 0 "
		"one law stands out, 3 none does, 1 worse than --expect.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 1,
	.run = scale_run_command,
};
