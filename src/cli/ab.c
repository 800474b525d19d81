/* ab.c - `assay ab ./old data -- ./new data`: is B slower than A, faster, or the same? */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench_options.h"
#include "job/ab.h"
#include "render/compare_json.h"

enum { PAIRS_EXACT_MAX = 100000 };

/* --name, --name=yes or --name=no. */
static enum ab_wish wish_of(const struct cli *cli, const char *name)
{
	const char *value = cli_value(cli, name);

	if (!cli_has(cli, name))
		return AB_WHERE_USEFUL;
	return value && str_equal(value, "no") ? AB_NO : AB_YES;
}

static int options_read(struct cli *cli, struct ab_job_options *options, struct err *err)
{
	*options = (struct ab_job_options){
		.run = cli_value(cli, "run"),
		.build = cli_value(cli, "build"),
		.same_output = wish_of(cli, "same-output"),
		.events = wish_of(cli, "events"),
		.after = cli_values(cli, "after"),
	};
	if (bench_options_read(cli, &options->bench, err) < 0 ||
		cli_count(cli, "pairs", PAIRS_EXACT_MAX, &options->bench.counts.exact, err) < 0 ||
		cli_share(cli, "min-effect", &options->min_effect, err) < 0)
		return -err->code;
	return 0;
}

static int ab_show(struct cli *cli, const struct ab_job *ab, struct err *err)
{
	struct cli_page page = {
		.run = ab->job.run,
		.told = AB_TOLD,
		.to_stderr = bench_job_shares_stdout(&ab->job),
	};

	while (cli_page_next(cli, &page)) {
		if (page.json)
			ab_json(page.json, &ab->page);
		else if (cli->mode == CLI_AGENT)
			ab_agent(page.paper, &ab->page);
		else
			ab_text(page.paper, &ab->page);
	}
	return cli_page_end(cli, &page, err);
}

/* What a build printed, line by line: it may print anything. */
static void log_show(const struct str *log)
{
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};

	for (const char *line = str_text(log); *line; line += *line == '\n') {
		int len = (int)strcspn(line, "\n");

		paper_add(&paper, "%.*s\n", len, line);
		line += len;
	}
	(void)cli_say(STDERR_FILENO, &text);
}

static int ab_run_command(struct cli *cli, struct err *err)
{
	static const int statuses[] = {
		[COMPARE_INCONCLUSIVE] = EXIT_INCONCLUSIVE,
		[COMPARE_EQUIVALENT] = EXIT_DONE,
		[COMPARE_IMPROVED] = EXIT_DONE,
		[COMPARE_REGRESSED] = EXIT_REGRESSION,
	};
	struct ab_job_options options;
	struct ab_job ab;
	struct err late = {0};
	int r = options_read(cli, &options, err), end;

	if (r < 0)
		return r;
	ab_job_open(&ab, &options, &cli->host);
	end = ab_job_measure(&ab, err);
	/* What a build printed last stands before the sentence that it failed. */
	log_show(&ab.build_log);
	if (ab.page.view)
		r = ab_show(cli, &ab, end < 0 ? &late : err);
	if (end >= 0)
		end = r < 0 ? r : bench_status(end, statuses[ab.view.verdict.outcome]);
	ab_job_done(&ab);
	return end == -EINTR ? EXIT_INTERRUPTED : end;
}

static const struct option_spec options[] = {
	{"pairs", 'n', "PAIRS", false, NULL, "measure exactly this many pairs, then judge once"},
	{"budget", 0, "TIME", false, NULL, "total time budget (default 60s)"},
	{"min-effect", 0, "SHARE", false, NULL, "smallest change that matters (default 1%)"},
	{"run", 0, "CMD", false, NULL,
		"A and B are git revisions: check out each in its own directory and run this "
		"there; . is the working tree"},
	{"build", 0, "CMD", false, NULL, "build each revision with this first (sh -c)"},
	{"same-output", 0, "yes|no", true, "yes|no",
		"run each once first and stop if their output differs; default with --run"},
	{"events", 0, "yes|no", true, "yes|no",
		"count events in five more runs of each to explain a change; default with a PMU"},
	{"after", 0, "RUN", false, NULL,
		"an earlier `ab` stored with -o: multiply its change with this one; may be "
		"repeated, in order"},
	BENCH_OPTIONS{0},
};

static const char *const examples[] = {
	"assay ab ./old data -- ./new data",
	"is the new program slower, faster or the same?",
	"assay ab --min-effect 3% 'sort a.txt' -- 'sort --parallel=1 a.txt'",
	"changes below 3 % do not matter",
	"assay ab -n 40 -o ab.assay ./old -- ./new",
	"exactly 40 pairs, stored in a file",
	"assay ab --build 'make -j2' --run './program data' main -- .",
	"is the working tree slower than main? Builds both in their own directories",
	NULL,
};

const struct command ab_command = {
	.name = "ab",
	.summary = "compare two programs by interleaved runs",
	.usage = "[-n PAIRS] [--budget TIME] A -- B",
	.examples = examples,
	.details =
		"A and B are each one quoted command, or a program with its arguments: the words "
		"before -- and after it. With --run they are two git revisions; your working tree, "
		"index and branches are only read. The verdict is about B relative to A. Exit "
		"status: 0 equivalent or improved, 1 regressed, 3 inconclusive, 5 a build or run "
		"failed or the outputs differ.",
	.options = options,
	.program = PROGRAM_PAIR,
	.operands_min = 1,
	.operands_max = 100000,
	.run = ab_run_command,
};
