/* arena.c - a list of blocks that double up to 1 MiB; a larger piece gets a block of its own. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { ARENA_FIRST = 4096, ARENA_LARGEST = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

static void arena_grow(struct arena *arena, size_t size)
{
	size_t capacity = arena->blocks ? arena->blocks->size * 2 : ARENA_FIRST;
	struct arena_block *block;

	if (capacity > ARENA_LARGEST)
		capacity = ARENA_LARGEST;
	if (capacity < size)
		capacity = size;
	block = mem_new(1, sizeof(*block) + capacity);
	block->size = capacity;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->used = 0;
}

void *arena_take(struct arena *arena, size_t size)
{
	size_t align = alignof(max_align_t);
	size_t rounded = (size + align - 1) & ~(align - 1);
	void *piece;

	if (!arena->blocks || arena->blocks->size - arena->used < rounded)
		arena_grow(arena, rounded);
	piece = arena->blocks->bytes + arena->used;
	arena->used += rounded;
	return piece;
}

void *arena_keep(struct arena *arena, const void *items, size_t size)
{
	void *copy = arena_take(arena, size);

	return size ? memcpy(copy, items, size) : copy;
}

char *arena_text(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_take(arena, len + 1);

	if (len)
		memcpy(copy, text, len);
	return copy;
}

char *arena_copy(struct arena *arena, const char *text)
{
	return arena_text(arena, text, strlen(text));
}

char *arena_str(struct arena *arena, const struct str *str)
{
	return arena_text(arena, str_text(str), str->len);
}

char *arena_format(struct arena *arena, const char *format, ...)
{
	mem_auto char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		text = mem_copy_text("", 0);
		len = 0;
	}
	return arena_text(arena, text, (size_t)len);
}

void arena_done(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->used = 0;
}
