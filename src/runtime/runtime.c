/* runtime.c - libassay-rt.so, preloaded into the target: find the shared page and say so,
 * then start its parts.
 *
 * Runs inside other people's programs before their main: no malloc, no stdio, no lock, errno as it
 * was.  Whatever is wrong (no page, another version, a short file) it does nothing, and the tool
 * sees that no mark was made.  What it may import is tests/runtime/imports.txt. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime_parts.h"
#include "wire/page.h"

/* The page, or NULL.  A file shorter than the page would be a SIGBUS in the target. */
static struct wire_page *page_map(const char *path)
{
	struct wire_page *page = NULL;
	struct stat file;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &file) == 0 && file.st_size >= WIRE_PAGE_BYTES)
		page = mmap(NULL, WIRE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

__attribute__((constructor)) static void runtime_start(void)
{
	int saved = errno;
	/* Not in a set-uid program: its caller must not choose a file for it to open. */
	const char *path = secure_getenv(WIRE_PAGE_ENVIRONMENT);
	struct wire_page *page = path ? page_map(path) : NULL;

	if (page) {
		if (page->magic == WIRE_PAGE_MAGIC && page->version == WIRE_PAGE_VERSION)
			atomic_fetch_add_explicit(&page->attached, 1, memory_order_release);
		munmap(page, WIRE_PAGE_BYTES);
	}
	runtime_causal_start();
	errno = saved;
}
