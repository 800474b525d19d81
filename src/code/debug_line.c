/* debug_line.c - the line table of a unit: its program run once, rows kept by address.
 *
 * Rows that only change the column are dropped, and of several rows at one address the last counts,
 * as in addr2line.  Sequences stand in the table in the order of their addresses; a row without a
 * file ends each. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "base/str.h"
#include "debug_file.h"

enum { PATH_STEP = 8 }; /* bytes of a path that are composed in a step */

struct sequence {
	uint64_t low;
	uint32_t first, count; /* rows */
};

struct program {
	struct debug_unit unit; /* a copy, with the sizes of this header */
	struct debug_lines *lines;
	struct cursor cursor;
	uint8_t min_bytes, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[256];
	uint64_t addr;
	uint32_t file, line;
	uint32_t first_row;
	vec_of(struct debug_row) rows;
	vec_of(struct sequence) sequences;
};

static int row_order(const void *left, const void *right)
{
	const struct debug_row *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->file == SPAN_NONE) - (b->file == SPAN_NONE);
}

static void row_emit(struct program *program)
{
	struct debug_row row = {program->addr, program->line, program->file}, last;

	if (program->rows.count > program->first_row) {
		last = program->rows.at[program->rows.count - 1];
		if (last.addr == row.addr)
			program->rows.count--; /* of several rows at one address the last counts */
		else if (last.file == row.file && last.line == row.line)
			return;
	}
	if (!quota_take(program->unit.file->quota, 2 * sizeof(row))) /* here and collected */
		cursor_break(&program->cursor);
	else
		vec_push(&program->rows, row);
}

/* What the linker threw away begins at 0 or near the top. */
static bool sequence_is_real(const struct program *program)
{
	uint64_t top = program->unit.address_size == 4 ? UINT32_MAX : UINT64_MAX, low;

	if (program->rows.count == program->first_row)
		return false;
	low = program->rows.at[program->first_row].addr;
	return low > 1 && low < top - 1;
}

static void sequence_end(struct program *program)
{
	uint32_t first = program->first_row, count = program->rows.count - first;
	struct debug_row *rows;
	bool sorted = true;

	if (sequence_is_real(program)) {
		vec_push(&program->rows, (struct debug_row){program->addr, 0, SPAN_NONE});
		rows = &program->rows.at[first];
		for (uint32_t i = 0; i < count; i++)
			sorted &= rows[i].addr <= rows[i + 1].addr;
		if (!sorted)
			qsort(rows, count + 1, sizeof(*rows), row_order);
		vec_push(&program->sequences, (struct sequence){rows[0].addr, first, count + 1});
	} else {
		program->rows.count = first;
	}
	program->first_row = program->rows.count;
	program->addr = 0;
	program->file = program->line = 1;
}

static void step_extended(struct program *program)
{
	uint64_t len = cursor_uleb(&program->cursor);
	struct cursor body = program->cursor;

	if (!cursor_has(&program->cursor, len) || !len)
		return;
	body.end = body.at + len;
	cursor_skip(&program->cursor, len);
	switch (cursor_u8(&body)) {
	case DW_LNE_end_sequence:
		sequence_end(program);
		break;
	case DW_LNE_set_address:
		if (len - 1 <= 8)
			program->addr = cursor_number(&body, (unsigned)len - 1);
		break;
	default: /* DW_LNE_define_file is not written by any compiler of this century */
		break;
	}
}

static void step_special(struct program *program, unsigned opcode)
{
	unsigned step = opcode - program->opcode_base;

	program->addr += (uint64_t)(step / program->line_range) * program->min_bytes;
	program->line += (uint32_t)(program->line_base + (int)(step % program->line_range));
}

static void step_standard(struct program *program, unsigned opcode)
{
	struct cursor *cursor = &program->cursor;

	switch (opcode) {
	case DW_LNS_copy:
		row_emit(program);
		break;
	case DW_LNS_advance_pc:
		program->addr += cursor_uleb(cursor) * program->min_bytes;
		break;
	case DW_LNS_advance_line:
		program->line += (uint32_t)cursor_sleb(cursor);
		break;
	case DW_LNS_set_file:
		program->file = (uint32_t)cursor_uleb(cursor);
		if (program->file == SPAN_NONE)
			program->file--;
		break;
	case DW_LNS_const_add_pc:
		program->addr += (uint64_t)((255 - program->opcode_base) / program->line_range) *
				 program->min_bytes;
		break;
	case DW_LNS_fixed_advance_pc:
		program->addr += cursor_u16(cursor);
		break;
	default:
		for (unsigned i = 0; i < program->operands[opcode]; i++)
			cursor_uleb(cursor);
	}
}

static void program_run(struct program *program)
{
	/* All of it at once: an instruction has a byte or more, and asking at each costs 3 %. */
	if (!quota_step(program->unit.file->quota, cursor_left(&program->cursor)))
		return;
	program->file = program->line = 1;
	while (program->cursor.at < program->cursor.end) {
		unsigned opcode = cursor_u8(&program->cursor);

		if (opcode >= program->opcode_base) {
			step_special(program, opcode);
			row_emit(program);
		} else if (!opcode) {
			step_extended(program);
		} else {
			step_standard(program, opcode);
		}
	}
}

/* The folders and files of version 5: each table says its own columns.  Folder 0 is the unit's own
 * and left out, as in the older versions. */
static void table_read(struct program *program, struct cursor *cursor,
	const struct debug_lines *folders, struct debug_lines *ret_files)
{
	struct quota *quota = program->unit.file->quota;
	struct debug_spec columns[8] = {0};
	unsigned count = cursor_u8(cursor);
	uint64_t rows;

	for (unsigned i = 0; i < count; i++) {
		struct debug_spec column = {.name = (uint16_t)cursor_uleb(cursor)};

		column.form = (uint16_t)cursor_uleb(cursor);
		if (i < sizeof(columns) / sizeof(*columns))
			columns[i] = column;
	}
	rows = cursor_uleb(cursor);
	if (count > sizeof(columns) / sizeof(*columns) || !count)
		cursor->broken = true;
	for (uint64_t row = 0; row < rows && !cursor->broken && cursor_left(cursor); row++) {
		struct debug_path path = {0};

		if (!quota_step(quota, count) || !quota_take(quota, sizeof(path)))
			break;

		for (unsigned i = 0; i < count; i++) {
			struct debug_value value =
				debug_form_read(cursor, &program->unit, &columns[i]);

			if (columns[i].name == DW_LNCT_path)
				path.name = value.text;
			else if (columns[i].name == DW_LNCT_directory_index && folders &&
				 value.number && value.number < folders->files.count)
				path.folder = folders->files.at[value.number].name;
		}
		vec_push(&ret_files->files, path);
	}
}

static void old_tables_read(struct program *program, struct cursor *cursor)
{
	struct quota *quota = program->unit.file->quota;
	vec_of(const char *) folders = {0};
	const char *name;

	vec_push(&folders, NULL); /* 0: the unit's own folder */
	while ((name = cursor_text(cursor)) != NULL && *name && quota_step(quota, 1))
		vec_push(&folders, name);
	while ((name = cursor_text(cursor)) != NULL && *name &&
		quota_take(quota, sizeof(struct debug_path))) {
		uint64_t folder = cursor_uleb(cursor);

		cursor_uleb(cursor); /* time */
		cursor_uleb(cursor); /* size */
		vec_push(&program->lines->files,
			(struct debug_path){
				folder < folders.count ? folders.at[folder] : NULL, name, NULL});
	}
	vec_done(&folders);
}

/* False when there is no program behind it. */
static bool header_read(struct program *program)
{
	struct cursor *cursor = &program->cursor, tables;
	struct debug_unit *unit = &program->unit;
	struct debug_lines folders = {0};
	uint64_t length = cursor_u32(cursor);

	unit->offset_size = length == 0xffffffff ? 8 : 4;
	if (unit->offset_size == 8)
		length = cursor_u64(cursor);
	if (!cursor_has(cursor, length))
		return false;
	cursor->end = cursor->at + length;
	program->lines->version = cursor_u16(cursor);
	if (program->lines->version < 2 || program->lines->version > 5)
		return false;
	if (program->lines->version >= 5) {
		unit->address_size = cursor_u8(cursor);
		cursor_u8(cursor); /* segment selectors */
	}
	length = cursor_number(cursor, unit->offset_size);
	tables = *cursor;
	cursor_skip(cursor, length);
	program->min_bytes = cursor_u8(&tables);
	if (program->lines->version >= 4)
		cursor_u8(&tables); /* operations in an instruction: 1 but for VLIW machines */
	cursor_u8(&tables);	    /* default_is_stmt */
	program->line_base = (int8_t)cursor_u8(&tables);
	program->line_range = cursor_u8(&tables);
	program->opcode_base = cursor_u8(&tables);
	for (unsigned i = 1; i < program->opcode_base; i++)
		program->operands[i] = cursor_u8(&tables);
	if (program->lines->version >= 5) {
		table_read(program, &tables, NULL, &folders);
		table_read(program, &tables, &folders, program->lines);
		vec_done(&folders.files);
	} else {
		old_tables_read(program, &tables);
	}
	return program->line_range && program->opcode_base && !cursor->broken;
}

static int sequence_order(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Rows of all sequences in the order of their addresses. */
static void rows_collect(struct program *program)
{
	vec_sort(&program->sequences, sequence_order);
	vec_foreach (const struct sequence, sequence, &program->sequences)
		for (uint32_t i = 0; i < sequence->count; i++)
			vec_push(&program->lines->rows, program->rows.at[sequence->first + i]);
}

static void lines_read(struct debug_unit *unit, struct debug_lines *lines)
{
	struct program program = {.unit = *unit, .lines = lines};

	program.cursor = cursor_over(unit->file->lines, unit->lines_offset);
	if (program.cursor.broken || !header_read(&program))
		return;
	program_run(&program);
	rows_collect(&program);
	vec_done(&program.rows);
	vec_done(&program.sequences);
}

struct debug_lines *debug_unit_lines(struct debug_unit *unit)
{
	debug_unit_head(unit);
	if (unit->skeleton && (!unit->has_lines || !unit->file->lines.at))
		unit = unit->skeleton;
	if (!unit->lines.read && unit->has_lines)
		lines_read(unit, &unit->lines);
	unit->lines.read = true;
	return &unit->lines;
}

const struct debug_row *debug_row_find(const struct debug_lines *lines, uint64_t addr)
{
	uint32_t upto = vec_upto(&lines->rows, addr, addr);

	if (!upto || lines->rows.at[upto - 1].file == SPAN_NONE)
		return NULL;
	return &lines->rows.at[upto - 1];
}

/* Add a piece of a path without its "." and ".." parts: builds run in a folder beside the source
 * write paths such as /build/../src/x.c, and the same file must have one name. */
static void path_add(struct str *path, const char *piece)
{
	if (*piece == '/' && !path->len)
		str_add_char(path, '/');
	while (*piece) {
		size_t len = strcspn(piece, "/");
		bool is_up = len == 2 && piece[0] == '.' && piece[1] == '.';
		const char *slash = is_up && path->len ? memrchr(path->at, '/', path->len) : NULL;

		if (slash && !str_equal(slash, "/..")) {
			path->len = slash == path->at ? 1 : (size_t)(slash - path->at);
			path->at[path->len] = '\0';
		} else if (len && !(len == 1 && *piece == '.')) {
			if (path->len && path->at[path->len - 1] != '/')
				str_add_char(path, '/');
			str_add_bytes(path, piece, len);
		}
		piece += len + (piece[len] == '/');
	}
}

static const char *path_compose(struct debug_unit *unit, const struct debug_path *path)
{
	str_auto struct str full = {0};

	if (!path->name || !quota_is_left(unit->file->quota))
		return NULL;
	if (*path->name != '/' && path->folder) {
		if (*path->folder != '/' && unit->folder)
			path_add(&full, unit->folder);
		path_add(&full, path->folder);
	} else if (*path->name != '/' && unit->folder) {
		path_add(&full, unit->folder);
	}
	path_add(&full, path->name);
	if (!quota_step(unit->file->quota, full.len / PATH_STEP) ||
		!quota_take(unit->file->quota, full.len))
		return NULL;
	return arena_text(&unit->file->arena, str_text(&full), full.len);
}

const char *debug_unit_path(struct debug_unit *unit, uint32_t file)
{
	struct debug_lines *lines = debug_unit_lines(unit);

	if (lines->version < 5 && file-- == 0)
		return NULL;
	if (file >= lines->files.count)
		return NULL;
	if (!lines->files.at[file].full)
		lines->files.at[file].full =
			path_compose(unit->skeleton && !unit->folder ? unit->skeleton : unit,
				&lines->files.at[file]);
	return lines->files.at[file].full;
}
