/* unwind_read.c - the records of .eh_frame, read as if an enemy had written them.
 *
 * Every read goes through a cursor that cannot leave its bytes, so the code below reads like the
 * format and asks once at the end whether all of it was there.  What is rare and not understood
 * (old "eh" augmentation, segment selectors, indirect addresses) makes the entry unusable, which
 * costs one broken stack and never a wrong one. */
#include <string.h>

#include "unwind_parts.h"

bool cursor_is_empty(const struct cursor *cursor)
{
	return cursor->at >= cursor->end;
}

static void cursor_break(struct cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->broken = true;
}

void cursor_skip(struct cursor *cursor, uint64_t bytes)
{
	if (bytes > (uint64_t)(cursor->end - cursor->at))
		cursor_break(cursor);
	else
		cursor->at += bytes;
}

uint64_t cursor_number(struct cursor *cursor, unsigned bytes)
{
	uint64_t value = 0;

	if (bytes > (uint64_t)(cursor->end - cursor->at)) {
		cursor_break(cursor);
		return 0;
	}
	memcpy(&value, cursor->at, bytes);
	cursor->at += bytes;
	return value;
}

int64_t cursor_signed(struct cursor *cursor, unsigned bytes)
{
	unsigned unused = 64 - 8 * bytes;

	return (int64_t)(cursor_number(cursor, bytes) << unused) >> unused;
}

/* Bits past the 64th are dropped; a number without end is broken at the end of the bytes. */
static uint64_t cursor_leb(struct cursor *cursor, unsigned *ret_bits, bool *ret_negative)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cursor_number(cursor, 1);
		if (shift < 64) {
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		}
	} while (byte & 0x80);
	*ret_bits = shift;
	*ret_negative = byte & 0x40;
	return value;
}

uint64_t cursor_uleb(struct cursor *cursor)
{
	unsigned bits;
	bool negative;

	return cursor_leb(cursor, &bits, &negative);
}

int64_t cursor_sleb(struct cursor *cursor)
{
	unsigned bits;
	bool negative;
	uint64_t value = cursor_leb(cursor, &bits, &negative);

	if (negative && bits < 64)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

uint64_t cursor_encoded(struct cursor *cursor, uint8_t encoding, uint64_t addr)
{
	uint64_t value = 0;

	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		value = cursor_number(cursor, 8);
		break;
	case 0x01:
		value = cursor_uleb(cursor);
		break;
	case 0x02:
		value = cursor_number(cursor, 2);
		break;
	case ENCODING_UDATA4:
		value = cursor_number(cursor, 4);
		break;
	case 0x09:
		value = (uint64_t)cursor_sleb(cursor);
		break;
	case 0x0a:
		value = (uint64_t)cursor_signed(cursor, 2);
		break;
	case ENCODING_SDATA4:
		value = (uint64_t)cursor_signed(cursor, 4);
		break;
	default:
		cursor_break(cursor);
	}
	if ((encoding & 0xf0) == ENCODING_PCREL)
		return value + addr;
	if (encoding & 0xf0) /* relative to what we do not know, or behind a pointer */
		cursor_break(cursor);
	return value;
}

static struct cursor section_cursor(const struct image_bytes *frames, uint64_t offset)
{
	struct cursor cursor = {.at = frames->at, .end = frames->at + frames->len};

	cursor_skip(&cursor, offset);
	return cursor;
}

static uint64_t section_addr(const struct image_bytes *frames, const struct cursor *cursor)
{
	return frames->addr + (uint64_t)(cursor->at - frames->at);
}

/* The length before a record; the cursor then ends where the record does.  False at the end. */
static bool record_open(struct cursor *cursor)
{
	uint64_t len = cursor_number(cursor, 4);

	if (len == UINT32_MAX)
		len = cursor_number(cursor, 8);
	if (cursor->broken || !len || len > (uint64_t)(cursor->end - cursor->at))
		return false;
	cursor->end = cursor->at + len;
	return true;
}

bool frame_entry_next(
	const struct image_bytes *frames, uint64_t offset, uint64_t *ret_next, bool *ret_is_fde)
{
	struct cursor cursor = section_cursor(frames, offset);

	if (!record_open(&cursor))
		return false;
	*ret_next = (uint64_t)(cursor.end - frames->at);
	*ret_is_fde = cursor_number(&cursor, 4) != 0;
	return !cursor.broken;
}

/* The letters behind 'z', each with its data. */
static bool augmentation_read(struct cursor *cursor, const char *letters, const char *letters_end,
	struct frame_entry *entry)
{
	uint64_t len = cursor_uleb(cursor);
	struct cursor data = *cursor;

	cursor_skip(cursor, len);
	if (cursor->broken)
		return false;
	data.end = cursor->at;
	for (; letters < letters_end; letters++) {
		switch (*letters) {
		case 'R':
			entry->encoding = (uint8_t)cursor_number(&data, 1);
			break;
		case 'L':
			cursor_skip(&data, 1);
			break;
		case 'P': /* the value does not matter, its length does */
			cursor_encoded(&data, cursor_number(&data, 1) & 0x0f, 0);
			break;
		case 'S':
			entry->signal = true;
			break;
		case 'B': /* pointer authentication with key B */
		case 'G': /* memory tagging */
			break;
		default:
			return false;
		}
	}
	return !data.broken;
}

static bool common_read(const struct image_bytes *frames, enum image_machine machine,
	uint64_t offset, struct frame_entry *entry, bool *ret_has_data)
{
	struct cursor cursor = section_cursor(frames, offset);
	const unsigned char *letters, *letters_end;
	uint64_t version, ra;

	if (!record_open(&cursor) || cursor_number(&cursor, 4) != 0)
		return false;
	version = cursor_number(&cursor, 1);
	letters = cursor.at;
	letters_end = memchr(letters, 0, (size_t)(cursor.end - letters));
	if (!letters_end || (version != 1 && version != 3 && version != 4))
		return false;
	cursor_skip(&cursor, (uint64_t)(letters_end - letters) + 1);
	if (version == 4 && cursor_number(&cursor, 2) != 8) /* address size 8, segment size 0 */
		return false;
	entry->code_align = cursor_uleb(&cursor);
	entry->data_align = cursor_sleb(&cursor);
	ra = version == 1 ? cursor_number(&cursor, 1) : cursor_uleb(&cursor);
	if (cursor.broken)
		return false;
	entry->unusual = ra != unwind_numbers(machine).ra;
	*ret_has_data = letters < letters_end && *letters == 'z';
	if (*ret_has_data ? !augmentation_read(&cursor, (const char *)letters + 1,
				    (const char *)letters_end, entry)
			  : letters < letters_end)
		return false;
	entry->first = cursor;
	return true;
}

bool frame_entry_read(const struct image_bytes *frames, enum image_machine machine, uint64_t offset,
	struct frame_entry *ret_entry)
{
	struct frame_entry entry = {0};
	struct cursor cursor = section_cursor(frames, offset);
	bool has_data = false;
	uint64_t back, at;

	if (!record_open(&cursor))
		return false;
	at = (uint64_t)(cursor.at - frames->at);
	back = cursor_number(&cursor, 4); /* from here back to the CIE; 0 is a CIE itself */
	if (cursor.broken || !back || back > at ||
		!common_read(frames, machine, at - back, &entry, &has_data))
		return false;
	entry.pc = cursor_encoded(&cursor, entry.encoding, section_addr(frames, &cursor));
	entry.pc_bytes = cursor_encoded(&cursor, entry.encoding & 0x0f, 0);
	if (has_data)
		cursor_skip(&cursor, cursor_uleb(&cursor));
	if (cursor.broken)
		return false;
	entry.program = cursor;
	*ret_entry = entry;
	return true;
}
