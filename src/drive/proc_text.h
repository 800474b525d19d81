/* proc_text.h - numbers from files of /proc, for the spawner: without stdio, which would make it
 * 300 KiB larger, and no target can show a smaller peak than its starter. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of an open file, terminated; false when it cannot be read. */
bool proc_head_read(int fd, char *text, size_t capacity);

/* The number at `text`; where it ends, unless `ret_end` is NULL.  False: there is none. */
bool proc_number_read(const char *text, uint64_t *ret_value, const char **ret_end);
