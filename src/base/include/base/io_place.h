/* io_place.h - where a file is written: its directory, open, and its name there.
 *
 * Others can plant links in directories that they may write to, and a link is followed with the
 * rights of whoever writes.  So a path is walked once, link by link, and from then on everything
 * happens relative to the open directory and never through a link.  Followed are links of one's
 * own and of root; in directories that are not open to all (/tmp is), for users other than root,
 * everybody's.  Root also refuses a directory, and a file to be changed, of another user, unless
 * that is who called sudo ($SUDO_UID).
 * Does not: create directories on the way, or write.  Owns: the descriptor. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

/* What files are made with: a run and what belongs to it, or what the umask makes of an export. */
enum { IO_PRIVATE = 0600, IO_SHARED = 0666, IO_PRIVATE_FOLDER = 0700 };

struct io_place {
	const char *path; /* as the user calls it; borrowed */
	int folder;	  /* O_PATH; -1 when closed */
	char name[NAME_MAX + 1];
};

/* Whether files of this user are as good as our own: ours, root's, or of who called sudo. */
bool io_place_is_ours(uid_t owner);

/* Find the place of `path`, whose last part may be missing.  Refusals are ERR_OUTPUT. */
int io_place_open(struct io_place *place, const char *path, struct err *err);
void io_place_done(struct io_place *place);
#define io_place_auto __attribute__((cleanup(io_place_done)))

/* Open the regular file there for writing; `flags` are those of open(), O_CREAT makes it with
 * `mode`.  A descriptor, or a negative errno with a sentence. */
int io_place_open_file(const struct io_place *place, int flags, unsigned mode, struct err *err);

/* 0 when the file there, if any, may be replaced. */
int io_place_check(const struct io_place *place, struct err *err);

/* Make the directory `path`, unless it is there, and check that it is one to write to.  1 when it
 * was made, 0 when it was there, or a negative errno with a sentence. */
int io_place_make_folder(const char *path, unsigned mode, struct err *err);

/* Make the names in the directory durable.  0 or negative errno. */
int io_place_sync(const struct io_place *place);
