/* names_stubs.c - calls into libraries go through small stubs without symbols: name them.
 *
 * Each stub jumps through one slot of the global offset table, and a relocation names the symbol
 * whose address the loader writes there.  The stubs are found by their instructions, not by
 * counting: linkers differ in where the first one stands and in what surrounds the jump. */
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "names_parts.h"

struct slot {
	uint64_t addr;
	const char *name;
};

struct slots {
	vec_of(struct slot) list;
};

static void relocations_read(
	struct slots *slots, const struct image *image, const struct image_section *section)
{
	const struct image_section *table = section->head.sh_link < image->sections.count
						    ? &image->sections.at[section->head.sh_link]
						    : NULL;
	Elf64_Rela relocation;

	if (!section->data || !table || table->head.sh_type != SHT_DYNSYM)
		return;
	for (uint64_t at = 0; at + sizeof(relocation) <= section->head.sh_size;
		at += sizeof(relocation)) {
		Elf64_Sym symbol;
		const char *name;

		if (!quota_step(image->quota, 2))
			return;
		memcpy(&relocation, section->data + at, sizeof(relocation));
		if (ELF64_R_SYM(relocation.r_info) &&
			image_symbol(
				image, table, ELF64_R_SYM(relocation.r_info), &symbol, &name) &&
			name && *name && quota_step(image->quota, strlen(name) / NAME_STEP) &&
			quota_take(image->quota, sizeof(struct slot)))
			vec_push(&slots->list, (struct slot){relocation.r_offset, name});
	}
}

static void slots_read(struct slots *slots, const struct image *image)
{
	vec_foreach (const struct image_section, section, &image->sections)
		if (section->head.sh_type == SHT_RELA && section->head.sh_flags & SHF_ALLOC)
			relocations_read(slots, image, section);
	vec_sort(&slots->list, sorted_compare);
}

static const char *slot_name(const struct slots *slots, uint64_t addr)
{
	struct slot wanted = {addr, NULL}, *found;

	if (!slots->list.count)
		return NULL;
	found = bsearch(&wanted, slots->list.at, slots->list.count, sizeof(wanted), sorted_compare);
	return found ? found->name : NULL;
}

/* jmp *disp32(%rip) anywhere in the stub. */
static bool stub_x86(const uint8_t *code, size_t len, uint64_t addr, uint64_t *ret_slot)
{
	for (size_t i = 0; i + 6 <= len; i++) {
		int32_t offset;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&offset, code + i + 2, sizeof(offset));
		*ret_slot = addr + i + 6 + (uint64_t)(int64_t)offset;
		return true;
	}
	return false;
}

/* adrp x16, PAGE; ldr x17, [x16, #OFFSET] */
static bool stub_aarch64(const uint8_t *code, uint64_t addr, uint64_t *ret_slot)
{
	uint32_t page, load;
	uint64_t offset;

	memcpy(&page, code, 4);
	memcpy(&load, code + 4, 4);
	if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	offset = (page >> 29 & 3) | (uint64_t)(page >> 5 & 0x7ffff) << 2;
	offset = (uint64_t)((int64_t)(offset << 43) >> 31); /* 21 bits with sign, times 4096 */
	*ret_slot = (addr & ~UINT64_C(4095)) + offset + (uint64_t)(load >> 10 & 0xfff) * 8;
	return true;
}

struct stubs {
	struct symbols *symbols;
	const struct slots *slots;
	struct arena *arena;
	struct quota *quota;
};

static void stub_add(const struct stubs *stubs, uint64_t addr, uint64_t size, uint64_t slot)
{
	const char *name = slot_name(stubs->slots, slot);

	if (name && quota_take(stubs->quota, SYMBOL_BYTES + strlen(name)))
		vec_push(&stubs->symbols->list,
			(struct symbol){.addr = addr,
				.size = size,
				.linkage = arena_format(stubs->arena, "%s@plt", name),
				.binding = SYMBOL_LOCAL,
				.is_function = true});
}

static void stubs_add_x86(const struct stubs *stubs, struct image_bytes code,
	const Elf64_Shdr *head, const char *section)
{
	size_t step = head->sh_entsize == 8 || head->sh_entsize == 16 ? head->sh_entsize
		      : strcmp(section, ".plt.got") == 0	      ? 8
								      : 16;
	uint64_t slot;

	for (size_t i = 0; i + step <= code.len; i += step)
		if (stub_x86(code.at + i, step, head->sh_addr + i, &slot))
			stub_add(stubs, head->sh_addr + i, step, slot);
}

/* The first stub is longer, and each is with branch protection (bti c in front): go by what stands
 * there. */
static void stubs_add_aarch64(
	const struct stubs *stubs, struct image_bytes code, const Elf64_Shdr *head)
{
	static const uint8_t landing[] = {0x5f, 0x24, 0x03, 0xd5}; /* bti c */
	uint64_t slot;

	for (size_t i = 0; i + 16 <= code.len; i += 4) {
		size_t front = i >= 4 && memcmp(code.at + i - 4, landing, 4) == 0 ? 4 : 0;

		if (stub_aarch64(code.at + i, head->sh_addr + i, &slot))
			stub_add(stubs, head->sh_addr + i - front, 16 + front, slot);
	}
}

void symbols_read_stubs(struct symbols *symbols, struct image *image, struct arena *arena)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};
	enum image_machine machine = image_machine(image);
	struct slots slots = {0};
	struct stubs stubs = {symbols, &slots, arena, image->quota};

	if (machine == IMAGE_OTHER)
		return;
	slots_read(&slots, image);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		struct image_bytes code = image_section(image, sections[i]);

		if (!code.at)
			continue;
		if (machine == IMAGE_AARCH64)
			stubs_add_aarch64(&stubs, code, &image_find(image, sections[i])->head);
		else
			stubs_add_x86(
				&stubs, code, &image_find(image, sections[i])->head, sections[i]);
	}
	vec_done(&slots.list);
}
