/* git.h - what git says about the working directory, asked of the installed git.
 *
 * Reads only: the index is not refreshed on disk, and nothing that the repository's configuration
 * names is run.  Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the repository around the working directory belongs to another user (io_place.h), who
 * then has written its configuration: git should not be asked there. */
bool git_is_foreign(uint32_t *ret_owner);

/* `user.name` of the configuration into `name`; false when there is none. */
bool git_user(char *name, size_t capacity);

/* The commit that is checked out; false: no working tree, or no git. */
bool git_head(char *commit, size_t capacity);

/* Whether tracked files were changed since; false: it could not be found out within two seconds. */
bool git_is_dirty(bool *ret_dirty);
