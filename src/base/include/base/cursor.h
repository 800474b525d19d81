/* cursor.h - bytes of a binary format, read from the front: little-endian, never past the end.
 *
 * A read that does not fit gives 0 or NULL, sets `broken` and moves to the end, so that loops over
 * a cursor end by themselves, and a caller may read on and ask once.  Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool broken;
};

static inline struct cursor cursor_of(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	return (struct cursor){.at = at, .end = at ? at + len : NULL};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline void cursor_break(struct cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->broken = true;
}

static inline bool cursor_has(struct cursor *cursor, uint64_t count)
{
	if (count <= cursor_left(cursor))
		return true;
	cursor_break(cursor);
	return false;
}

/* So many bytes, borrowed. */
static inline const void *cursor_take(struct cursor *cursor, uint64_t count)
{
	const uint8_t *at = cursor->at;

	if (!cursor_has(cursor, count) || !at)
		return NULL;
	cursor->at += count;
	return at;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t count)
{
	cursor_take(cursor, count);
}

/* A number of 1 to 8 bytes. */
static inline uint64_t cursor_number(struct cursor *cursor, unsigned size)
{
	const void *at = cursor_take(cursor, size);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, size);
	return value;
}

/* The same with its sign. */
static inline int64_t cursor_signed(struct cursor *cursor, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (int64_t)(cursor_number(cursor, size) << unused) >> unused;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	return (uint8_t)cursor_number(cursor, 1);
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
	return (uint16_t)cursor_number(cursor, 2);
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	return (uint32_t)cursor_number(cursor, 4);
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	return cursor_number(cursor, 8);
}

/* LEB128: seven bits a byte, the lowest first.  Bits past the 64th are dropped.  The last byte and
 * the bits read say whether a signed one is negative. */
static inline uint64_t cursor_leb(struct cursor *cursor, unsigned *ret_bits, uint8_t *ret_last)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret_bits = shift;
	*ret_last = byte;
	return value;
}

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	unsigned bits;
	uint8_t last;

	if (cursor->at < cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return cursor_leb(cursor, &bits, &last);
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = cursor_leb(cursor, &bits, &last);

	if (bits < 64 && last & 0x40)
		value |= ~UINT64_C(0) << bits;
	return (int64_t)value;
}

/* A NUL-terminated text in place, NULL when it does not end inside. */
static inline const char *cursor_text(struct cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	const uint8_t *end =
		cursor->at < cursor->end ? memchr(cursor->at, 0, cursor_left(cursor)) : NULL;

	if (!end) {
		cursor_break(cursor);
		return NULL;
	}
	cursor->at = end + 1;
	return text;
}
