/* arena.h - memory that lives as long as its owner.
 *
 * Does: hand out zeroed pieces quickly, free them all at once.  Does not: free one piece.
 * Owns: every piece it handed out.  Threads: one at a time. */
#pragma once

#include <stddef.h>

struct arena_block;
struct str;

/* Zero-initialised is ready for use. */
struct arena {
	struct arena_block *blocks;
	size_t used; /* bytes used in the newest block */
};

/* `size` zeroed bytes, aligned for any type, never NULL. */
void *arena_take(struct arena *arena, size_t size) __attribute__((returns_nonnull));

/* A copy of `size` bytes, which may be none (`items` is NULL then), never NULL. */
void *arena_keep(struct arena *arena, const void *items, size_t size)
	__attribute__((returns_nonnull));

/* A copy of `len` bytes with a NUL behind it. */
char *arena_text(struct arena *arena, const char *text, size_t len)
	__attribute__((returns_nonnull));

char *arena_copy(struct arena *arena, const char *text) __attribute__((returns_nonnull));
char *arena_str(struct arena *arena, const struct str *str) __attribute__((returns_nonnull));

/* A formatted text. */
char *arena_format(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Free everything; the arena is empty and ready again. */
void arena_done(struct arena *arena);
#define arena_auto __attribute__((cleanup(arena_done)))
