/* binary_code.c - frame pointers, by looking at up to two thousand functions.
 *
 * Where functions start comes from .symtab, else the search table of .eh_frame_hdr (which survives
 * stripping), else Go's own table, else .dynsym.  Only functions that make calls decide: a leaf
 * needs no frame, so counting leaves would call every optimised program half without. */
#include <string.h>

#include "binary_parts.h"
#include "code/prologue.h"
#include "names_parts.h"

enum {
	FUNCTIONS_SAMPLED = 2000,
	FUNCTION_SMALLEST = 16,
	FUNCTIONS_LIMIT = 1 << 24,
	FUNCTIONS_FEW = 3, /* below this there is no guess about the optimisation */
};

struct entry {
	uint64_t addr, size;
};

struct entries {
	struct image *image;
	vec_of(struct entry) list;
};

/* Pieces that are no functions of their own, or that the C start-up code brought along. */
static bool is_fragment(const char *name)
{
	static const char *const startup[] = {"_start", "_init", "_fini", "frame_dummy",
		"__do_global_dtors_aux", "register_tm_clones", "deregister_tm_clones",
		"_dl_relocate_static_pie"};
	const char *dot = name[0] ? strchr(name + 1, '.') : NULL;

	if (dot && strstr(dot, ".cold"))
		return true;
	for (size_t i = 0; i < sizeof(startup) / sizeof(*startup); i++)
		if (str_equal(name, startup[i]))
			return true;
	return false;
}

static void take_function(struct entries *entries, const Elf64_Sym *symbol, const char *name)
{
	const struct image_section *section;

	if ((symbol->st_info & 15) != STT_FUNC || symbol->st_size < FUNCTION_SMALLEST ||
		symbol->st_shndx >= entries->image->sections.count ||
		entries->list.count >= FUNCTIONS_LIMIT)
		return;
	section = &entries->image->sections.at[symbol->st_shndx];
	if (!str_starts(section->name, ".text") || is_fragment(name))
		return;
	vec_push(&entries->list, (struct entry){symbol->st_value, symbol->st_size});
}

/* A .cold part has unwind rules that hold from its first byte on; a function begins with the rules
 * of its CIE and changes them later.  True when the FDE at `addr` is such a part.  Layout: length,
 * CIE pointer, start, size (4 bytes each, as the search table of encoding 0x3b implies), length of
 * the augmentation, instructions. */
static bool is_fde_of_fragment(const struct image *image, uint64_t addr)
{
	struct image_bytes fde = image_code(image, addr, SIZE_MAX);
	size_t at = 16;

	if (!fde.at || fde.len < 18 || fde.at[at] >= 128)
		return false;
	at += 1u + fde.at[at];
	if (at >= fde.len)
		return false;
	return fde.at[at] == 0x0c || fde.at[at] == 0x0e ||
	       fde.at[at] >> 6 == 2; /* def_cfa*, offset */
}

static void add_unwind_entries(struct entries *entries)
{
	const struct image *image = entries->image;
	struct image_bytes table =
		image_segment_bytes(image, image_segment(image, PT_GNU_EH_FRAME));
	uint32_t count, stride;

	/* version 1, fde count as udata4, table of datarel sdata4 pairs: what all linkers write */
	if (table.len < 12 || table.at[0] != 1 || table.at[2] != 3 || table.at[3] != 0x3b)
		return;
	memcpy(&count, table.at + 8, sizeof(count));
	if (count > (table.len - 12) / 8)
		count = (uint32_t)((table.len - 12) / 8);
	stride = count / (2 * FUNCTIONS_SAMPLED) + 1;
	for (uint32_t i = 0; i + 1 < count; i += stride) {
		int32_t pair[4];
		uint64_t addr;

		memcpy(pair, table.at + 12 + (size_t)i * 8, sizeof(pair));
		addr = table.addr + (uint64_t)(int64_t)pair[0];
		if ((int64_t)pair[2] - pair[0] < FUNCTION_SMALLEST || addr == image->head.e_entry ||
			is_fde_of_fragment(image, table.addr + (uint64_t)(int64_t)pair[1]))
			continue;
		vec_push(&entries->list,
			(struct entry){addr, (uint64_t)((int64_t)pair[2] - pair[0])});
	}
}

static void add_go_entries(struct entries *entries)
{
	struct symbols symbols = {0};

	symbols_read_go(&symbols, entries->image);
	vec_foreach (const struct symbol, symbol, &symbols.list)
		if (symbol->size >= FUNCTION_SMALLEST)
			vec_push(&entries->list, (struct entry){symbol->addr, symbol->size});
	symbols_done(&symbols);
}

static void add_symbol_entries(struct entries *entries, uint32_t type)
{
	const struct image_section *table = image_symbol_table(entries->image, type);
	const char *name;
	Elf64_Sym symbol;

	for (uint64_t i = 1; image_symbol(entries->image, table, i, &symbol, &name); i++)
		if (name)
			take_function(entries, &symbol, name);
}

static void collect_entries(struct entries *entries)
{
	add_symbol_entries(entries, SHT_SYMTAB);
	if (entries->list.count < FUNCTIONS_FEW)
		add_unwind_entries(entries);
	if (entries->list.count < FUNCTIONS_FEW)
		add_go_entries(entries);
	if (entries->list.count < FUNCTIONS_FEW)
		add_symbol_entries(entries, SHT_DYNSYM);
}

static void look_at(struct binary_work *work, const struct entry *entry)
{
	const struct image *image = work->image;
	struct prologue_code function = {
		.addr = entry->addr, .low = image->low, .high = image->high};
	struct image_bytes code;
	struct prologue seen;

	function.machine = image->head.e_machine == EM_AARCH64 ? PROLOGUE_AARCH64 : PROLOGUE_X86_64;
	code = image_code(image, entry->addr, entry->size);
	if (!code.at)
		return;
	function.code = code.at;
	function.len = code.len;
	seen = prologue_look(&function);
	work->functions_all++;
	work->functions_spilling += seen.spills;
	work->facts->functions_seen += seen.calls;
	work->facts->functions_framed += seen.calls && seen.frames;
}

static void decide_frames(struct binary_facts *facts)
{
	uint32_t seen = facts->functions_seen, framed = facts->functions_framed;

	if (!seen) {
		facts->frame_pointers_reason =
			"found no function that makes a call: no symbols and no unwind table";
		return;
	}
	/* Hand-written assembler is allowed one in ten.  The other way, functions with arrays of
	 * variable size have a frame in any build: up to 23 % of Debian's programs (gdb). */
	if ((uint64_t)framed * 10 >= (uint64_t)seen * 9)
		facts->frame_pointers = BINARY_YES;
	else if ((uint64_t)framed * 4 <= seen)
		facts->frame_pointers = BINARY_NO;
	else
		facts->frame_pointers = BINARY_MIXED;
}

void binary_read_code(struct binary_work *work)
{
	struct entries entries = {.image = work->image};
	uint32_t stride;

	collect_entries(&entries);
	stride = entries.list.count / FUNCTIONS_SAMPLED + 1;
	for (uint32_t i = 0; i < entries.list.count; i += stride)
		look_at(work, &entries.list.at[i]);
	vec_done(&entries.list);
	decide_frames(work->facts);
}
