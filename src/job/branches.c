/* branches.c - which branches are mispredicted, and what it costs. */
#include "code/block.h"
#include "model/run.h"
#include "site_parts.h"
#include "source/branch_filter.h"

enum { BLOCKS_MOST = 20000 }; /* decoded; beyond that nobody waits for a table */

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

int branches_job_do(struct branches_job *job, const struct site_options *options,
	const char *filter, const struct job_host *host, struct err *err)
{
	struct site_way ways[] = {{.events = "cycles"}, {.events = "branch-misses:pp"},
		{.events = "branch-misses"}, {0}};
	const struct site_plan plan = {
		.set = "branches", .ways = ways, .metrics = branches_metrics};
	struct branches_options how = {.whole = options->whole};
	uint64_t hardware = 0;
	int r = filter ? branch_types_parse(filter, &how.types, err) : 0;

	if (r >= 0)
		r = branch_filter_parse(filter, &ways[0].branches, err);
	if (r >= 0)
		r = site_job_take(&job->site, options, host, &plan, err);
	if (r < 0)
		return r;
	how.unfiltered = run_get_quality(job->site.run, "branch_filter", &hardware) && hardware;
	r = branches_make(job->site.run, &how, &job->view, err);
	if (r < 0)
		return r;
	blocks_read(&job->view);
	branches_judge(&job->view, &job->site.arena, &job->site.summary);
	site_job_advise(&job->site);
	return 0;
}

void branches_job_done(struct branches_job *job)
{
	branches_done(&job->view);
	site_job_done(&job->site);
}
