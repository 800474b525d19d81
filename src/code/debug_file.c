/* debug_file.c - the units of a debug file: headers, what each covers, its .dwo.
 *
 * Opening hops over the unit headers.  What a unit covers is taken from .debug_aranges where that
 * names it (gcc writes one for each unit), else from its first entry (clang and rustc write no
 * aranges); so a table with holes costs nothing but the holes.  A unit that says neither has no
 * code, unless no unit of the file says (compilers before 2005): then all are walked. */
#include "debug_file.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "base/str.h"

enum { UNIT_LIMIT = 1 << 21, SPLIT_STEPS = 1000 };

/* Cut behind the last NUL, so that every text in it ends. */
static struct image_bytes texts_trim(struct image_bytes texts)
{
	while (texts.len && texts.at[texts.len - 1])
		texts.len--;
	return texts;
}

static uint64_t length_read(struct cursor *cursor, uint8_t *ret_offset_size)
{
	uint64_t length = cursor_u32(cursor);

	*ret_offset_size = 4;
	if (length == 0xffffffff) {
		*ret_offset_size = 8;
		length = cursor_u64(cursor);
	}
	return length;
}

static bool unit_read(struct debug_file *file, struct cursor *cursor, struct debug_unit *unit)
{
	uint64_t length;
	bool good;

	*unit = (struct debug_unit){.file = file, .offset = (uint64_t)(cursor->at - file->info.at)};
	length = length_read(cursor, &unit->offset_size);
	if (cursor->broken || length > cursor_left(cursor))
		return false;
	unit->end = (uint64_t)(cursor->at - file->info.at) + length;
	unit->version = (uint8_t)cursor_u16(cursor);
	unit->type = DW_UT_compile;
	if (unit->version >= 5) {
		unit->type = cursor_u8(cursor);
		unit->address_size = cursor_u8(cursor);
		unit->abbrev_offset = cursor_number(cursor, unit->offset_size);
		if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
			unit->split_id = cursor_u64(cursor);
	} else {
		unit->abbrev_offset = cursor_number(cursor, unit->offset_size);
		unit->address_size = cursor_u8(cursor);
	}
	unit->first_entry = (uint64_t)(cursor->at - file->info.at);
	good = unit->version >= 2 && unit->version <= 5 && unit->first_entry < unit->end &&
	       (unit->address_size == 4 || unit->address_size == 8) && !cursor->broken &&
	       (unit->type == DW_UT_compile || unit->type == DW_UT_partial ||
		       unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile);
	*cursor = cursor_over(file->info, unit->end);
	if (!good) /* type units, versions of the future: stepped over */
		unit->first_entry = unit->end;
	return true;
}

static void units_read(struct debug_file *file)
{
	struct cursor cursor = cursor_over(file->info, 0);
	struct debug_unit unit;

	while (cursor_left(&cursor) && file->units.count < UNIT_LIMIT &&
		unit_read(file, &cursor, &unit) && quota_take(file->quota, sizeof(unit)))
		if (unit.first_entry < unit.end)
			vec_push(&file->units, unit);
}

struct debug_unit *debug_unit_of_entry(struct debug_file *file, uint64_t offset)
{
	uint32_t upto = vec_upto(&file->units, offset, offset);

	return upto && offset < file->units.at[upto - 1].end ? &file->units.at[upto - 1] : NULL;
}

/* One set of .debug_aranges.  False at the end. */
static bool aranges_set(struct debug_file *file, struct cursor *cursor)
{
	const uint8_t *start = cursor->at;
	uint8_t offset_size, address_size;
	uint64_t length = length_read(cursor, &offset_size), offset;
	struct cursor set = *cursor;
	struct debug_unit *unit;

	if (cursor->broken || length > cursor_left(cursor))
		return false;
	set.end = set.at + length;
	cursor_skip(cursor, length);
	if (cursor_u16(&set) != 2)
		return true;
	offset = cursor_number(&set, offset_size);
	address_size = cursor_u8(&set);
	if (cursor_u8(&set) || (address_size != 4 && address_size != 8))
		return true;
	while ((set.at - start) % (2 * address_size) && set.at < set.end)
		set.at++;
	unit = debug_unit_of_entry(file, offset);
	if (!unit || unit->offset != offset)
		return true;
	while (cursor_left(&set) >= 2u * address_size && quota_step(file->quota, 2)) {
		uint64_t low = cursor_number(&set, address_size);
		uint64_t len = cursor_number(&set, address_size);

		if (!low && !len)
			break;
		unit->is_named_by_aranges = true;
		if (low) /* what the linker threw away lies at 0 */
			spans_add(&file->unit_spans, low, low + len,
				(uint32_t)(unit - file->units.at));
	}
	return true;
}

static void take_head(struct debug_unit *unit, unsigned name, const struct debug_value *value,
	struct debug_extent *extent)
{
	switch (name) {
	case DW_AT_name:
		unit->name = value->text;
		break;
	case DW_AT_comp_dir:
		unit->folder = value->text;
		break;
	case DW_AT_stmt_list:
		unit->lines_offset = value->number;
		unit->has_lines = value->kind == DEBUG_NUMBER;
		break;
	case DW_AT_low_pc:
		extent->low = *value;
		unit->low = value->number;
		break;
	case DW_AT_high_pc:
		extent->high = *value;
		break;
	case DW_AT_ranges:
		extent->ranges = *value;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->split_name = value->text;
		break;
	case DW_AT_producer:
		unit->producer = value->text;
		break;
	case DW_AT_language:
		unit->language = (uint16_t)value->number;
		break;
	case DW_AT_GNU_dwo_id:
		unit->split_id = value->number;
		break;
	default:
		break;
	}
}

/* The other attributes need these, which may stand behind them. */
static void take_base(struct debug_unit *unit, unsigned name, const struct debug_value *value)
{
	switch (name) {
	case DW_AT_str_offsets_base:
		unit->texts_base = value->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addrs_base = value->number;
		break;
	case DW_AT_rnglists_base:
		unit->lists_base = value->number;
		break;
	case DW_AT_GNU_ranges_base:
		unit->ranges_base = value->number;
		break;
	default:
		break;
	}
}

static void head_read(struct debug_unit *unit, struct debug_extent *ret_extent)
{
	struct cursor entry = cursor_over(unit->file->info, unit->first_entry), specs;
	uint64_t code = cursor_uleb(&entry);

	entry.end = unit->file->info.at + unit->end;
	unit->tag = (uint16_t)debug_specs_find(unit, code, &specs);
	if (!unit->tag)
		return;
	if (unit->file->is_split) { /* the bases of a .dwo are where its only tables begin */
		unit->texts_base = unit->version >= 5 ? 2u * unit->offset_size : 0;
		unit->lists_base = unit->offset_size == 8 ? 20 : 12;
	}
	for (unsigned pass = 0; pass < 2; pass++) {
		struct cursor at = entry, spec_at = specs;

		while (!at.broken && !spec_at.broken) {
			struct debug_spec spec = debug_spec_read(&spec_at);
			struct debug_value value;

			if (!spec.name && !spec.form)
				break;
			value = debug_form_read(&at, unit, &spec);
			if (pass == 0)
				take_base(unit, spec.name, &value);
			else
				take_head(unit, spec.name, &value, ret_extent);
		}
	}
}

void debug_unit_head(struct debug_unit *unit)
{
	struct debug_extent extent = {0};

	if (unit->has_head)
		return;
	unit->has_head = true;
	head_read(unit, &extent);
	if (unit->is_named_by_aranges || unit->file->is_split || unit->type == DW_UT_partial)
		return;
	if (extent.ranges.kind || extent.high.kind)
		debug_extent_add(unit, &extent, &unit->file->unit_spans,
			(uint32_t)(unit - unit->file->units.at));
}

struct debug_file *debug_file_open(struct image *image, struct debug_file *alternate, bool is_split)
{
	struct debug_file *file;
	struct image_bytes info =
		image_section(image, is_split ? ".debug_info.dwo" : ".debug_info");
	struct cursor aranges;

	if (!info.at)
		return NULL;
	file = mem_new(1, sizeof(*file));
	file->image = image;
	file->quota = image->quota;
	file->alternate = alternate;
	file->is_split = is_split;
	file->info = info;
	file->abbrev = image_section(image, is_split ? ".debug_abbrev.dwo" : ".debug_abbrev");
	file->texts = texts_trim(image_section(image, is_split ? ".debug_str.dwo" : ".debug_str"));
	file->line_texts = texts_trim(image_section(image, ".debug_line_str"));
	file->text_offsets =
		image_section(image, is_split ? ".debug_str_offsets.dwo" : ".debug_str_offsets");
	file->addrs = image_section(image, ".debug_addr");
	file->ranges = image_section(image, ".debug_ranges");
	file->range_lists =
		image_section(image, is_split ? ".debug_rnglists.dwo" : ".debug_rnglists");
	file->lines = image_section(image, is_split ? ".debug_line.dwo" : ".debug_line");
	units_read(file);
	if (is_split)
		return file;
	aranges = cursor_over(image_section(image, ".debug_aranges"), 0);
	while (cursor_left(&aranges) && aranges_set(file, &aranges))
		;
	vec_foreach (struct debug_unit, unit, &file->units)
		if (!unit->is_named_by_aranges)
			debug_unit_head(unit);
	spans_lay(&file->unit_spans);
	return file;
}

static void unit_done(struct debug_unit *unit)
{
	vec_done(&unit->functions);
	vec_done(&unit->scopes);
	vec_done(&unit->nodes);
	spans_done(&unit->spans);
	vec_done(&unit->lines.files);
	vec_done(&unit->lines.rows);
}

void debug_file_close(struct debug_file *file)
{
	if (!file)
		return;
	vec_foreach (struct debug_unit, unit, &file->units)
		unit_done(unit);
	vec_done(&file->units);
	vec_foreach (struct debug_abbrevs, abbrevs, &file->abbrevs) {
		vec_done(&abbrevs->list);
		vec_done(&abbrevs->specs);
	}
	vec_done(&file->abbrevs);
	map_done(&file->abbrevs_by_key);
	spans_done(&file->unit_spans);
	while (file->splits) {
		struct debug_file *split = file->splits;
		struct image *image = split->image;

		file->splits = split->next_split;
		debug_file_close(split);
		image_close(image);
	}
	arena_done(&file->arena);
	free(file);
}

/* No unit says what it covers: find out from their functions, once. */
static void units_walk(struct debug_file *file)
{
	vec_foreach (struct debug_unit, unit, &file->units) {
		const struct debug_unit *full = debug_unit_full(unit);
		const struct span_piece *piece;

		debug_unit_walk(unit);
		piece = full->spans.pieces.at;
		for (uint32_t i = 0; i + 1 < full->spans.pieces.count; i++)
			if (piece[i].item != SPAN_NONE)
				spans_add(&file->unit_spans, piece[i].low, piece[i + 1].low,
					(uint32_t)(unit - file->units.at));
	}
	spans_lay(&file->unit_spans);
}

struct debug_unit *debug_unit_of_addr(struct debug_file *file, uint64_t addr)
{
	uint32_t found;

	if (!file->unit_spans.pieces.count && !file->is_all_walked) {
		file->is_all_walked = true;
		units_walk(file);
	}
	found = spans_find(&file->unit_spans, addr);
	if (found == SPAN_NONE)
		return NULL;
	debug_unit_head(&file->units.at[found]);
	return &file->units.at[found];
}

static struct debug_unit *split_unit(struct debug_file *split, struct debug_unit *skeleton)
{
	vec_foreach (struct debug_unit, unit, &split->units) {
		unit->skeleton = skeleton; /* the head is read with its addresses */
		debug_unit_head(unit);
		if (unit->split_id == skeleton->split_id)
			return unit;
		unit->skeleton = NULL;
	}
	return NULL;
}

static void split_open(struct debug_unit *unit)
{
	struct debug_file *file = unit->file, *split = NULL;
	struct image *image = NULL;
	struct err ignored = {0};
	const char *path = unit->split_name;

	if (*path != '/' && unit->folder)
		path = arena_format(&file->arena, "%s/%s", unit->folder, path);
	if (quota_step(file->quota, SPLIT_STEPS) && image_open(path, &image, &ignored) == 0) {
		image_join(image, file->image);
		split = debug_file_open(image, NULL, true);
	}
	if (!split) {
		image_close(image);
	} else {
		split->next_split = file->splits;
		file->splits = split;
		unit->split = split_unit(split, unit);
	}
	if (!unit->split && !file->splits_missing++)
		file->split_missing = path;
}

struct debug_unit *debug_unit_full(struct debug_unit *unit)
{
	if (unit->split_name && !unit->split_is_tried && !unit->file->is_split) {
		unit->split_is_tried = true;
		split_open(unit);
	}
	return unit->split ? unit->split : unit;
}
