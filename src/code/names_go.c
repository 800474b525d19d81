/* names_go.c - Go's function table, which its runtime carries even in a stripped program.
 *
 * .gopclntab of Go 1.20 and later (magic 0xfffffff1), and of 1.18 (0xfffffff0): a header, a table
 * of {entry, function} offsets sorted by entry, and for each function the offset of its name.
 * Older programs keep what their symbols say. */
#include <string.h>

#include "names_parts.h"

enum { GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1, GO_FUNCTION_LIMIT = 1 << 24 };

struct go_table {
	struct image_bytes bytes;
	uint64_t text_start, functions, count, names;
};

static bool table_open(struct image *image, struct go_table *table)
{
	struct cursor cursor;
	uint32_t magic;
	unsigned word;

	table->bytes = image_section(image, ".gopclntab");
	if (!table->bytes.at)
		table->bytes = image_section(image, ".data.rel.ro.gopclntab");
	cursor = cursor_over(table->bytes, 0);
	magic = cursor_u32(&cursor);
	if (magic != (uint32_t)GO_1_18 && magic != (uint32_t)GO_1_20)
		return false;
	cursor_skip(&cursor, 3); /* two zeros, the size of an instruction */
	word = cursor_u8(&cursor);
	if (word != 4 && word != 8)
		return false;
	table->count = cursor_number(&cursor, word);
	cursor_number(&cursor, word); /* files */
	table->text_start = cursor_number(&cursor, word);
	table->names = cursor_number(&cursor, word);
	cursor_skip(&cursor, 3 * word); /* units, files, line programs */
	table->functions = cursor_number(&cursor, word);
	return !cursor.broken && table->count < GO_FUNCTION_LIMIT;
}

uint32_t symbols_read_go(struct symbols *symbols, struct image *image)
{
	uint32_t before = symbols->list.count;
	struct go_table table = {0};
	struct cursor cursor;
	uint64_t entry, function;

	if (!table_open(image, &table))
		return 0;
	if (!table.text_start) /* left 0 in position-independent programs */
		table.text_start = image_section(image, ".text").addr;
	cursor = cursor_over(table.bytes, table.functions);
	entry = cursor_u32(&cursor);
	for (uint64_t i = 0; i < table.count && quota_is_left(image->quota); i++) {
		struct cursor at, name;
		uint64_t next;
		const char *text;

		function = cursor_u32(&cursor);
		next = cursor_u32(&cursor);
		if (cursor.broken)
			break;
		at = cursor_over(table.bytes, table.functions + function + 4);
		name = cursor_over(table.bytes, table.names + cursor_u32(&at));
		text = cursor_text(&name);
		if (text && quota_step(image->quota, 2 + strlen(text) / NAME_STEP) && *text &&
			next > entry && quota_take(image->quota, SYMBOL_BYTES))
			vec_push(&symbols->list, (struct symbol){.addr = table.text_start + entry,
							 .size = next - entry,
							 .linkage = text,
							 .binding = SYMBOL_GLOBAL,
							 .is_function = true});
		entry = next;
	}
	return symbols->list.count - before;
}
