/* io.h - whole files in, whole files out.
 *
 * Reading is bounded: a file larger than the caller expects is refused, never swallowed.  Writing
 * is atomic: a temporary file beside the target, fsync, rename; a reader sees the old file or the
 * new one, and a full disk leaves the old one as it was. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/io_place.h"
#include "base/str.h"

/* Open a regular file for reading, as every path that others choose is opened: a pipe, a device or
 * a socket in its place is looked at, never opened, so that nobody waits and no device starts.
 * `flags` is 0 or O_NOFOLLOW; `ret_status` may be NULL.  A descriptor or a negative errno: -EISDIR
 * for a directory, IO_NOT_REGULAR for everything else that is not a file. */
int io_open_regular(int dir_fd, const char *path, int flags, struct stat *ret_status);
#define IO_NOT_REGULAR (-EMEDIUMTYPE) /* no system call that opens gives it */

/* Append the whole of the regular file `path` (relative to `dir_fd`, which is a directory of ours
 * or of the kernel; AT_FDCWD: the working directory) to `text`.  Works on /proc and /sys, whose
 * sizes lie.  Negative errno, -EFBIG past `limit` bytes. */
int io_read_at(int dir_fd, const char *path, size_t limit, struct str *text);

/* The same, with a sentence for people. */
int io_read(const char *path, size_t limit, struct str *text, struct err *err);

/* The same for what the user names on the command line: a pipe too, for which it waits. */
int io_read_stream(const char *path, size_t limit, struct str *text, struct err *err);
/* The sentence for a read that failed with `r` (-EFBIG: more than `limit`); `r` again. */
int io_read_failed(const char *path, size_t limit, int r, struct err *err);

/* One small file of /proc or /sys without its last newline: length, or negative errno.  Cut to
 * `capacity` - 1 bytes. */
int io_read_line(const char *path, char *line, size_t capacity);

/* All of `bytes` to `fd`, through short writes and EINTR.  0 or negative errno. */
int io_write_all(int fd, const void *bytes, size_t len);

/* Make the names in the folder of `path` durable.  0 or negative errno. */
int io_sync_folder(const char *path);

/* Replace `path` by these bytes, whole or not at all.  Here and below: io_place.h says which paths
 * are refused, and `mode` is IO_PRIVATE for what belongs to a run, IO_SHARED for what a user
 * asks for by name. */
int io_replace(const char *path, unsigned mode, const void *bytes, size_t len, struct err *err);

/* Append lines to `path`, which is made when it is missing, with one write: what several writers
 * add at the same time does not mix.  A last line that some writer left torn is ended first, so
 * that it costs only itself. */
int io_append(const char *path, unsigned mode, const void *lines, size_t len, struct err *err);

/* Replacing piece by piece: open, write, close.  Until the close nothing stands at `path`. */
struct io_writer {
	int fd;
	char *path; /* where it goes, as the user calls it */
	struct io_place place;
	char *temporary; /* its name until then; NULL: written through (a pipe, a device) */
};

int io_writer_open(struct io_writer *writer, const char *path, unsigned mode, struct err *err);

/* 0 or negative errno; `writer` is a struct io_writer (so that it fits struct stream). */
int io_writer_write(void *writer, const void *bytes, size_t len);

/* Put the file in place, or, when `failure` is a negative errno, remove it and say so. */
int io_writer_close(struct io_writer *writer, int failure, struct err *err);

/* For the cleanup attribute: `io_auto int fd = -1;` */
void io_close_pointer(int *fd);
#define io_auto __attribute__((cleanup(io_close_pointer)))
