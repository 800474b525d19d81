/* debug_form.c - attributes of debug information: abbreviation tables and forms.
 *
 * Most entries of a C++ unit are types that nobody here wants, so an abbreviation remembers how
 * many bytes its attributes take when that is fixed, and the walk steps over them with one
 * addition.  Tables are shared by the units that name the same one. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "debug_file.h"

enum { INDIRECT_LIMIT = 4 };

/* Bytes of a form, -1: it depends on the data. */
static int32_t form_bytes(const struct debug_unit *unit, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version < 3 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	default:
		return -1;
	}
}

void debug_form_skip(struct cursor *cursor, const struct debug_unit *unit, unsigned form)
{
	int32_t bytes = form_bytes(unit, form);

	for (unsigned i = 0; form == DW_FORM_indirect && i < INDIRECT_LIMIT; i++) {
		form = (unsigned)cursor_uleb(cursor);
		bytes = form_bytes(unit, form);
	}
	if (bytes >= 0) {
		cursor_skip(cursor, (uint64_t)bytes);
		return;
	}
	switch (form) {
	case DW_FORM_string:
		cursor_text(cursor);
		return;
	case DW_FORM_block1:
		cursor_skip(cursor, cursor_u8(cursor));
		return;
	case DW_FORM_block2:
		cursor_skip(cursor, cursor_u16(cursor));
		return;
	case DW_FORM_block4:
		cursor_skip(cursor, cursor_u32(cursor));
		return;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_skip(cursor, cursor_uleb(cursor));
		return;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		cursor_uleb(cursor);
		return;
	default: /* a form of the future: its size is not known, so nothing behind it is */
		cursor_break(cursor);
	}
}

const char *debug_text_at(struct image_bytes texts, uint64_t offset)
{
	/* The opening made sure that the section ends with a NUL. */
	return offset < texts.len ? (const char *)texts.at + offset : NULL;
}

/* The `index`th number of `size` bytes behind `base`. */
static bool number_at(struct image_bytes table, uint64_t base, uint64_t index, unsigned size,
	uint64_t *ret_number)
{
	struct cursor cursor;

	if (base > table.len || index > (table.len - base) / size)
		return false;
	cursor = cursor_over(table, base + index * size);
	*ret_number = cursor_number(&cursor, size);
	return !cursor.broken;
}

uint64_t debug_addr_at(struct debug_unit *unit, uint64_t index)
{
	const struct debug_unit *main = unit->skeleton ? unit->skeleton : unit;
	uint64_t addr;

	return number_at(main->file->addrs, main->addrs_base, index, main->address_size, &addr)
		       ? addr
		       : 0;
}

static const char *text_by_index(const struct debug_unit *unit, uint64_t index)
{
	uint64_t offset;

	if (!number_at(
		    unit->file->text_offsets, unit->texts_base, index, unit->offset_size, &offset))
		return NULL;
	return debug_text_at(unit->file->texts, offset);
}

static struct debug_value value_text(const char *text)
{
	return (struct debug_value){.kind = text ? DEBUG_TEXT : DEBUG_NOTHING, .text = text};
}

static struct debug_value value_number(enum debug_kind kind, uint64_t number)
{
	return (struct debug_value){.kind = kind, .number = number};
}

static struct debug_value read_text(struct cursor *cursor, struct debug_unit *unit, unsigned form)
{
	const struct debug_file *file = unit->file;
	unsigned size = unit->offset_size;

	switch (form) {
	case DW_FORM_string:
		return value_text(cursor_text(cursor));
	case DW_FORM_strp:
		return value_text(debug_text_at(file->texts, cursor_number(cursor, size)));
	case DW_FORM_line_strp:
		return value_text(debug_text_at(file->line_texts, cursor_number(cursor, size)));
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt: {
		uint64_t offset = cursor_number(cursor, size);

		return value_text(
			file->alternate ? debug_text_at(file->alternate->texts, offset) : NULL);
	}
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return value_text(text_by_index(unit, cursor_uleb(cursor)));
	default: /* DW_FORM_strx1 to DW_FORM_strx4 */
		return value_text(text_by_index(
			unit, cursor_number(cursor, (unsigned)form_bytes(unit, form))));
	}
}

static struct debug_value read_entry(struct cursor *cursor, struct debug_unit *unit, unsigned form)
{
	int32_t bytes = form_bytes(unit, form);
	uint64_t number = form == DW_FORM_ref_udata ? cursor_uleb(cursor)
						    : cursor_number(cursor, (unsigned)bytes);

	switch (form) {
	case DW_FORM_ref_addr:
		return value_number(DEBUG_ENTRY, number);
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return value_number(DEBUG_ENTRY_ALTERNATE, number);
	default:
		return value_number(DEBUG_ENTRY, unit->offset + number);
	}
}

static struct debug_value read_addr(struct cursor *cursor, struct debug_unit *unit, unsigned form)
{
	int32_t bytes = form_bytes(unit, form);
	uint64_t number = bytes < 0 ? cursor_uleb(cursor) : cursor_number(cursor, (unsigned)bytes);

	return value_number(
		DEBUG_ADDRESS, form == DW_FORM_addr ? number : debug_addr_at(unit, number));
}

struct debug_value debug_form_read(
	struct cursor *cursor, struct debug_unit *unit, const struct debug_spec *spec)
{
	unsigned form = spec->form;

	for (unsigned i = 0; form == DW_FORM_indirect && i < INDIRECT_LIMIT; i++)
		form = (unsigned)cursor_uleb(cursor);
	switch (form) {
	case DW_FORM_string:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return read_text(cursor, unit, form);
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
	case DW_FORM_ref_addr:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return read_entry(cursor, unit, form);
	case DW_FORM_addr:
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return read_addr(cursor, unit, form);
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_flag:
	case DW_FORM_sec_offset:
		return value_number(
			DEBUG_NUMBER, cursor_number(cursor, (unsigned)form_bytes(unit, form)));
	case DW_FORM_udata:
		return value_number(DEBUG_NUMBER, cursor_uleb(cursor));
	case DW_FORM_sdata:
		return value_number(DEBUG_NUMBER, (uint64_t)cursor_sleb(cursor));
	case DW_FORM_implicit_const:
		return value_number(DEBUG_NUMBER, (uint64_t)spec->constant);
	case DW_FORM_rnglistx:
		return value_number(DEBUG_LIST_INDEX, cursor_uleb(cursor));
	default:
		debug_form_skip(cursor, unit, form);
		return (struct debug_value){0};
	}
}

struct debug_spec debug_spec_read(struct cursor *cursor)
{
	struct debug_spec spec = {.name = (uint16_t)cursor_uleb(cursor)};

	spec.form = (uint16_t)cursor_uleb(cursor);
	if (spec.form == DW_FORM_implicit_const)
		spec.constant = cursor_sleb(cursor);
	return spec;
}

/* False at the end of the table. */
static bool abbrev_head(struct cursor *cursor, struct debug_abbrev *ret_abbrev)
{
	*ret_abbrev = (struct debug_abbrev){.code = cursor_uleb(cursor)};
	if (!ret_abbrev->code)
		return false;
	ret_abbrev->tag = (uint16_t)cursor_uleb(cursor);
	ret_abbrev->children = cursor_u8(cursor);
	return !cursor->broken;
}

static bool abbrev_read(
	struct debug_abbrevs *abbrevs, struct cursor *cursor, const struct debug_unit *unit)
{
	struct debug_abbrev abbrev;

	if (!abbrev_head(cursor, &abbrev))
		return false;
	abbrev.at = (uint64_t)(cursor->at - unit->file->abbrev.at);
	abbrev.first = abbrevs->specs.count;
	while (!cursor->broken) {
		struct debug_spec spec = debug_spec_read(cursor);
		int32_t bytes;

		if (!spec.name && !spec.form)
			break;
		if (!quota_step(unit->file->quota, 1) ||
			!quota_take(unit->file->quota, sizeof(spec)))
			cursor_break(cursor);
		bytes = form_bytes(unit, spec.form);
		abbrev.bytes = bytes < 0 || abbrev.bytes < 0 ? -1 : abbrev.bytes + bytes;
		vec_push(&abbrevs->specs, spec);
	}
	abbrev.count = abbrevs->specs.count - abbrev.first;
	if (!cursor->broken)
		vec_push(&abbrevs->list, abbrev);
	return !cursor->broken;
}

struct abbrevs_key {
	uint64_t offset;
	uint8_t version, address_size, offset_size, none[5];
};

static struct abbrevs_key abbrevs_key(const struct debug_unit *unit)
{
	return (struct abbrevs_key){.offset = unit->abbrev_offset,
		.version = unit->version,
		.address_size = unit->address_size,
		.offset_size = unit->offset_size};
}

const struct debug_abbrevs *debug_abbrevs_of(struct debug_unit *unit)
{
	struct debug_file *file = unit->file;
	struct cursor cursor = cursor_over(file->abbrev, unit->abbrev_offset);
	struct abbrevs_key key = abbrevs_key(unit);
	struct debug_abbrevs abbrevs = {0};
	uint32_t known;

	if (map_get(&file->abbrevs_by_key, &key, sizeof(key), &known))
		return &file->abbrevs.at[known];
	while (abbrev_read(&abbrevs, &cursor, unit) &&
		quota_take(file->quota, sizeof(struct debug_abbrev)))
		;
	vec_sort(&abbrevs.list, sorted_compare);
	map_put(&file->abbrevs_by_key, &key, sizeof(key), file->abbrevs.count);
	vec_push(&file->abbrevs, abbrevs);
	return &file->abbrevs.at[file->abbrevs.count - 1];
}

const struct debug_abbrev *debug_abbrev_find(const struct debug_abbrevs *abbrevs, uint64_t code)
{
	struct debug_abbrev wanted = {.code = code};

	/* Compilers number from 1 without gaps. */
	if (code && code <= abbrevs->list.count && abbrevs->list.at[code - 1].code == code)
		return &abbrevs->list.at[code - 1];
	if (!abbrevs->list.count)
		return NULL;
	return bsearch(
		&wanted, abbrevs->list.at, abbrevs->list.count, sizeof(wanted), sorted_compare);
}

/* True when the unit before uses the same table: dwz and -flto make one for all. */
static bool abbrevs_are_shared(const struct debug_unit *unit)
{
	return unit > unit->file->units.at && unit[-1].abbrev_offset == unit->abbrev_offset;
}

unsigned debug_specs_find(struct debug_unit *unit, uint64_t code, struct cursor *ret_specs)
{
	struct debug_file *file = unit->file;
	struct cursor cursor = cursor_over(file->abbrev, unit->abbrev_offset);
	const struct debug_abbrev *kept;
	struct debug_abbrev abbrev;

	if (abbrevs_are_shared(unit)) {
		kept = debug_abbrev_find(debug_abbrevs_of(unit), code);
		*ret_specs = cursor_over(file->abbrev, kept ? kept->at : 0);
		return kept ? kept->tag : 0;
	}
	do {
		struct debug_spec spec;

		if (!abbrev_head(&cursor, &abbrev))
			return 0;
		*ret_specs = cursor;
		if (abbrev.code == code)
			return abbrev.tag;
		do
			spec = debug_spec_read(&cursor);
		while (!cursor.broken && (spec.name || spec.form) && quota_step(file->quota, 1));
	} while (quota_step(file->quota, 1));
	return 0;
}
