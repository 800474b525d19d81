/* debug_lines.h - whether a program's source lines are to be had, as naming its addresses finds it.
 *
 * Does: the search of names.h, without asking debuginfod.  Does not: read what it found. */
#pragma once

#include "base/arena.h"

/* The file with the debug information of the program or library at `path`, in the arena: itself or
 * a separate one.  NULL: there is none, or it cannot be read. */
const char *debug_lines_find(const char *path, struct arena *arena);
