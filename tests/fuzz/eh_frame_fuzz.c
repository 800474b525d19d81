/* eh_frame_fuzz.c - any bytes as the .eh_frame of a file that is right in all else.
 *
 * Without a search table, so that every record is walked.  The first byte chooses the machine, the
 * second how far the addresses asked for lie apart. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "code/image.h"
#include "code/unwind.h"

enum { SLOTS = 512, WALKS = 256, FRAMES = 16, ADDR = 0x1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char names[] = "\0.eh_frame\0.names";

struct file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	char names[sizeof(names)];
};

static unsigned char *file_make(const uint8_t *data, size_t size, bool aarch64)
{
	unsigned char *bytes = malloc(sizeof(struct file) + size);
	struct file file = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
			.e_type = ET_DYN,
			.e_machine = aarch64 ? EM_AARCH64 : EM_X86_64,
			.e_shoff = offsetof(struct file, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2},
		.sections[1] = {.sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC,
			.sh_addr = ADDR,
			.sh_offset = sizeof(struct file),
			.sh_size = size},
		.sections[2] = {.sh_name = 11,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct file, names),
			.sh_size = sizeof(names)},
	};

	if (!bytes)
		abort();
	memcpy(file.names, names, sizeof(names));
	memcpy(bytes, &file, sizeof(file));
	memcpy(bytes + sizeof(file), data, size);
	return bytes;
}

static bool find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	*ret_place = (struct unwind_place){.table = context};
	return addr != 0;
}

static void walk(struct unwind_table *table, enum image_machine machine, uint64_t pc)
{
	struct unwind_world world = {.machine = machine, .find = find, .context = table};
	uint64_t slots[SLOTS], addrs[FRAMES], base = 0x7f0000000000;
	struct unwind_registers registers = {.ip = pc, .sp = base, .fp = base + 64, .lr = pc};
	struct unwind_stack stack = {
		.bytes = (const unsigned char *)slots, .len = sizeof(slots), .base = base};
	enum unwind_end end;

	for (uint64_t i = 0; i < SLOTS; i++)
		slots[i] = i % 3 ? pc + i : base + 8 * i + 64;
	unwind_sample(&world, &registers, &stack, addrs, FRAMES, &end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table *table;
	struct image *image = NULL;
	struct err err = {0};
	unsigned char *bytes;
	size_t len = size - 2;

	if (size < 2)
		return 0;
	bytes = file_make(data + 2, len, data[0] & 1);
	if (image_open_bytes(bytes, sizeof(struct file) + len, "fuzz", &image, &err) < 0)
		__builtin_trap();
	table = unwind_table_open(image);
	for (uint64_t i = 0; i < WALKS; i++)
		walk(table, image_machine(image), ADDR - 0x800 + i * data[1]);
	/* A bound on memory, whatever the bytes say: see table_is_full(). */
	if (unwind_table_bytes(table) > 64 * len + (1 << 20))
		__builtin_trap();
	unwind_table_close(table);
	image_close(image);
	free(bytes);
	return 0;
}
