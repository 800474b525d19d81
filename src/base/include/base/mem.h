/* mem.h - memory that is there, or the tool has ended.
 *
 * Sizes that come from outside are checked by their reader before memory is taken; after that,
 * running out of memory ends the tool here, in one place, with one sentence. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Like reallocarray(), never NULL.  Free with free(). */
void *mem_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));

/* Double the capacity of an array of `*capacity` items (8 at first), never NULL; past 2^31 items
 * the tool ends as if memory had run out. */
void *mem_grow(void *old, uint32_t *capacity, size_t size);

/* `count * size` zeroed bytes, never NULL.  Free with free(). */
void *mem_new(size_t count, size_t size) __attribute__((returns_nonnull));

/* A copy of `len` bytes with a NUL behind it.  Free with free(). */
char *mem_copy_text(const char *text, size_t len);

/* For the cleanup attribute: `mem_auto char *text = ...;` */
void mem_free_pointer(void *pointer_to_pointer);
#define mem_auto __attribute__((cleanup(mem_free_pointer)))
