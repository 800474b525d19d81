/* cursor.h - bytes of a binary format, read from the front, never past the end.
 *
 * A read that does not fit gives 0 or NULL, empties the cursor and marks it as bad, once and for
 * all; so a reader takes everything it needs and asks at the end.  Numbers are little endian, as on
 * every machine that assay runs on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const unsigned char *at;
	size_t left;
	bool bad;
};

static inline struct cursor cursor_of(const void *bytes, size_t len)
{
	return (struct cursor){.at = bytes, .left = len};
}

/* `len` bytes, borrowed; NULL when there are not so many. */
static inline const void *cursor_take(struct cursor *in, uint64_t len)
{
	const unsigned char *at = in->at;

	if (in->bad || len > in->left) {
		in->bad = true;
		in->left = 0;
		return NULL;
	}
	in->at += len;
	in->left -= (size_t)len;
	return at;
}

static inline uint64_t cursor_number(struct cursor *in, size_t len)
{
	const void *at = cursor_take(in, len);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, len);
	return value;
}

static inline uint16_t cursor_u16(struct cursor *in)
{
	return (uint16_t)cursor_number(in, sizeof(uint16_t));
}

static inline uint32_t cursor_u32(struct cursor *in)
{
	return (uint32_t)cursor_number(in, sizeof(uint32_t));
}

static inline uint64_t cursor_u64(struct cursor *in)
{
	return cursor_number(in, sizeof(uint64_t));
}

/* A text that ends with a NUL inside `len` bytes, borrowed; NULL when it does not. */
static inline const char *cursor_text(struct cursor *in, uint64_t len)
{
	const char *at = cursor_take(in, len);

	if (!at || !memchr(at, '\0', (size_t)len)) {
		in->bad = true;
		return NULL;
	}
	return at;
}
