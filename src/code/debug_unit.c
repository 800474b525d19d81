/* debug_unit.c - one pass over the entries of a unit, into sorted tables.
 *
 * libdw walks the tree again for each address it is asked about (6 ms each on a unit of 1.5 MB,
 * measured with dwarf_getscopes); here each unit that is touched is walked once, in the order of
 * its bytes, and addresses are then found by binary search.  Types and variables are stepped over;
 * functions, what is inlined where, and the scopes that qualify a name are kept. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "debug_file.h"

enum { LINK_LIMIT = 16 }; /* entries that one function's entry may lead through */

struct level {
	uint32_t scope, node;
};

struct entry_said {
	const char *name, *linkage;
	uint64_t link;
	bool link_is_alternate, has_file;
	uint32_t file, line, call_file, call_line;
	struct debug_extent extent;
};

struct walk {
	struct debug_unit *unit;
	const struct debug_abbrevs *abbrevs;
	struct cursor cursor;
	vec_of(struct level) levels;
};

static void take(struct entry_said *said, unsigned name, const struct debug_value *value)
{
	switch (name) {
	case DW_AT_name:
		said->name = value->text;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		said->linkage = value->text;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		if (value->kind != DEBUG_ENTRY && value->kind != DEBUG_ENTRY_ALTERNATE)
			break;
		said->link = value->number;
		said->link_is_alternate = value->kind == DEBUG_ENTRY_ALTERNATE;
		break;
	case DW_AT_decl_file:
		said->file = (uint32_t)value->number;
		said->has_file = true;
		break;
	case DW_AT_decl_line:
		said->line = (uint32_t)value->number;
		break;
	case DW_AT_call_file:
		said->call_file = (uint32_t)value->number;
		break;
	case DW_AT_call_line:
		said->call_line = (uint32_t)value->number;
		break;
	case DW_AT_low_pc:
		said->extent.low = *value;
		break;
	case DW_AT_high_pc:
		said->extent.high = *value;
		break;
	case DW_AT_ranges:
		said->extent.ranges = *value;
		break;
	default:
		break;
	}
}

static bool is_wanted(unsigned name)
{
	switch (name) {
	case DW_AT_name:
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
	case DW_AT_abstract_origin:
	case DW_AT_specification:
	case DW_AT_decl_file:
	case DW_AT_decl_line:
	case DW_AT_call_file:
	case DW_AT_call_line:
	case DW_AT_low_pc:
	case DW_AT_high_pc:
	case DW_AT_ranges:
		return true;
	default:
		return false;
	}
}

/* An attribute may have no bytes at all: thousands of them are an entry of one byte. */
static bool attributes_charge(struct walk *walk, const struct debug_abbrev *abbrev)
{
	if (!quota_step(walk->unit->file->quota, abbrev->count))
		cursor_break(&walk->cursor);
	return !walk->cursor.broken;
}

static struct entry_said entry_read(struct walk *walk, const struct debug_abbrev *abbrev)
{
	struct entry_said said = {0};

	if (!attributes_charge(walk, abbrev))
		return said;
	for (uint32_t i = 0; i < abbrev->count && !walk->cursor.broken; i++) {
		const struct debug_spec *spec = &walk->abbrevs->specs.at[abbrev->first + i];
		struct debug_value value;

		if (!is_wanted(spec->name)) {
			debug_form_skip(&walk->cursor, walk->unit, spec->form);
			continue;
		}
		value = debug_form_read(&walk->cursor, walk->unit, spec);
		take(&said, spec->name, &value);
	}
	return said;
}

static void entry_skip(struct walk *walk, const struct debug_abbrev *abbrev)
{
	if (abbrev->bytes >= 0) {
		cursor_skip(&walk->cursor, (uint64_t)abbrev->bytes);
		return;
	}
	if (!attributes_charge(walk, abbrev))
		return;
	for (uint32_t i = 0; i < abbrev->count && !walk->cursor.broken; i++)
		debug_form_skip(
			&walk->cursor, walk->unit, walk->abbrevs->specs.at[abbrev->first + i].form);
}

static uint32_t node_add(
	struct walk *walk, const struct entry_said *said, uint64_t origin, uint32_t parent)
{
	struct debug_unit *unit = walk->unit;
	uint32_t index = unit->nodes.count, before = unit->spans.all.count;
	struct debug_node node = {.origin = origin,
		.parent = parent,
		.call_file = said->call_file,
		.call_line = said->call_line,
		.origin_is_alternate = parent != SPAN_NONE && said->link_is_alternate};

	debug_extent_add(unit, &said->extent, &unit->spans, index);
	if (unit->spans.all.count == before)
		return SPAN_NONE;
	node.low = unit->spans.all.at[before].low;
	node.high = unit->spans.all.at[before].high;
	vec_push(&unit->nodes, node);
	return index;
}

static void function_add(
	struct walk *walk, uint64_t offset, const struct entry_said *said, struct level *level)
{
	struct debug_unit *unit = walk->unit;
	struct debug_function function = {.offset = offset,
		.link = said->link,
		.name = said->name,
		.linkage = said->linkage,
		.file = said->file,
		.line = said->line,
		.scope = level->scope,
		.has_file = said->has_file,
		.link_is_alternate = said->link_is_alternate};

	vec_push(&unit->functions, function);
	level->node = node_add(walk, said, offset, SPAN_NONE);
	if (said->name) { /* a lambda or a local class is named after where it stands */
		vec_push(&unit->scopes, (struct debug_scope){said->name, level->scope, 0});
		level->scope = unit->scopes.count - 1;
	}
}

static void scope_add(
	struct walk *walk, unsigned tag, const struct entry_said *said, struct level *level)
{
	const char *name = said->name;

	if (!name && tag == DW_TAG_namespace)
		name = "(anonymous namespace)";
	vec_push(&walk->unit->scopes, (struct debug_scope){name, level->scope, said->line});
	level->scope = walk->unit->scopes.count - 1;
}

static void entry_walk(struct walk *walk, const struct debug_abbrev *abbrev, uint64_t offset)
{
	struct level level = walk->levels.at[walk->levels.count - 1];
	struct entry_said said;
	uint32_t node;

	switch (abbrev->tag) {
	case DW_TAG_subprogram:
		said = entry_read(walk, abbrev);
		function_add(walk, offset, &said, &level);
		break;
	case DW_TAG_inlined_subroutine:
		said = entry_read(walk, abbrev);
		node = node_add(walk, &said, said.link, level.node);
		level.node = node != SPAN_NONE ? node : level.node;
		break;
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		said = entry_read(walk, abbrev);
		if (abbrev->children)
			scope_add(walk, abbrev->tag, &said, &level);
		break;
	default:
		entry_skip(walk, abbrev);
	}
	if (abbrev->children)
		vec_push(&walk->levels, level);
}

/* Most entries are variables, members and parameters. */
static bool is_kept(const struct debug_abbrev *abbrev)
{
	return abbrev->children || abbrev->tag == DW_TAG_subprogram ||
	       abbrev->tag == DW_TAG_inlined_subroutine;
}

static size_t entry_bytes(const struct debug_abbrev *abbrev)
{
	size_t level = abbrev->children ? sizeof(struct level) : 0;

	switch (abbrev->tag) {
	case DW_TAG_subprogram:
		return level + sizeof(struct debug_function) + sizeof(struct debug_node) +
		       sizeof(struct debug_scope);
	case DW_TAG_inlined_subroutine:
		return level + sizeof(struct debug_node);
	default:
		return level + (abbrev->children ? sizeof(struct debug_scope) : 0);
	}
}

static void entries_walk(struct walk *walk)
{
	const uint8_t *info = walk->unit->file->info.at;
	struct quota *quota = walk->unit->file->quota;

	if (!quota_step(quota, cursor_left(&walk->cursor))) /* an entry has a byte or more */
		return;
	vec_push(&walk->levels, (struct level){SPAN_NONE, SPAN_NONE});
	while (walk->cursor.at < walk->cursor.end) {
		uint64_t offset = (uint64_t)(walk->cursor.at - info);
		uint64_t code = cursor_uleb(&walk->cursor);
		const struct debug_abbrev *abbrev;

		if (!code) {
			if (walk->levels.count > 1)
				walk->levels.count--;
			continue;
		}
		abbrev = debug_abbrev_find(walk->abbrevs, code);
		if (!abbrev || (is_kept(abbrev) && !quota_take(quota, entry_bytes(abbrev))))
			break;
		entry_walk(walk, abbrev, offset);
	}
	vec_done(&walk->levels);
}

void debug_unit_walk(struct debug_unit *unit)
{
	struct walk walk = {0};

	debug_unit_head(unit);
	if (debug_unit_full(unit) != unit) {
		debug_unit_walk(unit->split);
		return;
	}
	if (unit->is_walked)
		return;
	unit->is_walked = true;
	walk.unit = unit;
	walk.abbrevs = debug_abbrevs_of(unit);
	walk.cursor = cursor_over(unit->file->info, unit->first_entry);
	walk.cursor.end = unit->file->info.at + unit->end;
	entries_walk(&walk);
	spans_lay(&unit->spans);
}

static const struct debug_function *function_find(const struct debug_unit *unit, uint64_t offset)
{
	uint32_t upto = vec_upto(&unit->functions, offset, offset);

	if (!upto || unit->functions.at[upto - 1].offset != offset)
		return NULL;
	return &unit->functions.at[upto - 1];
}

void debug_function_said(
	struct debug_file *file, uint64_t offset, bool is_alternate, struct debug_said *ret_said)
{
	*ret_said = (struct debug_said){.scope = SPAN_NONE};
	for (unsigned i = 0; i < LINK_LIMIT; i++) {
		const struct debug_function *function;
		struct debug_unit *unit;

		file = is_alternate ? file->alternate : file;
		unit = file ? debug_unit_of_entry(file, offset) : NULL;
		if (!unit)
			return;
		debug_unit_walk(unit);
		function = function_find(unit, offset);
		if (!function)
			return;
		if (!ret_said->linkage)
			ret_said->linkage = function->linkage;
		if (function->name) { /* the last word has it: the declaration knows its scope */
			ret_said->name = function->name;
			ret_said->name_unit = unit;
			ret_said->scope = function->scope;
		}
		if (!ret_said->file && function->has_file)
			ret_said->file = debug_unit_path(unit, function->file);
		if (!ret_said->line)
			ret_said->line = function->line;
		if (!function->link)
			return;
		offset = function->link;
		is_alternate = function->link_is_alternate;
	}
}
