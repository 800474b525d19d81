/* shorten.h - long names of functions for narrow places. */
#pragma once

#include "base/str.h"
#include "base/words.h" /* word_quote() */

/* Append `name` in at most `columns` (at least 8): first its arguments go, then what stands in
 * template brackets, outermost last, then the middle.  What was left out is marked "..". */
void name_shorten(const char *name, unsigned columns, struct str *out);

/* Append a path in at most `columns`: its end is what tells it apart. */
void path_shorten(const char *path, unsigned columns, struct str *out);

/* Append the words of a command line in at most `columns`: its start is what tells it apart. */
void words_shorten(const char *words, unsigned columns, struct str *out);
