/* unwind_read.c - the records of .eh_frame, read as if an enemy had written them.
 *
 * Every read goes through a cursor that cannot leave its bytes, so the code below reads like the
 * format and asks once at the end whether all of it was there.  What is rare and not understood
 * (old "eh" augmentation, segment selectors, indirect addresses) makes the entry unusable, which
 * costs one broken stack and never a wrong one. */
#include "unwind_parts.h"

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
	if (cursor->broken || !len || len > cursor_left(cursor))
		return false;
	cursor->end = cursor->at + len;
	return true;
}

bool frame_entry_next(
	const struct image_bytes *frames, uint64_t offset, uint64_t *ret_next, bool *ret_is_fde)
{
	struct cursor cursor = cursor_over(*frames, offset);

	if (!record_open(&cursor))
		return false;
	*ret_next = (uint64_t)(cursor.end - frames->at);
	*ret_is_fde = cursor_number(&cursor, 4) != 0;
	return !cursor.broken;
}

/* The letters behind 'z', each with its data. */
static bool augmentation_read(struct cursor *cursor, const char *letters, struct frame_entry *entry)
{
	uint64_t len = cursor_uleb(cursor);
	struct cursor data = *cursor;

	cursor_skip(cursor, len);
	if (cursor->broken)
		return false;
	data.end = cursor->at;
	for (; *letters; letters++) {
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
	struct cursor cursor = cursor_over(*frames, offset);
	const char *letters;
	uint64_t version, ra;

	if (!record_open(&cursor) || cursor_number(&cursor, 4) != 0)
		return false;
	version = cursor_number(&cursor, 1);
	letters = cursor_text(&cursor);
	if (!letters || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4 && cursor_number(&cursor, 2) != 8) /* address size 8, segment size 0 */
		return false;
	entry->code_align = cursor_uleb(&cursor);
	entry->data_align = cursor_sleb(&cursor);
	ra = version == 1 ? cursor_number(&cursor, 1) : cursor_uleb(&cursor);
	if (cursor.broken)
		return false;
	entry->unusual = ra != unwind_numbers(machine).ra;
	*ret_has_data = *letters == 'z';
	if (*ret_has_data ? !augmentation_read(&cursor, letters + 1, entry) : *letters)
		return false;
	entry->first = cursor;
	return true;
}

bool frame_entry_read(const struct image_bytes *frames, enum image_machine machine, uint64_t offset,
	struct frame_entry *ret_entry)
{
	struct frame_entry entry = {0};
	struct cursor cursor = cursor_over(*frames, offset);
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
