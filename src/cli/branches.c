/* branches.c - `assay branches -- ./program`: which branches are mispredicted, and what it costs.
 *
 *     assay branches run.assay --filter cond,ind_call */
#include "render/branches.h"

#include <errno.h>

#include "code/block.h"
#include "model/run.h"
#include "render/cpu_json.h"
#include "render/markdown.h"
#include "site_job.h"
#include "source/branch_filter.h"

enum { BLOCKS_MOST = 20000 }; /* decoded; beyond that nobody waits for a table */

struct branches_job {
	struct site_job site;
	struct branches_options options;
	struct branches_view view;
};

static void branches_job_done(struct branches_job *job)
{
	branches_done(&job->view);
	site_job_done(&job->site);
}

/* Where times and code are known, the instructions of each block. */
static void blocks_read(struct branches_view *view)
{
	block_reader_auto struct block_reader reader = {0};
	uint32_t count = 0;

	vec_foreach (struct branch_block, block, &view->blocks) {
		if (count++ == BLOCKS_MOST)
			break;
		block->instructions = block_instructions(
			&reader, block->path, block->build_id, block->start, block->end);
	}
	branches_add_instructions(view);
}

static void branches_draw(const void *context, const struct site_sheet *sheet)
{
	const struct branches_job *job = context;
	const struct branches_page page = {&job->view, &job->site.summary, sheet->limit};

	if (sheet->json)
		branches_json(sheet->json, &page);
	else if (sheet->markdown)
		branches_markdown(sheet->markdown, &page);
	else if (sheet->agent)
		branches_agent(sheet->paper, &page);
	else
		branches_text(sheet->paper, &page);
}

static int branches_run_job(struct branches_job *job, struct err *err)
{
	struct cli *cli = job->site.cli;
	const char *filter = cli_value(cli, "filter");
	struct site_way ways[] = {{.events = "cycles"}, {.events = "branch-misses:pp"},
		{.events = "branch-misses"}, {0}};
	const struct site_plan plan = {
		.set = "branches", .ways = ways, .metrics = branches_metrics};
	uint64_t hardware = 0;
	int r = filter ? branch_types_parse(filter, &job->options.types, err) : 0;

	job->options.whole = site_job_is_whole(cli);
	if (r >= 0 && filter && job->options.whole) {
		r = err_set(err, ERR_USAGE, EINVAL, "--filter and --level 1 exclude each other");
		err_hint(err, "--filter chooses among the places, which --level 2 shows");
	}
	if (r >= 0)
		r = branch_filter_parse(filter, &ways[0].branches, err);
	if (r >= 0)
		r = site_job_take(&job->site, &plan, err);
	if (r < 0)
		return r;
	job->options.unfiltered =
		run_get_quality(job->site.run, "branch_filter", &hardware) && hardware;
	r = branches_make(job->site.run, &job->options, &job->view, err);
	if (r < 0)
		return r;
	blocks_read(&job->view);
	branches_judge(&job->view, &job->site.arena, &job->site.summary);
	return site_job_answer(&job->site, branches_draw, job, err);
}

static int branches_run(struct cli *cli, struct err *err)
{
	struct branches_job job = {.site.cli = cli};
	int r = branches_run_job(&job, err);

	branches_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"filter", 0, "TYPES", false, NULL,
		"only these: cond, uncond, call, ind_call, ret, ind, syscall... with commas"},
	SITE_JOB_OPTIONS,
	{0},
};

const struct command branches_command = {
	.name = "branches",
	.summary = "which branches are mispredicted, and whether that explains the time",
	.usage = "RUN | [--engine ENGINE] [--level N] [--filter TYPES] [-o RUN] -- PROGRAM "
		 "ARGS...",
	.examples = (const char *const[]){"assay branches -- ./program input",
		"rates of the whole program, then the branches",
		"assay branches --engine sim -- ./program",
		"without a PMU: simulated, exact for the model, 20 to 75 times slower",
		"assay branches run.assay --filter cond",
		"the conditional branches of a run that was recorded with -b or imported", NULL},
	.details =
		"With a PMU the program runs twice: once to count branches and mispredictions, once to "
		"sample. Where the PMU records branches (Intel LBR, AMD LbrExtV2, Arm BRBE) each row is "
		"one branch with both ends; else branch-misses is sampled, and it is said whether the "
		"place is precise.\n"
		"Without a PMU the program runs once in a simulator (valgrind); every number is then "
		"labelled simulated. RUN is a run of `assay record -b`, or an imported recording.\n"
		"Exit status 5 when the program failed, 6 when there is neither a PMU nor a simulator, "
		"130 after Ctrl-C.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 1,
	.run = branches_run,
};
