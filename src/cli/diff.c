/* diff.c - `assay diff old.assay new.assay`: what changed between two runs, noise left out. */
#include "render/diff.h"

#include "analyze/profile.h"
#include "cli.h"
#include "model/run.h"
#include "profile_options.h"
#include "render/profile_json.h"

enum { TEXT_ROWS = 30, LIMIT_MOST = 10000000 };

struct diff_job {
	struct run *a, *b;
	struct run *front; /* what the envelope tells */
	struct diff_view view;
	struct diff_counts_view counts;
	bool has_counts;
	struct arena arena;
};

static void diff_job_done(struct diff_job *job)
{
	run_close(job->a);
	run_close(job->b);
	run_close(job->front);
	diff_profile_done(&job->view);
	arena_done(&job->arena);
}

static enum profile_by by_of(const char *word)
{
	return !word || str_equal(word, "function") ? PROFILE_FUNCTION
	       : str_equal(word, "line")	    ? PROFILE_LINE
	       : str_equal(word, "module")	    ? PROFILE_MODULE
						    : PROFILE_FILE;
}

static void notes_of_side(struct run *front, const char *letter, const struct diff_side *side)
{
	vec_foreach (const struct profile_warning, warning, &side->quality.warnings) {
		str_auto struct str text = {0};

		str_addf(&text, "%s: %s", letter, warning->text);
		run_add_note(front, warning->code, text.at, warning->hint);
	}
}

static struct run *front_make(const struct diff_job *job)
{
	const struct diff_view *view = &job->view;
	struct run *front = run_open();

	front->partial = job->a->partial || job->b->partial;
	front->fingerprint = run_intern(front, run_text(job->b, job->b->fingerprint));
	if (!view->machines_known)
		run_add_note(front, "fingerprint-missing",
			"a run without a fingerprint does not say which machine it is from",
			"record both with assay to make them comparable");
	else if (view->machines.class == NOT_COMPARABLE && !view->refusals.count)
		run_add_note(front, "fingerprint-forced",
			"the fingerprints do not allow this comparison; it was forced",
			"assay env --diff shows the differences");
	else if (view->machines.class == ADVISORY)
		run_add_note(front, "fingerprint-advisory",
			"the fingerprints differ in ways that may change the numbers",
			"assay env --diff shows the differences");
	notes_of_side(front, "A", &view->a);
	notes_of_side(front, "B", &view->b);
	return front;
}

static int diff_show(struct cli *cli, const struct diff_job *job, uint64_t limit, struct err *err)
{
	struct diff_page page = {
		.a = cli->operands.at[0],
		.b = cli->operands.at[1],
		.view = &job->view,
		.counts = job->has_counts ? &job->counts : NULL,
		.all = cli_has(cli, "all"),
	};
	struct cli_page sheet = {.run = job->front};

	while (cli_page_next(cli, &sheet)) {
		page.limit = sheet.json || cli_has(cli, "limit") ? (uint32_t)limit : TEXT_ROWS;
		if (sheet.json)
			diff_json(sheet.json, &page);
		else if (cli->mode == CLI_AGENT)
			diff_agent(sheet.paper, &page);
		else
			diff_text(sheet.paper, &page);
	}
	return cli_page_end(cli, &sheet, err);
}

/* Samples, counts, or both: whatever the two runs have. */
static int diff_both(struct diff_job *job, struct diff_options *how, struct err *err)
{
	int r;

	job->has_counts = diff_counts_possible(job->a, job->b);
	how->without_samples = job->has_counts;
	r = diff_profile_make(job->a, job->b, how, &job->view, err);
	if (r < 0)
		return r;
	job->has_counts &= !job->view.refusals.count;
	if (job->has_counts)
		diff_counts_make(job->a, job->b, &job->arena, &job->counts);
	return 0;
}

static int diff_run(struct cli *cli, struct err *err)
{
	__attribute__((cleanup(diff_job_done))) struct diff_job job = {0};
	struct diff_options how = {
		.by = by_of(cli_value(cli, "by")),
		.by_total = cli_has(cli, "total"),
		.force = cli_has(cli, "force"),
	};
	uint64_t limit = 0;
	int r = profile_filter_take(cli, &how.filter, err);

	if (r >= 0)
		r = cli_number(cli, "limit", 0, LIMIT_MOST, 0, &limit, err);
	if (r >= 0)
		r = cli_load(cli, cli->operands.at[0], &job.a, err);
	if (r >= 0)
		r = cli_load(cli, cli->operands.at[1], &job.b, err);
	if (r >= 0)
		r = diff_both(&job, &how, err);
	if (r < 0)
		return r;
	job.front = front_make(&job);
	r = diff_show(cli, &job, limit, err);
	if (r < 0)
		return r;
	return job.view.refusals.count ? EXIT_NOT_COMPARABLE : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"by", 0, "WHAT", false, "function|line|module|file",
		"one row per item (default function)"},
	{"total", 0, NULL, false, NULL, "compare totals, including callees"},
	{"all", 0, NULL, false, NULL, "also list changes that may be noise"},
	{"limit", 'n', "N", false, NULL, "at most N rows, 0 for all (default 30; --json: all)"},
	{"force", 0, NULL, false, NULL, "compare even if the fingerprints do not allow it"},
	PROFILE_FILTER_OPTIONS,
	{0},
};

const struct command diff_command = {
	.name = "diff",
	.summary = "show what changed between the samples and counts of two runs",
	.usage = "A B [--by WHAT] [--total] [--all]",
	.examples = (const char *const[]){"assay diff old.assay new.assay",
		"functions whose share of the time has changed",
		"assay diff old.assay new.assay --by line --function parse",
		"lines, only with parse on the stack", NULL},
	.details =
		"Each row has its share in A and in B, the change in percentage points with its 95 "
		"% interval from the sample counts, and its cost (CPU time for clock events) per "
		"execution. Only rows that differ from noise at 5 % over all rows are listed. "
		"\"same cost\" marks a row whose share changed because others changed.\nThe "
		"interval covers sampling error. It does not cover how the program varies from run "
		"to run.",
	.options = options,
	.operands_min = 2,
	.operands_max = 2,
	.run = diff_run,
};
