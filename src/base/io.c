/* io.c - see io.h.  The temporary file has the process id in its name, so that two tools writing
 * the same result never mix; it is removed on every failure path. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

void io_close_pointer(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int io_open_regular(int dir_fd, const char *path, int flags, struct stat *ret_status)
{
	io_auto int there = openat(dir_fd, path, O_PATH | O_CLOEXEC | flags);
	struct stat status, opened;
	char self[32];
	int fd;

	if (there < 0 || fstat(there, &status) < 0)
		return -errno;
	if (S_ISLNK(status.st_mode))
		return -ELOOP;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : IO_NOT_REGULAR;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
	/* Not to wait for a lease that its owner holds on the file, either. */
	fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) /* /proc is not mounted */
		fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &opened) < 0 || opened.st_ino != status.st_ino ||
		opened.st_dev != status.st_dev) {
		close(fd);
		return -ESTALE;
	}
	if (ret_status)
		*ret_status = opened;
	return fd;
}

/* The kernel's own files cannot be anything else, so they are opened without a look. */
static int io_open_input(int dir_fd, const char *path)
{
	int fd;

	if (dir_fd == AT_FDCWD && !str_starts(path, "/proc/") && !str_starts(path, "/sys/"))
		return io_open_regular(dir_fd, path, 0, NULL);
	fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* All of `fd` up to the limit; a negative errno in place of a descriptor comes back. */
static int io_read_fd(int fd, size_t limit, struct str *text)
{
	size_t start = text->len;
	char piece[16384];
	ssize_t got;

	if (fd < 0)
		return fd;
	while ((got = read(fd, piece, sizeof(piece))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (text->len - start + (size_t)got > limit)
			return -EFBIG;
		str_add_bytes(text, piece, (size_t)got);
	}
	return 0;
}

int io_read_at(int dir_fd, const char *path, size_t limit, struct str *text)
{
	io_auto int fd = io_open_input(dir_fd, path);

	return io_read_fd(fd, limit, text);
}

int io_read_failed(const char *path, size_t limit, int r, struct err *err)
{
	if (r == IO_NOT_REGULAR) {
		err_set(err, ERR_USAGE, EINVAL, "%s is not a regular file", path);
		return err_hint(err, "name a file; store what a pipe gives in one first");
	}
	if (r == -EFBIG) {
		err_set(err, ERR_USAGE, EFBIG, "%s is larger than the limit of %zu KiB", path,
			limit >> 10);
		err_hint(err, "check that this is the right file");
	} else if (r < 0) {
		err_set(err, ERR_USAGE, -r, "cannot read %s: %s", path, err_words(-r));
		err_hint(err, r == -ENOENT   ? "check the path"
			      : r == -EISDIR ? "name a file in it"
					     : "check its permissions");
	}
	return r;
}

int io_read(const char *path, size_t limit, struct str *text, struct err *err)
{
	return io_read_failed(path, limit, io_read_at(AT_FDCWD, path, limit, text), err);
}

int io_read_stream(const char *path, size_t limit, struct str *text, struct err *err)
{
	io_auto int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return io_read_failed(path, limit, io_read_fd(fd < 0 ? -errno : fd, limit, text), err);
}

int io_read_line(const char *path, char *line, size_t capacity)
{
	io_auto int fd = io_open_input(AT_FDCWD, path);
	ssize_t got;

	if (fd < 0)
		return fd;
	got = read(fd, line, capacity - 1);
	if (got < 0)
		return -errno;
	while (got && line[got - 1] == '\n')
		got--;
	line[got] = '\0';
	return (int)got;
}

int io_write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t put = write(fd, at, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		at += put;
		len -= (size_t)put;
	}
	return 0;
}

int io_sync_folder(const char *path)
{
	mem_auto char *copy = mem_copy_text(path, strlen(path));
	io_auto int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && fsync(fd) == 0 ? 0 : -errno;
}

/* There is nothing to replace, only to write: a terminal, a pipe, a device, and the links
 * /dev/stdout and /dev/fd/N even when a plain file stands behind them. */
static bool io_is_stream(const char *path)
{
	struct stat there, link;

	if (stat(path, &there) < 0)
		return false;
	if (!S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
		return true;
	return (str_starts(path, "/dev/") || str_starts(path, "/proc/")) &&
	       lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
}

/* A new file in the same directory.  In a container every start has the same process id, so a
 * temporary file that a killed tool left behind has our name: take the next one. */
static int io_open_temporary(const struct io_place *place, unsigned mode, struct str *ret_name)
{
	int fd = -1;

	for (unsigned i = 0; i < 100; i++) {
		str_clear(ret_name);
		str_addf(ret_name, "%s.%d-%u.tmp", place->name, (int)getpid(), i);
		fd = openat(place->folder, ret_name->at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			(mode_t)mode);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

static int io_fail(const char *path, int r, struct err *err)
{
	err_set(err, ERR_OUTPUT, -r, "cannot write %s: %s", path, err_words(-r));
	if (r == -ENOSPC || r == -EDQUOT)
		err_hint(err, "free some space, or choose another place");
	else if (r == -ENOENT)
		err_hint(err, "create its directory first, or choose another place");
	else
		err_hint(err, "choose another place");
	return r;
}

static void io_writer_done(struct io_writer *writer)
{
	io_close_pointer(&writer->fd);
	io_place_done(&writer->place);
	free(writer->path);
	free(writer->temporary);
	*writer = (struct io_writer){.fd = -1, .place.folder = -1};
}

/* Our own stdout is there already: opening it by name fails for a socket, and for another user's
 * terminal behind su. */
static int io_open_stream(const char *path)
{
	struct stat there;
	int fd;

	if (str_equal(path, "/dev/stdout")) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? -errno : fd;
	}
	/* A pipe that another user put there would take the result, or let us wait. */
	if (lstat(path, &there) == 0 && S_ISFIFO(there.st_mode) && !io_place_is_ours(there.st_uid))
		return -EPERM;
	fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int io_open_beside(struct io_writer *writer, unsigned mode, struct err *err)
{
	str_auto struct str temporary = {0};
	int r = io_place_open(&writer->place, writer->path, err);

	if (r == 0)
		r = io_place_check(&writer->place, err);
	if (r < 0)
		return r;
	writer->fd = io_open_temporary(&writer->place, mode, &temporary);
	writer->temporary = mem_copy_text(str_text(&temporary), temporary.len);
	return writer->fd < 0 ? io_fail(writer->path, writer->fd, err) : 0;
}

int io_writer_open(struct io_writer *writer, const char *path, unsigned mode, struct err *err)
{
	bool through = str_equal(path, "/dev/stdout") || io_is_stream(path);
	int r = 0;

	*writer = (struct io_writer){
		.fd = -1, .place.folder = -1, .path = mem_copy_text(path, strlen(path))};
	if (!through) {
		r = io_open_beside(writer, mode, err);
	} else {
		writer->fd = io_open_stream(path);
		if (writer->fd < 0)
			r = io_fail(path, writer->fd, err);
	}
	if (r < 0)
		io_writer_done(writer);
	return r;
}

int io_writer_write(void *writer, const void *bytes, size_t len)
{
	return io_write_all(((struct io_writer *)writer)->fd, bytes, len);
}

int io_writer_close(struct io_writer *writer, int failure, struct err *err)
{
	int r = failure;

	if (r == 0 && writer->temporary && fsync(writer->fd) < 0)
		r = -errno;
	if (r == 0 && writer->temporary &&
		renameat(writer->place.folder, writer->temporary, writer->place.folder,
			writer->place.name) < 0)
		r = -errno;
	if (r < 0 && writer->temporary)
		unlinkat(writer->place.folder, writer->temporary, 0);
	else if (writer->temporary)
		io_place_sync(&writer->place);
	if (r < 0)
		io_fail(writer->path, r, err);
	io_writer_done(writer);
	return r;
}

int io_replace(const char *path, unsigned mode, const void *bytes, size_t len, struct err *err)
{
	struct io_writer writer;
	int r = io_writer_open(&writer, path, mode, err);

	return r < 0 ? r : io_writer_close(&writer, io_writer_write(&writer, bytes, len), err);
}

/* Whether the file ends in the middle of a line: a writer died there. */
static bool io_is_torn(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

int io_append(const char *path, unsigned mode, const void *lines, size_t len, struct err *err)
{
	io_place_auto struct io_place place = {.folder = -1};
	str_auto struct str text = {0};
	io_auto int fd = -1;
	ssize_t written;
	int r = io_place_open(&place, path, err);

	if (r == 0)
		r = fd = io_place_open_file(&place, O_RDWR | O_CREAT | O_APPEND, mode, err);
	if (r < 0)
		return r;
	if (io_is_torn(fd))
		str_add_char(&text, '\n');
	str_add_bytes(&text, lines, len);
	errno = EIO; /* for a write that came out short */
	written = write(fd, str_text(&text), text.len);
	if (written < 0 || (size_t)written != text.len) {
		int code = errno;

		err_set(err, ERR_OUTPUT, code, "cannot append to %s: %s", path, err_words(code));
		err_hint(err, "free some space, or make the directory writable");
		return -code;
	}
	return 0;
}
