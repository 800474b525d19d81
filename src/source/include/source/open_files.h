/* open_files.h - the files that processes have open for writing, from /proc.
 *
 * Does: walk a process and all below it, and call back for each regular file that is open for
 * writing and is not only appended to.  No privilege is needed for one's own processes.
 * Does not: see what was opened and closed again between two looks, or mapped and closed.
 * Owns nothing. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* `path` is absolute and holds during the call. */
typedef void open_file_take(void *context, const char *path);

/* One look at `pid` and its children; nothing happens when it is gone. */
void open_files_look(pid_t pid, open_file_take *take, void *context);

/* Whether any process that may be looked at has it open for writing, appending too. */
bool open_files_has_writer(const struct stat *file);
