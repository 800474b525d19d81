/* report.c - `assay report run.assay`: who used the time.
 *
 *     assay report run.assay --by line --limit 20
 *     assay report run.assay --callers memcpy */
#include "render/report.h"

#include <errno.h>

#include "cli.h"
#include "model/run.h"
#include "profile_options.h"
#include "render/profile_json.h"

enum { TEXT_ROWS = 30, TREE_ROWS = 40, LIMIT_MOST = 10000000 };
#define TREE_LEAST 0.005 /* of the function, in text */

struct report_job {
	struct cli *cli;
	struct run *run;
	struct run *front; /* what the envelope tells: the run's notes, and ours */
	struct profile_options options;
	struct profile_view view;
	struct call_tree tree;
	struct profile_quality quality; /* of the tree */
	struct report_page page;
};

static void report_job_done(struct report_job *job)
{
	run_close(job->run);
	run_close(job->front);
	profile_done(&job->view);
	call_tree_done(&job->tree);
	profile_quality_done(&job->quality);
}

static enum profile_by by_of(const char *word)
{
	static const char *const words[] = {"function", "line", "module", "file", "thread"};

	for (unsigned i = 0; word && i < sizeof(words) / sizeof(*words); i++)
		if (str_equal(word, words[i]))
			return (enum profile_by)i;
	return PROFILE_FUNCTION;
}

static int options_take(struct report_job *job, struct err *err)
{
	const struct cli *cli = job->cli;
	uint64_t limit = 0;
	int r = profile_filter_take(cli, &job->options.filter, err);

	if (r >= 0)
		r = profile_min_take(cli, &job->options.min_share, err);
	if (r >= 0)
		r = cli_number(cli, "limit", 0, LIMIT_MOST, 0, &limit, err);
	if (r >= 0 && cli_has(cli, "callers") && cli_has(cli, "callees")) {
		r = err_set(err, ERR_USAGE, EINVAL, "--callers and --callees exclude each other");
		err_hint(err, "choose one");
	}
	job->options.by = by_of(cli_value(cli, "by"));
	job->options.by_total = cli_has(cli, "total");
	job->options.limit = (uint32_t)limit;
	return r;
}

/* Callers or callees of one function. */
static int tree_make(struct report_job *job, struct err *err)
{
	bool callers = cli_has(job->cli, "callers");
	struct call_tree_options options = {
		.filter = job->options.filter,
		.by = job->options.by == PROFILE_LINE ? LABEL_LINE : LABEL_FUNCTION,
		.inverted = callers,
		.root = cli_value(job->cli, callers ? "callers" : "callees"),
	};
	int r = call_tree_make(job->run, &options, &job->tree, err);

	if (r < 0)
		return r;
	call_tree_sort(&job->tree, CALL_TREE_BY_TOTAL);
	profile_quality_make(job->run, &options.filter, &job->tree.samples, &job->quality);
	job->page.tree = &job->tree;
	job->page.quality = &job->quality;
	job->page.callers = callers;
	job->page.function =
		job->tree.nodes.at[0].first_child
			? call_tree_label(&job->tree,
				  &job->tree.nodes.at[job->tree.nodes.at[0].first_child])
				  ->name
			: options.root;
	return 0;
}

static int view_make(struct report_job *job, struct err *err)
{
	int r;

	if (cli_has(job->cli, "callers") || cli_has(job->cli, "callees"))
		return tree_make(job, err);
	r = profile_make(job->run, &job->options, &job->view, err);
	job->page.profile = &job->view;
	job->page.quality = &job->view.quality;
	return r;
}

static int report_show(struct report_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct report_page *page = &job->page;
	struct cli_page sheet = {.run = job->front};

	while (cli_page_next(cli, &sheet)) {
		bool all = sheet.json || cli_has(cli, "limit");

		page->limit = all ? job->options.limit : page->tree ? TREE_ROWS : TEXT_ROWS;
		page->min_share = cli_has(cli, "min") || sheet.json || !page->tree
					  ? job->options.min_share
					  : TREE_LEAST;
		if (sheet.json)
			report_json(sheet.json, page);
		else if (cli->mode == CLI_AGENT)
			report_agent(sheet.paper, page);
		else
			report_text(sheet.paper, page);
	}
	return cli_page_end(cli, &sheet, err);
}

static int report_run(struct cli *cli, struct err *err)
{
	__attribute__((cleanup(report_job_done))) struct report_job job = {
		.cli = cli, .page.path = cli->operands.at[0]};
	int r = options_take(&job, err);

	if (r >= 0)
		r = cli_load(cli, job.page.path, &job.run, err);
	if (r >= 0)
		r = view_make(&job, err);
	if (r < 0)
		return r;
	job.front = profile_front(job.run, job.page.quality);
	r = report_show(&job, err);
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"by", 0, "WHAT", false, "function|line|module|thread|file",
		"one row per item (default function)"},
	{"total", 0, NULL, false, NULL, "sort by total, including callees"},
	{"limit", 'n', "N", false, NULL, "at most N rows, 0 for all (default 30; --json: all)"},
	{"min", 0, "PCT", false, NULL, "omit rows below PCT percent"},
	{"callers", 0, "FN", false, NULL, "show callers of this function"},
	{"callees", 0, "FN", false, NULL, "show what this function called"},
	PROFILE_FILTER_OPTIONS,
	{0},
};

const struct command report_command = {
	.name = "report",
	.summary = "show which functions, lines or threads used the time",
	.usage = "RUN [--by WHAT] [--total] [--callers FN] [--limit N]",
	.examples = (const char *const[]){"assay report assay.run.assay",
		"functions by the time they used themselves",
		"assay report run.assay --by line --thread worker", "source lines of one thread",
		"assay report run.assay --callers memcpy", "callers of memcpy, and their shares",
		NULL},
	.details =
		"The first line shows the quality of the samples: how many, of which event, how "
		"many were lost, how many stacks are truncated or broken, how many samples have no "
		"function name, and the recorder's CPU time relative to the program's.\nSelf "
		"counts samples in the row itself, total also those in anything it called; "
		"recursion counts a sample once. Shares weight each sample by its period.\nA "
		"function is given by its full name, without arguments, or by any part that "
		"matches only one function.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = report_run,
};
