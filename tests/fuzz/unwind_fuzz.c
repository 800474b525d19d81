/* unwind_fuzz.c - any bytes as an ELF file: its sections, and walks that start in its functions. */
#include <string.h>

#include "code/image.h"
#include "code/unwind.h"

enum { SLOTS = 512, WALKS = 48, FRAMES = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	*ret_place = (struct unwind_place){.table = addr % 64 ? context : NULL};
	return addr != 0;
}

static void walk(struct unwind_table *table, enum image_machine machine, uint64_t pc)
{
	struct unwind_world world = {.machine = machine, .find = find, .context = table};
	uint64_t slots[SLOTS], addrs[FRAMES], base = 0x7f0000000000;
	struct unwind_registers registers = {.ip = pc, .sp = base, .fp = base + 64, .lr = pc + 4};
	struct unwind_stack stack = {.bytes = (const unsigned char *)slots,
		.len = sizeof(slots),
		.base = base,
		.cut = pc % 2};
	enum unwind_end end;

	for (uint64_t i = 0; i < SLOTS; i++) /* code and stack addresses by turns */
		slots[i] = i % 3 ? pc + i : base + 8 * i + 64;
	if (unwind_sample(&world, &registers, &stack, addrs, FRAMES, &end) > FRAMES)
		__builtin_trap();
}

static void walk_functions(struct image *image, struct unwind_table *table)
{
	struct image_bytes search = image_section(image, ".eh_frame_hdr");
	enum image_machine machine = image_machine(image);
	uint64_t pc = 0;

	for (int i = 0; i < WALKS; i++)
		walk(table, machine, pc += 0x31);
	image_addr_of_offset(image, 0x1000, &pc);
	for (size_t at = 12, i = 0; search.at && i < WALKS && at + 8 <= search.len; at += 8, i++) {
		int32_t relative;

		memcpy(&relative, search.at + at, sizeof(relative));
		pc = search.addr + (uint64_t)(int64_t)relative;
		walk(table, machine, pc);
		walk(table, machine, pc + 5);
	}
}

static void take_steps(struct unwind_table *table)
{
	unwind_step_vec steps = {0};

	unwind_table_steps(table, &steps);
	for (uint32_t i = 1; i < steps.count; i++)
		if (steps.at[i].addr <= steps.at[i - 1].addr)
			__builtin_trap();
	vec_done(&steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *image = NULL;
	struct unwind_table *table;
	struct err err = {0};

	if (image_open_bytes(data, size, "fuzz", &image, &err) < 0)
		return 0;
	image_section(image, ".debug_info");
	image_section(image, ".debug_line");
	image_code(image, 0x1000, 64);
	table = unwind_table_open(image);
	walk_functions(image, table);
	take_steps(table);
	unwind_table_bytes(table);
	unwind_table_close(table);
	image_close(image);
	return 0;
}
