/* mem.c - the one place where running out of memory ends the tool (exit 6: not available here). */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void mem_end(void)
{
	static const char words[] = "assay: out of memory; what was stored so far is kept\n";

	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		_exit(6);
	_exit(6);
}

void *mem_resize(void *old, size_t count, size_t size)
{
	void *block = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!block)
		mem_end();
	return block;
}

void *mem_grow(void *old, uint32_t *capacity, size_t size)
{
	if (*capacity > UINT32_MAX / 2)
		mem_end();
	*capacity = *capacity ? *capacity * 2 : 8;
	return mem_resize(old, *capacity, size);
}

void *mem_new(size_t count, size_t size)
{
	void *block = calloc(count ? count : 1, size ? size : 1);

	if (!block)
		mem_end();
	return block;
}

char *mem_copy_text(const char *text, size_t len)
{
	char *copy = mem_new(len + 1, 1);

	if (len)
		memcpy(copy, text, len);
	return copy;
}

void mem_free_pointer(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}
