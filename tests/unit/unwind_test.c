/* unwind_test.c - the rules agree with libdw's, and a walk ends where the truth ends.
 *
 * The rules are looked at from outside.  Each slot of a made-up stack holds its own address plus
 * 0x1000, and all of it counts as code without rules.  So one step from an instruction tells where
 * its rule finds the return address, and the next, by frame pointer, where it finds that one. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/str.h"
#include "code/image.h"
#include "code/unwind.h"

enum { SLOTS = 32768, SLOT_STEP = 0x1000, FP_ABOVE = 0x8000 };
static const uint64_t STACK = 0x7f0000000000, LINK = 0x7f0000001234;

struct scene {
	struct image *image;
	struct unwind_table *table;
	struct unwind_world world;
	uint64_t *slots;
};

static bool scene_find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	const struct scene *scene = context;

	*ret_place = (struct unwind_place){.table = addr < STACK ? scene->table : NULL};
	return true;
}

static void scene_open_image(struct scene *scene, struct image *image)
{
	scene->image = image;
	scene->table = unwind_table_open(image);
	scene->world = (struct unwind_world){
		.machine = image_machine(image), .find = scene_find, .context = scene};
	scene->slots = calloc(SLOTS, sizeof(*scene->slots));
	assert_non_null(scene->slots);
	for (uint64_t i = 0; i < SLOTS; i++)
		scene->slots[i] = STACK + 8 * i + SLOT_STEP;
}

static void scene_open(struct scene *scene, const char *path)
{
	struct image *image = NULL;
	struct err err = {0};

	if (access(path, R_OK) < 0) {
		print_message("# skip: there is no %s here\n", path);
		skip();
	}
	if (image_open(path, &image, &err) < 0)
		fail_msg("%s", err.text);
	scene_open_image(scene, image);
}

static void scene_close(struct scene *scene)
{
	unwind_table_close(scene->table);
	image_close(scene->image);
	free(scene->slots);
}

/* Frames 1 and 2 tell where the rule at `pc` finds the two registers. */
static size_t scene_walk(struct scene *scene, uint64_t pc, uint64_t *addrs, enum unwind_end *end)
{
	struct unwind_registers registers = {
		.ip = pc, .sp = STACK, .fp = STACK + FP_ABOVE, .lr = LINK};
	struct unwind_stack stack = {.bytes = (const unsigned char *)scene->slots,
		.len = SLOTS * sizeof(*scene->slots),
		.base = STACK,
		.cut = true};

	return unwind_sample(&scene->world, &registers, &stack, addrs, 3, end);
}

static const char *library_path(void)
{
	static Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)qsort, &info) != 0);
	return info.dli_fname;
}

/* What libdw says of one row. */
enum dw_saved { DW_SAME, DW_UNDEFINED, DW_AT, DW_OTHER };
struct dw_row {
	Dwarf_Addr begin, end;
	bool simple, followed; /* CFA is register + offset; and the register is one that we know */
	uint64_t cfa;
	enum dw_saved fp, ra;
	int64_t fp_offset, ra_offset;
};

static enum dw_saved dw_saved(Dwarf_Frame *frame, int number, int64_t *ret_offset)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return DW_OTHER;
	if (count == 0)
		return ops == memory ? DW_UNDEFINED : DW_SAME;
	*ret_offset = 0;
	if (ops[0].atom != DW_OP_call_frame_cfa || count > 2)
		return DW_OTHER;
	if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
		return DW_OTHER;
	*ret_offset = count == 2 ? (int64_t)ops[1].number : 0;
	return DW_AT;
}

static bool dw_row_at(Dwarf_CFI *cfi, bool aarch64, uint64_t pc, struct dw_row *ret_row)
{
	struct dw_row row = {0};
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t count;
	int64_t offset;
	unsigned number;

	if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
		return false;
	assert_true(dwarf_frame_info(frame, &row.begin, &row.end, NULL) >= 0);
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
		(ops[0].atom == DW_OP_bregx ||
			(ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31))) {
		row.simple = true;
		number = ops[0].atom == DW_OP_bregx ? (unsigned)ops[0].number
						    : (unsigned)(ops[0].atom - DW_OP_breg0);
		offset = (int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
		row.followed = number == (aarch64 ? 31 : 7) || number == (aarch64 ? 29 : 6);
		row.cfa = STACK + (number == (aarch64 ? 29 : 6) ? FP_ABOVE : 0) + (uint64_t)offset;
	}
	row.fp = dw_saved(frame, aarch64 ? 29 : 6, &row.fp_offset);
	row.ra = dw_saved(frame, aarch64 ? 30 : 16, &row.ra_offset);
	free(frame);
	*ret_row = row;
	return true;
}

struct tally {
	unsigned rows, compared, returns, pointers, wrong;
};

static void compare_fp(const struct dw_row *row, uint64_t seen, struct tally *tally)
{
	uint64_t slot = row->cfa + (uint64_t)row->fp_offset;
	/* A slot below the stack pointer was popped: the register has it. */
	uint64_t fp = row->fp == DW_AT && slot >= STACK ? slot + SLOT_STEP : STACK + FP_ABOVE;

	if (row->fp != DW_AT && row->fp != DW_SAME)
		return;
	tally->pointers++;
	tally->wrong += seen != fp + 8 + SLOT_STEP;
}

static void compare_row(
	struct scene *scene, const struct dw_row *row, uint64_t pc, struct tally *tally)
{
	uint64_t addrs[3] = {0}, wanted = 0;
	enum unwind_end end;
	size_t count = scene_walk(scene, pc, addrs, &end);
	bool aarch64 = scene->world.machine == IMAGE_AARCH64;

	tally->rows++;
	if (row->ra == DW_UNDEFINED) {
		tally->compared++;
		tally->wrong += count != 1 || end != UNWIND_ROOT;
		return;
	}
	/* Far frames lie outside the made-up stack, or its frame pointer inside of them. */
	if (!row->simple || !row->followed || row->cfa > STACK + 4 * SLOTS ||
		(row->ra != DW_AT && !aarch64))
		return;
	if (row->cfa < STACK + (aarch64 ? 0 : 8))
		return;
	wanted = row->ra == DW_AT ? row->cfa + (uint64_t)row->ra_offset + SLOT_STEP : LINK;
	tally->compared++;
	tally->returns++;
	if (count < 2 || addrs[1] != wanted) {
		tally->wrong++;
		return;
	}
	if (count == 3)
		compare_fp(row, addrs[2], tally);
}

/* Every function of the linker's search table, every row of it, at both of its ends. */
static void compare_all(struct scene *scene, Dwarf_CFI *cfi, struct tally *tally)
{
	struct image_bytes search = image_section(scene->image, ".eh_frame_hdr");
	bool aarch64 = scene->world.machine == IMAGE_AARCH64;

	assert_non_null(search.at);
	for (size_t at = 12; at + 8 <= search.len; at += 8) {
		int32_t relative;
		struct dw_row row;
		uint64_t pc;

		memcpy(&relative, search.at + at, sizeof(relative));
		pc = search.addr + (uint64_t)(int64_t)relative;
		while (dw_row_at(cfi, aarch64, pc, &row) && row.end > pc) {
			compare_row(scene, &row, pc, tally);
			compare_row(scene, &row, row.end - 1, tally);
			pc = row.end;
		}
	}
}

static void compare_library(const char *path)
{
	struct scene scene;
	struct tally tally = {0};
	io_auto int fd = -1;
	Dwarf_CFI *cfi;
	Elf *elf;

	scene_open(&scene, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	compare_all(&scene, cfi, &tally);
	print_message("# %s: %u rows, %u return addresses and %u frame pointers compared\n", path,
		tally.rows, tally.returns, tally.pointers);
	/* rawmemchr of aarch64 returns through x15 and its CIE says so, which libdw overlooks: four
	 * rows. */
	assert_true(tally.wrong <= (scene.world.machine == IMAGE_AARCH64 ? 4 : 0));
	assert_true(tally.compared > tally.rows / 100 * 95);
	assert_true(tally.pointers > tally.rows / 2);
	assert_true(tally.rows > 1000);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	scene_close(&scene);
}

static void every_rule_of_the_c_library_is_as_libdw_reads_it(void **state)
{
	(void)state;
	compare_library(library_path());
}

static void the_rules_of_the_other_machine_are_as_libdw_reads_them(void **state)
{
#if defined(__aarch64__)
	static const char path[] = "/usr/x86_64-linux-gnu/lib/libc.so.6";
#else
	static const char path[] = "/usr/aarch64-linux-gnu/lib/libc.so.6";
#endif

	(void)state;
	compare_library(path);
}

/* The same file with a search table that cannot be used. */
static void a_file_without_a_search_table_gives_the_same_rules(void **state)
{
	struct scene with, without;
	struct image *image = NULL;
	struct image_bytes search;
	struct err err = {0};
	str_auto struct str file = {0};
	unsigned compared = 0;

	(void)state;
	scene_open(&with, library_path());
	assert_int_equal(io_read(library_path(), 64 << 20, &file, &err), 0);
	search = image_section(with.image, ".eh_frame_hdr");
	assert_true(search.at && search.addr < file.len);
	file.at[search.addr] =
		99; /* its version; the first segment starts at 0 in file and memory */
	assert_int_equal(image_open_bytes(file.at, file.len, "libc", &image, &err), 0);
	scene_open_image(&without, image);
	for (size_t at = 12; at + 8 <= search.len; at += 8) {
		uint64_t a[3] = {0}, b[3] = {0};
		enum unwind_end end_a, end_b;
		int32_t relative;

		memcpy(&relative, search.at + at, sizeof(relative));
		for (uint64_t pc = search.addr + (uint64_t)(int64_t)relative, i = 0; i < 9; i++) {
			assert_int_equal(scene_walk(&with, pc + i, a, &end_a),
				scene_walk(&without, pc + i, b, &end_b));
			assert_int_equal(end_a, end_b);
			assert_memory_equal(a, b, sizeof(a));
			compared += a[1] != 0;
		}
	}
	assert_true(compared > 10000);
	scene_close(&without);
	scene_close(&with);
}

static void tables_stay_smaller_than_twice_the_section(void **state)
{
	struct scene scene;
	struct image_bytes search, frames;
	uint64_t addrs[3];
	enum unwind_end end;

	(void)state;
	scene_open(&scene, library_path());
	search = image_section(scene.image, ".eh_frame_hdr");
	frames = image_section(scene.image, ".eh_frame");
	for (size_t at = 12; at + 8 <= search.len; at += 8) {
		int32_t relative;

		memcpy(&relative, search.at + at, sizeof(relative));
		scene_walk(&scene, search.addr + (uint64_t)(int64_t)relative, addrs, &end);
	}
	print_message("# .eh_frame %zu bytes, table with all functions %zu bytes\n", frames.len,
		unwind_table_bytes(scene.table));
	assert_true(unwind_table_bytes(scene.table) < 2 * frames.len);
	scene_close(&scene);
}

/* JIT code: no table at all.  Slots are set by hand. */
struct jit {
	struct unwind_world world;
	uint64_t slots[16];
};

static bool jit_find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	(void)context;
	(void)ret_place;
	return addr >= 0x1000 && addr < 0x2000;
}

static size_t jit_walk(
	struct jit *jit, uint64_t fp, bool cut, uint64_t *addrs, enum unwind_end *end)
{
	struct unwind_registers registers = {.ip = 0x1000, .sp = STACK, .fp = fp};
	struct unwind_stack stack = {.bytes = (const unsigned char *)jit->slots,
		.len = sizeof(jit->slots),
		.base = STACK,
		.cut = cut};

	jit->world = (struct unwind_world){.machine = IMAGE_X86_64, .find = jit_find};
	return unwind_sample(&jit->world, &registers, &stack, addrs, 8, end);
}

static void code_without_rules_is_walked_by_frame_pointers(void **state)
{
	struct jit jit = {.slots = {[2] = STACK + 48, [3] = 0x1100, [6] = 0, [7] = 0x1200}};
	uint64_t addrs[8];
	enum unwind_end end;

	(void)state;
	assert_int_equal(jit_walk(&jit, STACK + 16, false, addrs, &end), 3);
	assert_int_equal(addrs[1], 0x1100);
	assert_int_equal(addrs[2], 0x1200);
	assert_int_equal(end, UNWIND_ROOT);
}

static void a_frame_pointer_that_leads_nowhere_invents_no_caller(void **state)
{
	struct jit down = {.slots = {[2] = STACK + 8, [3] = 0x1100}};
	struct jit data = {.slots = {[2] = STACK + 48, [3] = 0x3000}};
	uint64_t addrs[8];
	enum unwind_end end;

	(void)state;
	assert_int_equal(jit_walk(&down, STACK + 16, true, addrs, &end), 1); /* points down */
	assert_int_equal(end, UNWIND_BROKEN);
	assert_int_equal(jit_walk(&data, STACK + 16, true, addrs, &end), 1); /* not code */
	assert_int_equal(end, UNWIND_BROKEN);
	assert_int_equal(jit_walk(&data, STACK - 16, true, addrs, &end), 1); /* below the stack */
	assert_int_equal(end, UNWIND_BROKEN);
	assert_int_equal(jit_walk(&data, 0, true, addrs, &end), 1); /* a number, not a pointer */
	assert_int_equal(end, UNWIND_BROKEN);
}

static void a_stack_that_was_cut_says_so_and_one_that_was_not_is_broken(void **state)
{
	struct jit jit = {.slots = {[2] = STACK + 4096, [3] = 0x1100}};
	uint64_t addrs[8];
	enum unwind_end end;

	(void)state;
	assert_int_equal(jit_walk(&jit, STACK + 16, true, addrs, &end), 2);
	assert_int_equal(end, UNWIND_TRUNCATED);
	assert_int_equal(jit_walk(&jit, STACK + 16, false, addrs, &end), 2);
	assert_int_equal(end, UNWIND_BROKEN);
}

static void more_frames_than_there_is_room_for_are_too_deep(void **state)
{
	struct jit jit = {0};
	uint64_t addrs[8];
	enum unwind_end end;

	(void)state;
	for (uint64_t i = 0; i < 16; i += 2) {
		jit.slots[i] = STACK + 8 * i + 16;
		jit.slots[i + 1] = 0x1100;
	}
	assert_int_equal(jit_walk(&jit, STACK, true, addrs, &end), 8);
	assert_int_equal(end, UNWIND_TOO_DEEP);
}

/* Code without any rules, in a file of one segment at 0x1000: a PLT, a trampoline, a start. */
struct bare {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	unsigned char code[4096];
};
enum {
	BARE_PLT = 0x1400,
	BARE_SIGNAL = 0x1700,
	BARE_START = 0x1800,
	BARE_CALLER = 0x1200,
	WANTED = 8
};

static void bare_make(struct bare *bare, bool aarch64)
{
	static const unsigned char x86_signal[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const unsigned char aarch64_signal[] = {0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4};

	*bare = (struct bare){
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
			.e_type = ET_DYN,
			.e_machine = aarch64 ? EM_AARCH64 : EM_X86_64,
			.e_entry = BARE_START,
			.e_phoff = offsetof(struct bare, segment),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shoff = offsetof(struct bare, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2},
		.segment = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offsetof(struct bare, code),
			.p_vaddr = 0x1000,
			.p_filesz = sizeof(bare->code),
			.p_memsz = sizeof(bare->code)},
		.sections = {{0},
			{.sh_name = 1,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = BARE_PLT,
				.sh_offset = offsetof(struct bare, code) + 0x400,
				.sh_size = 64},
			{.sh_name = 6,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct bare, names),
				.sh_size = sizeof(bare->names)}},
		.names = "\0.plt\0.names",
	};
	if (aarch64)
		memcpy(bare->code + 0x700, aarch64_signal, sizeof(aarch64_signal));
	else
		memcpy(bare->code + 0x700, x86_signal, sizeof(x86_signal));
	bare->code[0x200 - 5] = 0xe8; /* a call before BARE_CALLER */
}

static bool bare_find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	*ret_place = (struct unwind_place){.table = context};
	return addr >= 0x1000 && addr < 0x2000;
}

/* From `pc` with these slots: the frames are compared, and how it ended. */
static void bare_walk(bool aarch64, const struct unwind_registers *registers, const uint64_t *slots,
	const uint64_t *wanted, enum unwind_end wanted_end)
{
	static struct bare bare;
	struct unwind_stack stack = {
		.bytes = (const unsigned char *)slots, .len = 80 * 8, .base = STACK};
	struct unwind_world world = {
		.machine = aarch64 ? IMAGE_AARCH64 : IMAGE_X86_64, .find = bare_find};
	struct image *image = NULL;
	struct err err = {0};
	uint64_t addrs[WANTED] = {0};
	enum unwind_end end;
	size_t count;

	bare_make(&bare, aarch64);
	assert_int_equal(image_open_bytes(&bare, sizeof(bare), "bare", &image, &err), 0);
	world.context = unwind_table_open(image);
	count = unwind_sample(&world, registers, &stack, addrs, WANTED, &end);
	assert_true(count <= WANTED);
	assert_memory_equal(addrs, wanted, sizeof(addrs));
	assert_int_equal(end, wanted_end);
	unwind_table_close(world.context);
	image_close(image);
}

static void the_start_of_a_program_without_rules_is_the_root(void **state)
{
	struct unwind_registers registers = {.ip = BARE_START + 9, .sp = STACK};
	uint64_t slots[80] = {0};

	(void)state;
	bare_walk(false, &registers, slots, (uint64_t[WANTED]){BARE_START + 9}, UNWIND_ROOT);
}

static void a_stub_without_rules_has_only_its_return_address_on_the_stack(void **state)
{
	struct unwind_registers registers = {.ip = BARE_PLT + 16, .sp = STACK};
	uint64_t slots[80] = {BARE_START + 3};

	(void)state;
	bare_walk(false, &registers, slots, (uint64_t[WANTED]){BARE_PLT + 16, BARE_START + 3},
		UNWIND_ROOT);
	registers.ip = BARE_PLT + 16 + 11; /* behind the push */
	slots[0] = 3;
	slots[1] = BARE_START + 3;
	bare_walk(false, &registers, slots, (uint64_t[WANTED]){BARE_PLT + 27, BARE_START + 3},
		UNWIND_ROOT);
	registers = (struct unwind_registers){
		.ip = BARE_PLT + 16, .sp = STACK, .lr = 0xaa00000000000000 | (BARE_START + 4)};
	bare_walk(true, &registers, slots, (uint64_t[WANTED]){BARE_PLT + 16, BARE_START + 4},
		UNWIND_ROOT);
}

/* The slots of the kernel's frame: ip, sp and fp of what was interrupted, and lr. */
static void the_way_out_of_a_handler_is_known_by_its_instructions(void **state)
{
	struct unwind_registers registers = {.ip = BARE_SIGNAL, .sp = STACK};
	uint64_t x86[80] = {[168 / 8] = BARE_PLT, [160 / 8] = STACK + 400, [400 / 8] = 0x1803};
	uint64_t aarch64[80] = {
		[568 / 8] = BARE_PLT, [560 / 8] = STACK + 600, [552 / 8] = BARE_START + 8};

	(void)state;
	bare_walk(false, &registers, x86, (uint64_t[WANTED]){BARE_SIGNAL, BARE_PLT, 0x1803},
		UNWIND_ROOT);
	bare_walk(true, &registers, aarch64,
		(uint64_t[WANTED]){BARE_SIGNAL, BARE_PLT, BARE_START + 8}, UNWIND_ROOT);
}

static void without_rules_a_frame_counts_only_when_a_call_made_it(void **state)
{
	struct unwind_registers registers = {.ip = 0x1100, .sp = STACK, .fp = STACK + 16};
	/* The caller's frame pointer is some number: believed all the same, for the call. */
	uint64_t called[80] = {[2] = 12345, [3] = BARE_CALLER};
	uint64_t not_called[80] = {[2] = STACK + 64, [3] = BARE_CALLER + 1};

	(void)state;
	bare_walk(
		false, &registers, called, (uint64_t[WANTED]){0x1100, BARE_CALLER}, UNWIND_BROKEN);
	bare_walk(false, &registers, not_called, (uint64_t[WANTED]){0x1100}, UNWIND_BROKEN);
}

/* As below a goroutine, whose first function returns to one that did not call it. */
static void a_chain_of_frames_that_ends_with_0_has_come_to_the_root(void **state)
{
	struct unwind_registers registers = {.ip = 0x1100, .sp = STACK, .fp = STACK + 16};
	uint64_t slots[80] = {[2] = STACK + 64, [3] = BARE_CALLER, [8] = 0, [9] = BARE_CALLER + 1};

	(void)state;
	bare_walk(false, &registers, slots, (uint64_t[WANTED]){0x1100, BARE_CALLER}, UNWIND_ROOT);
	slots[8] = 12345;
	bare_walk(false, &registers, slots, (uint64_t[WANTED]){0x1100, BARE_CALLER}, UNWIND_BROKEN);
}

static void signatures_are_stripped_from_return_addresses(void **state)
{
	struct jit jit = {.slots = {[2] = STACK + 48, [3] = 0xab3f000000001100, [6] = 0, [7] = 0}};
	struct unwind_registers registers = {.ip = 0x1000, .sp = STACK, .fp = STACK + 16};
	struct unwind_stack stack = {
		.bytes = (const unsigned char *)jit.slots, .len = sizeof(jit.slots), .base = STACK};
	uint64_t addrs[8];
	enum unwind_end end;

	(void)state;
	jit.world = (struct unwind_world){.machine = IMAGE_AARCH64, .find = jit_find};
	assert_int_equal(unwind_sample(&jit.world, &registers, &stack, addrs, 8, &end), 2);
	assert_int_equal(addrs[1], 0x1100);
	assert_int_equal(end, UNWIND_ROOT);
}

/* A file cut anywhere: refused, or walked without reading past its end (the sanitizers look). */
static void a_file_cut_short_gives_fewer_rules_and_never_wrong_ones(void **state)
{
	str_auto struct str file = {0};
	struct err err = {0};
	uint64_t addrs[3];
	enum unwind_end end;

	(void)state;
	assert_int_equal(io_read(library_path(), 64 << 20, &file, &err), 0);
	for (size_t len = 0; len < file.len; len += len < 1024 ? 13 : 40009) {
		void *copy = malloc(len ? len : 1);
		struct image *image = NULL;
		struct scene scene;

		assert_non_null(copy);
		memcpy(copy, file.at, len);
		if (image_open_bytes(copy, len, "cut", &image, &err) == 0) {
			scene_open_image(&scene, image);
			for (uint64_t pc = 0x26000; pc < 0x180000; pc += 4999)
				scene_walk(&scene, pc, addrs, &end);
			scene_close(&scene);
		} else {
			assert_true(err.text[0]);
		}
		free(copy);
	}
}

static void plain_steps_lead_where_the_whole_rules_lead(void **state)
{
	uint32_t known = 0;
	unwind_step_vec steps = {0};
	struct scene scene;

	(void)state;
	scene_open(&scene, library_path());
	unwind_table_steps(scene.table, &steps);
	assert_true(steps.count > 1000);
	for (uint32_t i = 0; i < steps.count; i++) {
		const struct unwind_step *step = &steps.at[i];
		uint64_t from = step->frame == UNWIND_FRAME_FP ? STACK + FP_ABOVE : STACK;
		uint64_t cfa = from + (uint64_t)(int64_t)step->cfa_offset, addrs[3];
		uint64_t slot = cfa + (uint64_t)(int64_t)step->ra_offset;
		enum unwind_end end;

		assert_true(i == 0 || steps.at[i - 1].addr < step->addr);
		if (step->frame == UNWIND_FRAME_UNKNOWN || slot >= STACK + 8ULL * SLOTS)
			continue;
		known++;
		assert_true(scene_walk(&scene, step->addr, addrs, &end) > 1);
		assert_int_equal(addrs[1], step->ra_offset ? slot + SLOT_STEP : LINK);
	}
	assert_true(known > steps.count / 2);
	vec_done(&steps);
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_of_the_c_library_is_as_libdw_reads_it),
		cmocka_unit_test(the_rules_of_the_other_machine_are_as_libdw_reads_them),
		cmocka_unit_test(a_file_without_a_search_table_gives_the_same_rules),
		cmocka_unit_test(tables_stay_smaller_than_twice_the_section),
		cmocka_unit_test(code_without_rules_is_walked_by_frame_pointers),
		cmocka_unit_test(a_frame_pointer_that_leads_nowhere_invents_no_caller),
		cmocka_unit_test(a_stack_that_was_cut_says_so_and_one_that_was_not_is_broken),
		cmocka_unit_test(more_frames_than_there_is_room_for_are_too_deep),
		cmocka_unit_test(the_start_of_a_program_without_rules_is_the_root),
		cmocka_unit_test(a_stub_without_rules_has_only_its_return_address_on_the_stack),
		cmocka_unit_test(the_way_out_of_a_handler_is_known_by_its_instructions),
		cmocka_unit_test(without_rules_a_frame_counts_only_when_a_call_made_it),
		cmocka_unit_test(a_chain_of_frames_that_ends_with_0_has_come_to_the_root),
		cmocka_unit_test(signatures_are_stripped_from_return_addresses),
		cmocka_unit_test(plain_steps_lead_where_the_whole_rules_lead),
		cmocka_unit_test(a_file_cut_short_gives_fewer_rules_and_never_wrong_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
