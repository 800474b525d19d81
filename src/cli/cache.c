/* cache.c - `assay cache -- ./program`: which level of the memory hierarchy misses, and where.
 *
 *     assay cache run.assay --by function */
#include "render/cache.h"

#include "render/cpu_json.h"
#include "render/markdown.h"
#include "site_job.h"

struct cache_job {
	struct site_job site;
	struct cache_options options;
	struct cache_view view;
};

static void cache_job_done(struct cache_job *job)
{
	cache_done(&job->view);
	site_job_done(&job->site);
}

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

static int cache_run_job(struct cache_job *job, struct err *err)
{
	static const struct site_way ways[] = {
		{.events = "cpu/mem-loads,ldlat=30/pp", .accesses = true},
		{.events = "LLC-load-misses:pp", .accesses = true},
		{.events = "cache-misses:pp"},
		{.events = "cache-misses"},
		{0},
	};
	const struct site_plan plan = {
		.set = "hierarchy", .own_sets = cache_sets, .ways = ways, .metrics = cache_metrics};
	const char *by = cli_value(job->site.cli, "by");
	int r = site_job_take(&job->site, &plan, err);

	if (r < 0)
		return r;
	job->options.by_function = by && str_equal(by, "function");
	job->options.whole = site_job_is_whole(job->site.cli);
	cache_make(job->site.run, &job->site.summary, &job->options, &job->view);
	cache_judge(&job->view, &job->site.arena, &job->site.summary);
	return site_job_answer(&job->site, cache_draw, job, err);
}

static int cache_run(struct cli *cli, struct err *err)
{
	struct cache_job job = {.site.cli = cli};
	int r = cache_run_job(&job, err);

	cache_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"by", 0, "WHAT", false, "line|function", "one site for each of these (default line)"},
	SITE_JOB_OPTIONS,
	{0},
};

const struct command cache_command = {
	.name = "cache",
	.summary = "which caches and TLBs miss, and where",
	.usage = "RUN | [--engine ENGINE] [--level N] [--by WHAT] [-o RUN] -- PROGRAM ARGS...",
	.examples = (const char *const[]){"assay cache -- ./program input",
		"accesses and misses of each level, then the lines",
		"assay cache --engine sim --by function -- ./program",
		"without a PMU: two simulated data levels, by function",
		"assay cache run.assay --report cache.md",
		"a stored or imported run, also as a report", NULL},
	.details =
		"With a PMU the program runs three times: for generic events, for this CPU's own ones "
		"(L2, page walks, how many reads of memory are under way; not on a CPU that assay has no "
		"table of), and to sample loads with their latency where the CPU can, else misses; it is "
		"said whether the place is precise. A level that was not counted says why and is never "
		"0.\n"
		"Without a PMU the program runs once in a simulator (valgrind): L1 and the last level, "
		"no L2, no TLBs, no prefetching; every number is labelled simulated.\n"
		"Exit status 5 when the program failed, 6 when there is neither a PMU nor a simulator, "
		"130 after Ctrl-C.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 1,
	.run = cache_run,
};
