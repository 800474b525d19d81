/* page_cache.c - see page_cache.h.
 *
 * Dirty pages cannot be dropped, so they are written first.  What is left of a file is asked with
 * mincore(): a program that still runs keeps its pages, and then the next start is not cold. */
#include "page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

#define DROP_PATH "/proc/sys/vm/drop_caches"

static int refused(int code, struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, code, "cannot drop the page cache: %s: %s", DROP_PATH,
		err_words(code));
	err_hint(err,
		"run as root, or use --cold-file FILE for each file that matters, which needs no "
		"privileges");
	return -code;
}

int page_cache_check(struct err *err)
{
	return access(DROP_PATH, W_OK) < 0 ? refused(errno, err) : 0;
}

int page_cache_drop(struct err *err)
{
	io_auto int fd = open(DROP_PATH, O_WRONLY | O_CLOEXEC);

	sync();
	if (fd < 0 || write(fd, "3", 1) != 1)
		return refused(errno, err);
	return 0;
}

static uint64_t pages_left(int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = (size + page - 1) / page;
	void *at = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	mem_auto unsigned char *resident = NULL;
	uint64_t left = 0;

	if (at == MAP_FAILED)
		return size ? UINT64_MAX : 0;
	resident = mem_new(count, 1);
	if (mincore(at, size, resident) < 0)
		left = UINT64_MAX;
	else
		for (size_t i = 0; i < count; i++)
			left += resident[i] & 1;
	munmap(at, size);
	return left;
}

int page_cache_drop_file(const char *path, uint64_t *ret_left, struct err *err)
{
	struct stat there;
	io_auto int fd = io_open_regular(AT_FDCWD, path, 0, &there);

	if (fd < 0) {
		bool other = fd == IO_NOT_REGULAR || fd == -EISDIR;
		int code = other ? EINVAL : -fd;

		err_set(err, ERR_USAGE, code, "cannot drop the pages of %s: %s", path,
			other ? "it is not a regular file" : err_words(code));
		err_hint(err, "--cold-file names a file that the command reads");
		return -code;
	}
	(void)fdatasync(fd);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	*ret_left = pages_left(fd, (size_t)there.st_size);
	return 0;
}
