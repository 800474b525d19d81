/* scope.h - which source files are the user's own.
 *
 * Patterns match a whole path; % stands for any text, as in coz.  A pattern without % and without
 * a leading / matches the end of a path, from a / on.  Without patterns everything is the user's
 * but what a compiler, a language or the system brought along.  Borrows its patterns. */
#pragma once

#include <stdbool.h>

struct scope {
	const char *const *patterns; /* NULL-terminated; NULL or none: the default */
};

bool scope_has(const struct scope *scope, const char *path);

/* Does `path` end with `end`, from a / on?  The way FILE is meant in FILE:LINE. */
bool scope_path_ends(const char *path, const char *end);
