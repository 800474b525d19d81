/* footprint.c - see footprint.h.
 *
 * Most of a small process are pages of libraries that the kernel maps 16 at a time.  They come back
 * from the page cache when they are touched.  Only mappings without a single page of their own are
 * dropped: what the loader has relocated is read-only too, and its changes would be gone. */
#include "footprint.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"

struct span {
	unsigned long begin, end;
};

/* Peaks are forgotten by writing 5 (Linux 4.0). */
static void peak_forget(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "5", 1);
	close(fd);
}

/* "BEGIN-END r-xp OFFSET DEVICE INODE /PATH": false for a line that is not the head of a mapping.
 */
static bool head_parse(const char *line, struct span *ret_span, bool *ret_droppable)
{
	struct span span;
	char mode[5];

	if (sscanf(line, "%lx-%lx %4s", &span.begin, &span.end, mode) != 3)
		return false;
	*ret_span = span;
	*ret_droppable = mode[0] == 'r' && mode[1] == '-' && strchr(line, '/');
	return true;
}

void footprint_shrink(void)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	vec_of(struct span) spans = {0};
	struct span span = {0};
	bool droppable = false;
	char *line = NULL;
	size_t capacity = 0;
	unsigned long own_kib;

	if (!maps)
		return;
	while (getline(&line, &capacity, maps) > 0) {
		if (head_parse(line, &span, &droppable))
			continue;
		if (droppable && sscanf(line, "Anonymous: %lu kB", &own_kib) == 1 && !own_kib)
			vec_push(&spans, span);
	}
	free(line);
	fclose(maps);
	vec_foreach (const struct span, one, &spans)
		(void)madvise((void *)one->begin, one->end - one->begin, MADV_DONTNEED);
	vec_done(&spans);
	peak_forget();
}
