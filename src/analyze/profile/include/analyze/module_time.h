/* module_time.h - in which files the time is: of each, the samples that have it on their stack.
 *
 * So a program counts for what it calls in its libraries too, and a shell that waits for the
 * program counts for nothing.  Pure; texts are the run's. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct run;

struct module_time {
	const char *path;
	double share; /* of all samples, by their periods; the shares add up to more than 1 */
};

/* The files of the user's side, the largest share first.  Errors as sample_walk_make() has them. */
int module_times_make(const struct run *run, struct arena *arena, struct module_time **ret_times,
	uint32_t *ret_count, struct err *err);
