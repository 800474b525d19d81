/* golden.c - see golden.h.
 *
 * Bytes are compared, not digests: that is faster, and it tells where they differ.  The digest of
 * the expected file is that of every run that equals it. */
#include "golden.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

enum { PIECE = 64 << 10 };

/* Up to PIECE bytes at `at`, as many as there are; or a negative errno. */
static ssize_t piece_read(int fd, char *piece, uint64_t at)
{
	size_t len = 0;

	while (len < PIECE) {
		ssize_t got = pread(fd, piece + len, PIECE - len, (off_t)(at + len));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	return (ssize_t)len;
}

static int unreadable(const char *path, int code, struct err *err)
{
	err_set(err, ERR_USAGE, code, "cannot read %s: %s", path, err_words(code));
	err_hint(err,
		code == ENOENT ? "--golden-save %s writes it from the first run"
			       : "--golden needs a file with the expected output: %s",
		path);
	return -code;
}

int golden_open(struct golden *golden, const char *path, struct err *err)
{
	struct sha256 sha;
	char piece[PIECE];
	ssize_t got;

	*golden = (struct golden){.path = path, .fd = io_open_regular(AT_FDCWD, path, 0, NULL)};
	if (golden->fd < 0)
		return unreadable(path, -golden->fd, err);
	sha256_init(&sha);
	while ((got = piece_read(golden->fd, piece, golden->bytes)) > 0) {
		sha256_add(&sha, piece, (size_t)got);
		golden->bytes += (uint64_t)got;
	}
	if (got < 0)
		return unreadable(path, (int)-got, err);
	sha256_text(&sha, golden->digest);
	return 0;
}

int golden_save(struct golden *golden, const char *path, int output, struct err *err)
{
	struct io_writer writer;
	char piece[PIECE];
	uint64_t at = 0;
	ssize_t got;
	int r = io_writer_open(&writer, path, IO_SHARED, err), written = 0;

	if (r < 0)
		return r;
	while (written >= 0 && (got = piece_read(output, piece, at)) != 0) {
		written = got < 0 ? (int)got : io_writer_write(&writer, piece, (size_t)got);
		at += got > 0 ? (uint64_t)got : 0;
	}
	r = io_writer_close(&writer, written, err);
	return r < 0 ? r : golden_open(golden, path, err);
}

/* The line that begins at `at`, shortened, with what is not printable as '?'. */
static void line_copy(int fd, uint64_t at, char *ret_line)
{
	ssize_t got = pread(fd, ret_line, GOLDEN_LINE - 1, (off_t)at);
	size_t len = got > 0 ? (size_t)got : 0;
	char *end = memchr(ret_line, '\n', len);

	if (end)
		len = (size_t)(end - ret_line);
	ret_line[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (ret_line[i] < ' ' || ret_line[i] == 0x7f)
			ret_line[i] = '?';
}

/* How many of the first `len` bytes are equal; lines that end in them are counted. */
static size_t piece_same(
	const char *a, const char *b, size_t len, uint64_t at, uint64_t *line_at, uint64_t *line)
{
	size_t i;

	for (i = 0; i < len && a[i] == b[i]; i++)
		if (a[i] == '\n') {
			*line_at = at + i + 1;
			++*line;
		}
	return i;
}

int golden_compare(const struct golden *golden, int output, struct golden_difference *ret_where,
	struct err *err)
{
	char a[PIECE], b[PIECE];
	uint64_t at = 0, line_at = 0, line = 1;

	for (;;) {
		ssize_t x = piece_read(golden->fd, a, at), y = piece_read(output, b, at);
		size_t least = (size_t)(x < y ? x : y);

		if (x < 0 || y < 0)
			return unreadable(golden->path, (int)-(x < 0 ? x : y), err);
		if (piece_same(a, b, least, at, &line_at, &line) == least && x == y) {
			if (!x)
				return 0;
			at += (uint64_t)x;
			continue;
		}
		*ret_where = (struct golden_difference){.line = line};
		line_copy(golden->fd, line_at, ret_where->expected);
		line_copy(output, line_at, ret_where->found);
		return 1;
	}
}

void golden_done(struct golden *golden)
{
	io_close_pointer(&golden->fd);
}
