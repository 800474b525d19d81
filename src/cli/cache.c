/* cache.c - `assay cache -- ./program`: which level of the memory hierarchy misses, and where.
 *
 *     assay cache run.assay --by function */
#include "render/cache.h"

#include "render/cpu_json.h"
#include "render/markdown.h"
#include "site_page.h"

static void cache_draw(const void *context, const struct site_sheet *sheet)
{
	const struct cache_job *job = context;
	const struct cache_page page = {&job->view, &job->site.summary, sheet->limit};

	if (sheet->json)
		cache_json(sheet->json, &page);
	else if (sheet->markdown)
		cache_markdown(sheet->markdown, &page);
	else if (sheet->agent)
		cache_agent(sheet->paper, &page);
	else
		cache_text(sheet->paper, &page);
}

static int cache_run(struct cli *cli, struct err *err)
{
	const char *by = cli_value(cli, "by");
	struct site_options options;
	struct cache_job job = {0};
	int r = site_options_read(cli, &options, err);

	if (r >= 0)
		r = cache_job_do(&job, &options, by && str_equal(by, "function"), &cli->host, err);
	if (r >= 0)
		r = site_page_show(cli, &job.site, cache_draw, &job, err);
	cache_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"by", 0, "WHAT", false, "line|function", "group by this (default line)"},
	SITE_OPTIONS,
	{0},
};

const struct command cache_command = {
	.name = "cache",
	.summary = "show which caches and TLBs miss, and where",
	.usage = "RUN | [--engine ENGINE] [--level N] [--by WHAT] [-o RUN] -- PROGRAM ARGS...",
	.examples = (const char *const[]){"assay cache -- ./program input",
		"accesses and misses of each level, then lines",
		"assay cache --engine sim --by function -- ./program",
		"without a PMU: two simulated data levels, by function",
		"assay cache run.assay --report cache.md",
		"a stored or imported run, also as a report", NULL},
	.details =
		"With a PMU the program runs three times: for generic events, for this CPU's own "
		"events (L2, page walks, pending memory reads; only on CPUs that assay has a table "
		"for), and to sample loads with their latency where the CPU can, otherwise misses; "
		"the output says whether the location is precise. A level that was not counted "
		"shows the reason, never 0.\nWithout a PMU the program runs once in a simulator "
		"(valgrind): L1 and the last level, no L2, TLBs or prefetching; every number is "
		"marked as simulated.\nExit status 5 when the program failed, 6 when there is "
		"neither a PMU nor a simulator, 130 after Ctrl-C.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 1,
	.run = cache_run,
};
