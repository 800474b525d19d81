/* binary_code.c - frame pointers, by looking at up to two thousand functions.
 *
 * Where functions start comes from .symtab, else the search table of .eh_frame_hdr (which survives
 * stripping), else Go's own table, else .dynsym.  Only functions that make calls decide: a leaf
 * needs no frame, so counting leaves would call every optimised program half without. */
#include <string.h>

#include "binary_parts.h"
#include "code/prologue.h"

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
	const struct binary_image *image;
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

static void take_function(void *context, const Elf64_Sym *symbol, const char *name)
{
	struct entries *entries = context;
	const struct binary_section *section;

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
static bool is_fde_of_fragment(const struct binary_image *image, uint64_t addr)
{
	size_t len, at = 16;
	const uint8_t *fde = binary_image_at(image, addr, &len);

	if (!fde || len < 18 || fde[at] >= 128)
		return false;
	at += 1u + fde[at];
	if (at >= len)
		return false;
	return fde[at] == 0x0c || fde[at] == 0x0e || fde[at] >> 6 == 2; /* def_cfa*, offset */
}

static void add_unwind_entries(struct entries *entries)
{
	const struct binary_image *image = entries->image;
	const Elf64_Phdr *head = binary_image_segment(image, PT_GNU_EH_FRAME);
	const uint8_t *data = binary_image_segment_data(image, head);
	uint32_t count, stride;

	/* version 1, fde count as udata4, table of datarel sdata4 pairs: what all linkers write */
	if (!data || head->p_filesz < 12 || data[0] != 1 || data[2] != 3 || data[3] != 0x3b)
		return;
	memcpy(&count, data + 8, sizeof(count));
	if (count > (head->p_filesz - 12) / 8)
		count = (uint32_t)((head->p_filesz - 12) / 8);
	stride = count / (2 * FUNCTIONS_SAMPLED) + 1;
	for (uint32_t i = 0; i + 1 < count; i += stride) {
		int32_t pair[4];
		uint64_t addr;

		memcpy(pair, data + 12 + (size_t)i * 8, sizeof(pair));
		addr = head->p_vaddr + (uint64_t)(int64_t)pair[0];
		if ((int64_t)pair[2] - pair[0] < FUNCTION_SMALLEST || addr == image->head.e_entry ||
			is_fde_of_fragment(image, head->p_vaddr + (uint64_t)(int64_t)pair[1]))
			continue;
		vec_push(&entries->list,
			(struct entry){addr, (uint64_t)((int64_t)pair[2] - pair[0])});
	}
}

/* Go's function table, version 1.18 and later: header, then pairs of u32 {entry, info}. */
static void add_go_entries(struct entries *entries)
{
	const struct binary_section *table = binary_image_section(entries->image, ".gopclntab");
	const struct binary_section *text = binary_image_section(entries->image, ".text");
	uint64_t count, start, pairs_at;
	uint32_t magic;

	if (!table || !table->data || !text || table->head.sh_size < 72)
		return;
	memcpy(&magic, table->data, sizeof(magic));
	memcpy(&count, table->data + 8, sizeof(count));
	memcpy(&start, table->data + 24, sizeof(start));
	memcpy(&pairs_at, table->data + 64, sizeof(pairs_at));
	if ((magic != 0xfffffff0 && magic != 0xfffffff1) || pairs_at >= table->head.sh_size)
		return;
	start = start ? start : text->head.sh_addr;
	if (count > (table->head.sh_size - pairs_at) / 8)
		count = (table->head.sh_size - pairs_at) / 8;
	for (uint64_t i = 0; i + 1 < count; i++) {
		uint32_t pair[4];

		memcpy(pair, table->data + pairs_at + i * 8, sizeof(pair));
		if (pair[2] > pair[0] && pair[2] - pair[0] >= FUNCTION_SMALLEST)
			vec_push(
				&entries->list, (struct entry){start + pair[0], pair[2] - pair[0]});
	}
}

static void add_symbol_entries(struct entries *entries, const char *section)
{
	binary_image_symbols(entries->image, binary_image_section(entries->image, section),
		take_function, entries);
}

static void collect_entries(struct entries *entries)
{
	add_symbol_entries(entries, ".symtab");
	if (entries->list.count < FUNCTIONS_FEW)
		add_unwind_entries(entries);
	if (entries->list.count < FUNCTIONS_FEW)
		add_go_entries(entries);
	if (entries->list.count < FUNCTIONS_FEW)
		add_symbol_entries(entries, ".dynsym");
}

static void look_at(struct binary_work *work, const struct entry *entry)
{
	const struct binary_image *image = work->image;
	struct prologue_code function = {
		.addr = entry->addr, .low = image->low, .high = image->high};
	struct prologue seen;

	function.machine = image->head.e_machine == EM_AARCH64 ? PROLOGUE_AARCH64 : PROLOGUE_X86_64;
	function.code = binary_image_at(image, entry->addr, &function.len);
	if (!function.code)
		return;
	if (function.len > entry->size)
		function.len = entry->size;
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
			"no function that makes a call was found: no symbols and no unwind table";
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
