/* git.h - what git says about the working directory, asked of the installed git.
 *
 * Reads only: the index is not refreshed on disk (GIT_OPTIONAL_LOCKS=0).  Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `user.name` of the configuration into `name`; false when there is none. */
bool git_user(char *name, size_t capacity);

/* The commit that is checked out; false: no working tree, or no git. */
bool git_head(char *commit, size_t capacity);

/* Whether tracked files were changed since; false: it could not be found out within two seconds. */
bool git_is_dirty(bool *ret_dirty);
