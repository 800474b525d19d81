/* debug_range.c - which addresses an entry covers: low and high, .debug_ranges, .debug_rnglists.
 *
 * What the linker threw away (unused inline functions, --gc-sections) keeps its entries, with
 * addresses of 0 or near the top; such ranges are dropped, or they would claim each other. */
#include <dwarf.h>

#include "debug_file.h"

enum { SPAN_BYTES = sizeof(struct span) + sizeof(struct span_piece) };

struct range_sink {
	struct quota *quota;
	struct spans *spans;
	uint32_t item;
	uint64_t top; /* the highest address: a mark, or a tombstone of the linker */
};

static void sink_add(const struct range_sink *sink, uint64_t low, uint64_t high)
{
	if (low > 1 && low < high && low < sink->top - 1 && quota_take(sink->quota, SPAN_BYTES))
		spans_add(sink->spans, low, high, sink->item);
}

static uint64_t top_of(const struct debug_unit *unit)
{
	return unit->address_size == 4 ? UINT32_MAX : UINT64_MAX;
}

static void old_ranges_add(
	const struct debug_unit *unit, uint64_t offset, const struct range_sink *sink)
{
	const struct debug_unit *main = unit->skeleton ? unit->skeleton : unit;
	struct cursor cursor = cursor_over(main->file->ranges, offset);
	uint64_t base = main->low;

	while (quota_step(sink->quota, 1)) {
		uint64_t low = cursor_number(&cursor, unit->address_size);
		uint64_t high = cursor_number(&cursor, unit->address_size);

		if (cursor.broken || (!low && !high))
			return;
		if (low == sink->top)
			base = high;
		else if (low != high && low < sink->top - 1)
			sink_add(sink, base + low, base + high);
	}
}

/* One entry of a range list.  False at its end. */
static bool list_entry(struct debug_unit *unit, struct cursor *cursor, uint64_t *base,
	const struct range_sink *sink)
{
	uint64_t low, size = unit->address_size;

	switch (cursor_u8(cursor)) {
	case DW_RLE_base_addressx:
		*base = debug_addr_at(unit, cursor_uleb(cursor));
		return true;
	case DW_RLE_startx_endx:
		low = debug_addr_at(unit, cursor_uleb(cursor));
		sink_add(sink, low, debug_addr_at(unit, cursor_uleb(cursor)));
		return true;
	case DW_RLE_startx_length:
		low = debug_addr_at(unit, cursor_uleb(cursor));
		sink_add(sink, low, low + cursor_uleb(cursor));
		return true;
	case DW_RLE_offset_pair:
		low = *base + cursor_uleb(cursor);
		size = *base + cursor_uleb(cursor);
		if (*base < sink->top - 1)
			sink_add(sink, low, size);
		return true;
	case DW_RLE_base_address:
		*base = cursor_number(cursor, (unsigned)size);
		return true;
	case DW_RLE_start_end:
		low = cursor_number(cursor, (unsigned)size);
		sink_add(sink, low, cursor_number(cursor, (unsigned)size));
		return true;
	case DW_RLE_start_length:
		low = cursor_number(cursor, (unsigned)size);
		sink_add(sink, low, low + cursor_uleb(cursor));
		return true;
	default: /* DW_RLE_end_of_list, or broken */
		return false;
	}
}

static void list_add(struct debug_unit *unit, uint64_t offset, const struct range_sink *sink)
{
	struct cursor cursor = cursor_over(unit->file->range_lists, offset);
	uint64_t base = unit->skeleton ? unit->skeleton->low : unit->low;

	while (quota_step(sink->quota, 1) && !cursor.broken)
		if (!list_entry(unit, &cursor, &base, sink))
			return;
}

static void list_add_index(struct debug_unit *unit, uint64_t index, const struct range_sink *sink)
{
	struct cursor cursor;

	if (index > unit->file->range_lists.len)
		return;
	cursor = cursor_over(unit->file->range_lists, unit->lists_base + index * unit->offset_size);
	list_add(unit, unit->lists_base + cursor_number(&cursor, unit->offset_size), sink);
}

void debug_extent_add(struct debug_unit *unit, const struct debug_extent *extent,
	struct spans *spans, uint32_t item)
{
	struct range_sink sink = {unit->file->quota, spans, item, top_of(unit)};
	uint64_t low = extent->low.number;

	if (extent->ranges.kind == DEBUG_LIST_INDEX)
		list_add_index(unit, extent->ranges.number, &sink);
	else if (extent->ranges.kind == DEBUG_NUMBER && unit->version >= 5)
		list_add(unit, extent->ranges.number, &sink);
	else if (extent->ranges.kind == DEBUG_NUMBER && unit->skeleton)
		old_ranges_add(unit, unit->skeleton->ranges_base + extent->ranges.number, &sink);
	else if (extent->ranges.kind == DEBUG_NUMBER)
		old_ranges_add(unit, extent->ranges.number, &sink);
	else if (extent->low.kind == DEBUG_ADDRESS && extent->high.kind == DEBUG_ADDRESS)
		sink_add(&sink, low, extent->high.number);
	else if (extent->low.kind == DEBUG_ADDRESS && extent->high.kind == DEBUG_NUMBER)
		sink_add(&sink, low, low + extent->high.number);
}
