/* job_host.h - a host for tests of src/job: quiet, never interrupted, and it remembers what it was
 * told last. */
#pragma once

#include <stdio.h>

#include "job/host.h"

static char host_told[512];

static inline struct interrupt host_never(void)
{
	return (struct interrupt){0};
}

static inline void host_hear(void *context, const char *text)
{
	(void)context;
	snprintf(host_told, sizeof(host_told), "%s", text);
}

static inline struct job_host host_of(const char *command, const char *target)
{
	static char name[] = "assay", *argv[] = {name, NULL};

	return (struct job_host){.command = command,
		.target = target,
		.argv = argv,
		.tell = host_hear,
		.interrupted = host_never};
}
