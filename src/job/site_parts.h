/* site_parts.h - what branches.c and cache.c share: private to them and site.c. */
#pragma once

#include "job/site.h"

/* One way to sample. */
struct site_way {
	const char *events; /* as -e takes them; NULL: the end of the list */
	uint64_t branches;  /* see source/sampler.h, and the next one */
	bool accesses;
};

struct site_plan {
	const char *set; /* counted in the first run */
	/* Sets of the CPU's own table (data/cpus), counted in a second one where it has them; ends
	 * with NULL.  NULL: none. */
	const char *const *own_sets;
	const struct site_way *ways;
	const char *const *metrics;
};

/* Load the run that was named, or measure the program.  The run is frozen and the summary made. */
int site_job_take(struct site_job *job, const struct site_options *options,
	const struct job_host *host, const struct site_plan *plan, struct err *err);

/* Once the verdict is there: add the advice. */
void site_job_advise(struct site_job *job);

void site_job_done(struct site_job *job);
