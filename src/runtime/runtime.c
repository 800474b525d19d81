/* runtime.c - libassay-rt.so, preloaded into the target: find the shared page and say so,
 * then start its parts.
 *
 * Runs inside other people's programs before their main: no malloc, no stdio, no lock, errno as it
 * was.  Whatever is wrong (no page, another version, a short file) it does nothing, and the tool
 * sees that no mark was made.  What it may import is tests/runtime/imports.txt. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

/* The number behind "\nNAME:\t". */
static long status_number(const char *text, const char *line)
{
	size_t len = strlen(line);
	long number = 0;

	while (*text && strncmp(text, line, len) != 0)
		text++;
	if (!*text)
		return -1;
	for (text += len; *text >= '0' && *text <= '9' && number < INT32_MAX; text++)
		number = number * 10 + (*text - '0');
	return number;
}

/* "/proc/PID/status" */
static void status_path(long pid, char path[48])
{
	char digits[24];
	unsigned count = 0;

	if (!pid) {
		memcpy(path, "/proc/self/status", sizeof("/proc/self/status"));
		return;
	}
	for (; pid > 0; pid /= 10)
		digits[count++] = (char)('0' + pid % 10);
	memcpy(path, "/proc/", sizeof("/proc/"));
	for (path += 6; count;)
		*path++ = digits[--count];
	memcpy(path, "/status", sizeof("/status"));
}

bool runtime_status_read(long pid, struct runtime_status *ret_status)
{
	char path[48], text[8192];
	ssize_t got = 0, len = 0;
	int fd;

	status_path(pid, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do
		got = read(fd, text + len, sizeof(text) - 1 - (size_t)len);
	while (got > 0 && (len += got) < (ssize_t)sizeof(text) - 1);
	close(fd);
	text[len] = '\0';
	*ret_status = (struct runtime_status){.parent = status_number(text, "\nPPid:\t"),
		.sandbox = status_number(text, "\nSeccomp:\t"),
		.filters = status_number(text, "\nSeccomp_filters:\t")};
	return ret_status->parent >= 0;
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
