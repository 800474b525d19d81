/* io.c - see io.h.  The temporary file has the process id in its name, so that two tools writing
 * the same result never mix; it is removed on every failure path. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
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

int io_read_at(int dir_fd, const char *path, size_t limit, struct str *text)
{
	io_auto int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	size_t start = text->len;
	char piece[16384];
	ssize_t got;

	if (fd < 0)
		return -errno;
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

int io_read(const char *path, size_t limit, struct str *text, struct err *err)
{
	int r = io_read_at(AT_FDCWD, path, limit, text);

	if (r == -EFBIG)
		return err_set(err, ERR_USAGE, EFBIG, "%s is larger than the %zu MiB that are read",
			path, limit >> 20);
	if (r < 0) {
		err_set(err, ERR_USAGE, -r, "cannot read %s: %s", path, err_words(-r));
		err_hint(err, r == -ENOENT ? "check the path" : "check its permissions");
	}
	return r;
}

int io_read_line(const char *path, char *line, size_t room)
{
	io_auto int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, line, room - 1);
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

static int io_sync_folder(const char *path)
{
	mem_auto char *copy = mem_copy_text(path, strlen(path));
	io_auto int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && fsync(fd) == 0 ? 0 : -errno;
}

/* Not a plain file (a terminal, /dev/stdout, a pipe): there is nothing to replace, only to write.
 */
static int io_write_stream(const char *path, const void *bytes, size_t len)
{
	io_auto int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : io_write_all(fd, bytes, len);
}

static int io_replace_plain(const char *path, const void *bytes, size_t len)
{
	mem_auto char *temporary = NULL;
	io_auto int fd = -1;
	int r;

	if (asprintf(&temporary, "%s.%d.tmp", path, (int)getpid()) < 0)
		return -ENOMEM;
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	r = io_write_all(fd, bytes, len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	else
		io_sync_folder(path);
	return r;
}

int io_replace(const char *path, const void *bytes, size_t len, struct err *err)
{
	struct stat there;
	bool plain = stat(path, &there) < 0 || S_ISREG(there.st_mode) || S_ISDIR(there.st_mode);
	int r = plain ? io_replace_plain(path, bytes, len) : io_write_stream(path, bytes, len);

	if (r < 0) {
		err_set(err, ERR_OUTPUT, -r, "cannot write %s: %s", path, err_words(-r));
		if (r == -ENOSPC || r == -EDQUOT)
			err_hint(err, "free some space, or choose another place with -o");
		else
			err_hint(err, "choose another place with -o");
	}
	return r;
}
