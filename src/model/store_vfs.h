/* store_vfs.h - all that SQLite can reach of the file system while it has a run file open: the file
 * itself, by a descriptor that its opener checked, and the journal beside it.  Private to the
 * store.
 *
 * Reading writes nothing and deletes nothing: a transaction that a killed writer left in a journal
 * is rolled back in memory, by SQLite's own code, which costs memory for the pages in the journal
 * only.  Writing makes the journal anew each time (never through a link) and believes none that is
 * there: whoever can put one beside the file could have SQLite delete any file ("super-journal").
 * Locks are those of SQLite on every Unix, so `sqlite3 RUN` can be open at the same time.
 * Threads: one per struct store_vfs. */
#pragma once

#include <sqlite3.h>

#include "base/map.h"
#include "base/vec.h"

enum { STORE_SECTOR_BYTES = 512 }; /* what a page of any database is a multiple of */

struct store_sector {
	unsigned char bytes[STORE_SECTOR_BYTES];
};

struct store_vfs {
	int folder; /* where file and journal are; borrowed, as are the next two */
	int fd;	    /* the database */
	const char *name;
	bool writes;
	/* Ours from here on. */
	int journal;	   /* reading: what a killed writer left, or -1 */
	bool is_done_with; /* reading: the journal was rolled back */
	bool has_size;	   /* reading: `size` counts, the file was truncated in memory */
	uint64_t size;
	struct map sector_of; /* number of a sector to 1 + its index: what was written in memory */
	vec_of(struct store_sector) sectors;
	sqlite3_vfs vfs;
	char vfs_name[40];
};

/* Open the database behind `vfs->fd`: an SQLite result code.  `*vfs` must stay where it is until
 * store_vfs_close(), which takes a NULL database too. */
int store_vfs_open(struct store_vfs *vfs, sqlite3 **ret_db);
int store_vfs_close(struct store_vfs *vfs, sqlite3 *db);

/* The journal of `name` in `folder`: a descriptor; -ENOENT when there is none or it means nothing
 * (it has not begun); -EINVAL when assay cannot have written it: not a regular file, or with the
 * name of a second file; another negative errno. */
int store_journal_open(int folder, const char *name);
