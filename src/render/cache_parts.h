/* cache_parts.h - what cache.c and cache_json.c share. */
#pragma once

#include "render/cache.h"

/* One sentence on where the sites come from, and how far to trust them. */
void cache_witness_add(struct str *out, const struct cache_view *view);
