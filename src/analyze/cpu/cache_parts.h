/* cache_parts.h - what cache.c and cache_levels.c share. */
#pragma once

#include "analyze/cache.h"

void cache_levels_make(const struct run *run, const struct site_summary *summary,
	struct cache_level_row *ret_rows);
