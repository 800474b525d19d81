/* flame.h - a flame graph into a file. */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct flame_options;
struct flame_view;

/* `path` may be a pipe or a device.  `ret_bytes` may be NULL. */
int job_write_flame(const struct flame_view *view, const struct flame_options *look,
	const char *path, uint64_t *ret_bytes, struct err *err);
