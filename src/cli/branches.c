/* branches.c - `assay branches -- ./program`: which branches are mispredicted, and what it costs.
 *
 *     assay branches run.assay --filter cond,ind_call */
#include "render/branches.h"

#include <errno.h>

#include "render/cpu_json.h"
#include "render/markdown.h"
#include "site_page.h"

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

static int branches_run(struct cli *cli, struct err *err)
{
	const char *filter = cli_value(cli, "filter");
	struct site_options options;
	struct branches_job job = {0};
	int r = site_options_read(cli, &options, err);

	if (r >= 0 && filter && options.whole) {
		r = err_set(err, ERR_USAGE, EINVAL, "--filter and --level 1 exclude each other");
		err_hint(err, "--filter selects places, which --level 2 shows");
	}
	if (r >= 0)
		r = branches_job_do(&job, &options, filter, &cli->host, err);
	if (r >= 0)
		r = site_page_show(cli, &job.site, branches_draw, &job, err);
	branches_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"filter", 0, "TYPES", false, NULL,
		"only these types: cond, uncond, call, ind_call, ret, ind, syscall... "
		"(comma-separated)"},
	SITE_OPTIONS,
	{0},
};

const struct command branches_command = {
	.name = "branches",
	.summary = "show mispredicted branches, and whether they explain the time",
	.usage = "RUN | [--engine ENGINE] [--level N] [--filter TYPES] [-o RUN] -- PROGRAM "
		 "ARGS...",
	.examples = (const char *const[]){"assay branches -- ./program input",
		"rates of the whole program, then each branch",
		"assay branches --engine sim -- ./program",
		"without a PMU: simulated, exact for the model, 20 to 75 times slower",
		"assay branches run.assay --filter cond",
		"conditional branches of a run recorded with -b or imported", NULL},
	.details =
		"With a PMU the program runs twice: once to count branches and mispredictions, "
		"once to sample. Where the PMU records branches (Intel LBR, AMD LbrExtV2, Arm "
		"BRBE) each row is one branch with source and target; otherwise branch-misses is "
		"sampled, and the output says whether the location is precise.\nWithout a PMU the "
		"program runs once in a simulator (valgrind), and every number is marked as "
		"simulated. RUN is a run of `assay record -b`, or an imported recording.\nExit "
		"status 5 when the program failed, 6 when there is neither a PMU nor a simulator, "
		"130 after Ctrl-C.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 1,
	.run = branches_run,
};
