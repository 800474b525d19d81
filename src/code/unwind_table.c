/* unwind_table.c - from an address to its rule, compiling on the way.
 *
 *     slot of the cache -> done                           (most frames)
 *     search table (.eh_frame_hdr, or our own) -> FDE     binary search
 *     first_row[FDE] -> its rows, compiled on first hit   binary search
 *
 * A recording touches a few thousand of a program's functions, so compiling all of them first (0.3
 * s for clang) would be most of the cost, and a cache on disk would save little: see
 * docs/decisions/005-unwinding.md.  Rows are 6 bytes and go on behind each other; those of one
 * function stand behind a head row with its length and their number.  Rules are few and kept once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "image_parts.h"
#include "unwind_parts.h"

enum {
	PLT_LIMIT = 3,
	SLOTS_SMALLEST = 64,
	SLOTS_LARGEST = 8192,
	START_BYTES = 256, /* how far behind its entry the start of a program may call from */
	ROWS_SPARE = 64,
};

/* Two that come first; the others follow as they are met. */
enum rule_id { RULE_NONE, RULE_UNKNOWN };

struct search_row { /* as in .eh_frame_hdr: both relative to the table's base */
	int32_t pc, fde;
};

struct row { /* head row: bytes of the function, number of rows behind it */
	uint32_t pc_offset;
	uint16_t rule;
} __attribute__((packed, aligned(2)));

struct slot {
	uint32_t key; /* address - low + 1; 0: empty */
	uint16_t rule;
};

struct plt {
	uint64_t addr, bytes;
	bool lazy;
};

struct unwind_table {
	struct image *image;
	enum image_machine machine;
	bool ready;
	struct image_bytes frames;   /* .eh_frame */
	const unsigned char *search; /* struct search_row[], in the file (not aligned) or `own` */
	uint64_t search_base;
	uint32_t fde_count;
	vec_of(struct search_row) own;
	uint32_t *first_row; /* per FDE; 0: not compiled yet */
	vec_of(struct row) rows;
	vec_of(struct unwind_rule) rules; /* by enum rule_id */
	struct map rule_ids;
	struct slot *slots;
	uint32_t slot_count; /* a power of two */
	uint64_t low, entry;
	struct plt plts[PLT_LIMIT];
};

struct unwind_table *unwind_table_open(struct image *image)
{
	struct unwind_table *table = mem_new(1, sizeof(*table));

	table->image = image;
	table->machine = image_machine(image);
	return table;
}

void unwind_table_close(struct unwind_table *table)
{
	if (!table)
		return;
	vec_done(&table->own);
	vec_done(&table->rows);
	vec_done(&table->rules);
	map_done(&table->rule_ids);
	free(table->first_row);
	free(table->slots);
	free(table);
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return sizeof(*table) + table->own.capacity * sizeof(*table->own.at) +
	       table->rows.capacity * sizeof(*table->rows.at) +
	       table->rules.capacity * sizeof(*table->rules.at) +
	       table->slot_count * sizeof(*table->slots) +
	       (table->first_row ? table->fde_count * sizeof(*table->first_row) : 0) +
	       /* the map: a slot of 32 bytes and a copy of the rule, at half load */
	       (size_t)table->rule_ids.count * (2 * 32 + sizeof(struct unwind_rule));
}

const struct image_bytes *unwind_table_frames(const struct unwind_table *table)
{
	return &table->frames;
}

static struct search_row search_at(const struct unwind_table *table, uint32_t index)
{
	struct search_row row;

	memcpy(&row, table->search + (size_t)index * sizeof(row), sizeof(row));
	return row;
}

static bool search_is_sorted(const struct unwind_table *table)
{
	for (uint32_t i = 1; i < table->fde_count; i++)
		if (search_at(table, i - 1).pc > search_at(table, i).pc)
			return false;
	return true;
}

static struct image_bytes table_header(struct unwind_table *table)
{
	struct image_bytes header = image_section(table->image, ".eh_frame_hdr");
	const Elf64_Phdr *segment = image_segment(table->image, PT_GNU_EH_FRAME);

	if (header.at || !segment)
		return header;
	return image_code(table->image, segment->p_vaddr, segment->p_filesz);
}

/* The linker's search table, when it has the form that all linkers write.  Also finds .eh_frame in
 * a file whose section table was cut off. */
static bool table_use_header(struct unwind_table *table)
{
	struct image_bytes header = table_header(table);
	struct cursor cursor = cursor_over(header, 0);
	uint64_t head, frames, count;

	head = cursor_number(&cursor, 4); /* version, three encodings */
	frames = cursor_encoded(&cursor, (uint8_t)(head >> 8), header.addr + 4);
	if (cursor.broken || (head & 0xff) != 1)
		return false;
	if (!table->frames.at)
		table->frames = image_code(table->image, frames, SIZE_MAX);
	count = cursor_number(&cursor, 4);
	if (cursor.broken || (head >> 16 & 0xff) != ENCODING_UDATA4 ||
		head >> 24 != (ENCODING_DATAREL | ENCODING_SDATA4) || !count ||
		count > cursor_left(&cursor) / sizeof(struct search_row))
		return false;
	table->search = cursor.at;
	table->search_base = header.addr;
	table->fde_count = (uint32_t)count;
	return search_is_sorted(table);
}

static int search_compare(const void *a, const void *b)
{
	int32_t x = ((const struct search_row *)a)->pc, y = ((const struct search_row *)b)->pc;

	return (x > y) - (x < y);
}

/* Our own search table, of all FDEs within 2 GiB of the section. */
static void table_build_search(struct unwind_table *table)
{
	uint64_t offset = 0, next;
	struct frame_entry entry;
	bool is_fde;

	table->search_base = table->frames.addr;
	for (; frame_entry_next(&table->frames, offset, &next, &is_fde); offset = next) {
		int64_t pc;

		if (!is_fde || !frame_entry_read(&table->frames, table->machine, offset, &entry))
			continue;
		pc = (int64_t)(entry.pc - table->search_base);
		if (pc == (int32_t)pc && offset <= INT32_MAX)
			vec_push(&table->own,
				(struct search_row){.pc = (int32_t)pc, .fde = (int32_t)offset});
	}
	vec_sort(&table->own, search_compare);
	table->search = (const unsigned char *)table->own.at;
	table->fde_count = table->own.count;
}

static void table_find_plts(struct unwind_table *table)
{
	static const char *const names[PLT_LIMIT] = {".plt", ".plt.sec", ".plt.got"};

	for (int i = 0; i < PLT_LIMIT; i++) {
		struct image_bytes plt = image_section(table->image, names[i]);

		table->plts[i] = (struct plt){.addr = plt.addr, .bytes = plt.len, .lazy = i == 0};
	}
}

/* By a quarter, not double: this is nearly all the memory that a table has. */
static void table_push(struct unwind_table *table, struct row row)
{
	if (table->rows.count == table->rows.capacity) {
		table->rows.capacity += table->rows.capacity / 4 + ROWS_SPARE;
		table->rows.at =
			mem_resize(table->rows.at, table->rows.capacity, sizeof(*table->rows.at));
	}
	table->rows.at[table->rows.count++] = row;
}

/* On the first question, so that a module nobody asks about costs nothing. */
static void table_prepare(struct unwind_table *table)
{
	table->ready = true;
	table->low = table->image->low;
	table->entry = table->image->head.e_entry;
	for (int i = RULE_NONE; i <= RULE_UNKNOWN; i++)
		vec_push(&table->rules, (struct unwind_rule){0});
	table_push(table, (struct row){0}); /* so that 0 is nobody's first row */
	if (table->machine == IMAGE_OTHER || image_is_relocatable(table->image))
		return;
	table_find_plts(table);
	table->frames = image_section(table->image, ".eh_frame");
	if (!table_use_header(table)) {
		table->fde_count = 0;
		if (table->frames.at)
			table_build_search(table);
	}
	if (!table->frames.at)
		table->fde_count = 0;
	if (!table->fde_count)
		return;
	table->first_row = mem_new(table->fde_count, sizeof(*table->first_row));
	table->slot_count = SLOTS_SMALLEST;
	while (table->slot_count < SLOTS_LARGEST && table->slot_count < table->fde_count / 4)
		table->slot_count *= 2;
	table->slots = mem_new(table->slot_count, sizeof(*table->slots));
}

static uint16_t table_rule_id(struct unwind_table *table, const struct unwind_rule *rule)
{
	uint32_t id;

	if (rule->cfa == CFA_UNKNOWN && rule->ra != SAVED_UNDEFINED)
		return RULE_UNKNOWN;
	if (map_get(&table->rule_ids, rule, sizeof(*rule), &id))
		return (uint16_t)id;
	if (table->rules.count > UINT16_MAX)
		return RULE_UNKNOWN;
	id = table->rules.count;
	vec_push(&table->rules, *rule);
	map_put(&table->rule_ids, rule, sizeof(*rule), id);
	return (uint16_t)id;
}

static void table_take_row(void *context, uint32_t pc_offset, const struct unwind_rule *rule)
{
	struct unwind_table *table = context;

	table_push(table, (struct row){pc_offset, table_rule_id(table, rule)});
}

static uint64_t fde_offset(const struct unwind_table *table, uint32_t index)
{
	uint64_t fde = (uint64_t)(int64_t)search_at(table, index).fde;

	return table->own.count ? fde : table->search_base + fde - table->frames.addr;
}

static uint64_t fde_pc(const struct unwind_table *table, uint32_t index)
{
	return table->search_base + (uint64_t)(int64_t)search_at(table, index).pc;
}

/* A row costs its program two bytes at least, and an FDE is 16 bytes long: more rows than this can
 * only come from FDEs made to overlap. */
static bool table_is_full(const struct unwind_table *table)
{
	return table->rows.count > table->frames.len / 2 + ROWS_SPARE;
}

static void table_compile(struct unwind_table *table, uint32_t index)
{
	uint32_t head = table->rows.count, count;
	struct frame_entry entry;
	bool good;

	table_push(table, (struct row){0});
	table->first_row[index] = head;
	if (table_is_full(table) ||
		!frame_entry_read(
			&table->frames, table->machine, fde_offset(table, index), &entry) ||
		entry.pc != fde_pc(table, index) || entry.pc_bytes > UINT32_MAX ||
		!quota_step(table->image->quota, cursor_left(&entry.program)))
		return;
	good = frame_entry_compile(&entry, &table->frames, table->machine, table_take_row, table);
	count = table->rows.count - head - 1;
	if (!good || count > UINT16_MAX) {
		table->rows.count = head + 1;
		count = 0;
	}
	table->rows.at[head] = (struct row){(uint32_t)entry.pc_bytes, (uint16_t)count};
}

static uint16_t function_rule(const struct unwind_table *table, uint32_t head, uint64_t offset)
{
	const struct row *rows = &table->rows.at[head];
	uint32_t low = 0, high = rows->rule;

	if (offset >= rows->pc_offset)
		return RULE_NONE;
	while (low < high) { /* behind the last row that begins at or before it */
		uint32_t middle = (low + high) / 2;

		if (rows[1 + middle].pc_offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? rows[low].rule : RULE_UNKNOWN;
}

static uint16_t table_search(struct unwind_table *table, uint64_t addr)
{
	int64_t wanted = (int64_t)(addr - table->search_base);
	uint32_t low = 0, high = table->fde_count;

	if (wanted != (int32_t)wanted)
		return RULE_NONE;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (search_at(table, middle).pc <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return RULE_NONE;
	if (!table->first_row[low - 1])
		table_compile(table, low - 1);
	return function_rule(table, table->first_row[low - 1], addr - fde_pc(table, low - 1));
}

const struct unwind_rule *unwind_table_rule(struct unwind_table *table, uint64_t addr)
{
	struct slot *slot;
	uint64_t key;

	if (!table->ready)
		table_prepare(table);
	key = addr - table->low + 1;
	if (!table->fde_count || !key || key > UINT32_MAX)
		return NULL;
	slot = &table->slots[(key * 0x9e3779b1u >> 16) & (table->slot_count - 1)];
	if (slot->key != key)
		*slot = (struct slot){(uint32_t)key, table_search(table, addr)};
	return slot->rule ? &table->rules.at[slot->rule] : NULL;
}

/* call *OPERAND is ff /2; how long it is follows from its second byte. */
static bool is_indirect_call(const unsigned char *code, size_t len)
{
	unsigned mod = code[1] >> 6, rm = code[1] & 7;
	size_t wanted = 2;

	if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
		return false;
	if (mod != 3 && rm == 4)
		wanted++;
	if (mod == 1)
		wanted++;
	else if (mod == 2 || (mod == 0 && rm == 5))
		wanted += 4;
	/* a table of pointers without base register: call *TABLE(,%rax,8) */
	else if (mod == 0 && rm == 4 && len > 2 && (code[2] & 7) == 5)
		wanted += 4;
	return wanted == len;
}

bool unwind_table_has_call_before(const struct unwind_table *table, uint64_t addr)
{
	enum { LONGEST = 7 };
	struct image_bytes code;
	uint32_t instruction;

	if (table->machine == IMAGE_AARCH64) {
		code = image_code(table->image, addr - sizeof(instruction), sizeof(instruction));
		if (code.len != sizeof(instruction))
			return false;
		memcpy(&instruction, code.at, sizeof(instruction));
		return instruction >> 26 == 0x25 ||		 /* bl */
		       (instruction & 0xfefff000) == 0xd63f0000; /* blr, blraa and their kin */
	}
	code = image_code(table->image, addr - LONGEST, LONGEST);
	if (code.len != LONGEST)
		return false;
	if (code.at[2] == 0xe8)
		return true;
	for (size_t len = 2; len <= LONGEST; len++)
		if (is_indirect_call(code.at + LONGEST - len, len))
			return true;
	return false;
}

/* The kernel returns from a handler into these two instructions; aarch64's vdso and musl give them
 * no rules. */
static bool is_signal_return(const struct unwind_table *table, uint64_t addr)
{
	static const unsigned char x86[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const unsigned char aarch64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	const unsigned char *wanted = table->machine == IMAGE_AARCH64 ? aarch64 : x86;
	size_t len = table->machine == IMAGE_AARCH64 ? sizeof(aarch64) : sizeof(x86);
	struct image_bytes code = image_code(table->image, addr, len);

	return code.len == len && memcmp(code.at, wanted, len) == 0;
}

enum unwind_gap unwind_table_gap(const struct unwind_table *table, uint64_t addr)
{
	for (int i = 0; i < PLT_LIMIT; i++) {
		const struct plt *plt = &table->plts[i];

		/* jmp *GOT (6 bytes), push NUMBER (5), jmp PLT0 */
		if (addr - plt->addr < plt->bytes)
			return plt->lazy && (addr & 15) >= 11 ? GAP_PLT_PUSHED : GAP_PLT;
	}
	if (is_signal_return(table, addr))
		return GAP_SIGNAL;
	if (table->entry && addr >= table->entry && addr - table->entry < START_BYTES)
		return GAP_START;
	return GAP_UNKNOWN;
}

void unwind_table_each(struct unwind_table *table,
	void (*take)(void *context, uint64_t addr, const struct unwind_rule *rule, bool begins),
	void *context)
{
	if (!table->ready)
		table_prepare(table);
	for (uint32_t i = 0; i < table->fde_count; i++) {
		uint64_t pc = fde_pc(table, i);
		const struct row *rows;

		if (!table->first_row[i])
			table_compile(table, i);
		rows = &table->rows.at[table->first_row[i]];
		for (uint32_t row = 1; row <= rows->rule; row++)
			take(context, pc + rows[row].pc_offset, &table->rules.at[rows[row].rule],
				row == 1);
		take(context, pc + rows->pc_offset, &table->rules.at[RULE_NONE], false);
	}
}
