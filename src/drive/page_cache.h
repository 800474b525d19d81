/* page_cache.h - make the next run find its files on disk, not in memory: private to the bench
 * runner. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* May the whole page cache be dropped?  -EPERM with the way out when not. */
int page_cache_check(struct err *err);

/* Write what is dirty, then drop the page cache of the whole machine, dentries and inodes too. */
int page_cache_drop(struct err *err);

/* Drop the pages of one file; needs no right but reading it.  *ret_left: pages that stayed, because
 * somebody has them mapped or they could not be written; UINT64_MAX: the kernel does not tell. */
int page_cache_drop_file(const char *path, uint64_t *ret_left, struct err *err);
