/* cache.c - which level of the memory hierarchy misses, and where. */
#include "site_parts.h"

int cache_job_do(struct cache_job *job, const struct site_options *options, bool by_function,
	const struct job_host *host, struct err *err)
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
	const struct cache_options how = {.by_function = by_function, .whole = options->whole};
	int r = site_job_take(&job->site, options, host, &plan, err);

	if (r < 0)
		return r;
	cache_make(job->site.run, &job->site.summary, &how, &job->view);
	cache_judge(&job->view, &job->site.arena, &job->site.summary);
	site_job_advise(&job->site);
	return 0;
}

void cache_job_done(struct cache_job *job)
{
	cache_done(&job->view);
	site_job_done(&job->site);
}
