/* shorten.h - long names of functions for narrow places. */
#pragma once

#include "base/str.h"

/* Append `name` in at most `columns` (at least 8): first its arguments go, then what stands in
 * template brackets, outermost last, then the middle.  What was left out is marked "..". */
void name_shorten(const char *name, unsigned columns, struct str *out);

/* Append a path in at most `columns`: its end is what tells it apart. */
void path_shorten(const char *path, unsigned columns, struct str *out);
