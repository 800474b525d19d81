/* job_host.h - a host for tests of src/job: quiet and never interrupted. */
#pragma once

#include "job/host.h"

static inline struct interrupt host_never(void)
{
	return (struct interrupt){0};
}

static inline struct job_host host_of(const char *command, const char *target)
{
	static char name[] = "assay", *argv[] = {name, NULL};

	return (struct job_host){
		.command = command, .target = target, .argv = argv, .interrupted = host_never};
}
