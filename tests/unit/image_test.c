/* image_test.c - files made by hand, so that each number in them is known. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/str.h"
#include "code/image.h"

enum { PLAIN = 20000, ZSTD_KIND = 2 };

static const char names[] = "\0.packed\0.names";

/* Two segments whose addresses lie 0x10000 and 0x20000 above their offsets, as lld lays them out, a
 * build-id in its note, and one compressed section behind all. */
struct file {
	Elf64_Ehdr head;
	Elf64_Phdr segments[3];
	Elf64_Shdr sections[3];
	char names[sizeof(names)];
	struct {
		Elf64_Nhdr head;
		char name[4];
		unsigned char id[4];
	} note;
	Elf64_Chdr packed;
	unsigned char bytes[2 * PLAIN];
};

static struct file *file_make(uint32_t kind, uint64_t promised, size_t packed_len)
{
	struct file *file = calloc(1, sizeof(*file));

	assert_non_null(file);
	*file = (struct file){
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
			.e_type = ET_DYN,
			.e_machine = EM_AARCH64,
			.e_phoff = offsetof(struct file, segments),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
			.e_shoff = offsetof(struct file, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2},
		.segments = {{.p_type = PT_LOAD, .p_vaddr = 0x10000, .p_filesz = 0x100},
			{.p_type = PT_LOAD,
				.p_offset = 0x100,
				.p_vaddr = 0x20100,
				.p_filesz = 0x200},
			{.p_type = PT_NOTE,
				.p_offset = offsetof(struct file, note),
				.p_filesz = sizeof(file->note)}},
		.sections = {{0},
			{.sh_name = 1,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_COMPRESSED,
				.sh_offset = offsetof(struct file, packed),
				.sh_size = sizeof(Elf64_Chdr) + packed_len},
			{.sh_name = 9,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct file, names),
				.sh_size = sizeof(names)}},
		.note = {{4, 4, NT_GNU_BUILD_ID}, "GNU", {0xde, 0xad, 0x00, 0x1f}},
		.packed = {.ch_type = kind, .ch_size = promised, .ch_addralign = 1},
	};
	memcpy(file->names, names, sizeof(names));
	return file;
}

static struct image *file_open(const struct file *file)
{
	struct image *image = NULL;
	struct err err = {0};

	if (image_open_bytes(file, sizeof(*file), "made", &image, &err) < 0)
		fail_msg("%s", err.text);
	return image;
}

static void plain_fill(unsigned char *plain)
{
	for (unsigned i = 0; i < PLAIN; i++)
		plain[i] = (unsigned char)(i * i >> 3);
}

static void compressed_sections_are_inflated_once(void **state)
{
	(void)state;
	for (uint32_t kind = ELFCOMPRESS_ZLIB; kind <= ZSTD_KIND; kind++) {
		struct file *file = file_make(kind, PLAIN, 0);
		unsigned char plain[PLAIN];
		uLongf len = sizeof(file->bytes);
		struct image_bytes first, second;
		struct image *image;

		plain_fill(plain);
		if (kind == ELFCOMPRESS_ZLIB)
			assert_int_equal(compress(file->bytes, &len, plain, PLAIN), Z_OK);
		else
			len = ZSTD_compress(file->bytes, len, plain, PLAIN, 3);
		file->sections[1].sh_size = sizeof(Elf64_Chdr) + len;
		image = file_open(file);
		first = image_section(image, ".packed");
		second = image_section(image, ".packed");
		assert_int_equal(first.len, PLAIN);
		assert_memory_equal(first.at, plain, PLAIN);
		assert_ptr_equal(first.at, second.at);
		assert_int_equal(first.addr, 0);
		image_close(image);
		free(file);
	}
}

static void a_section_that_promises_too_much_is_not_there(void **state)
{
	static const struct {
		uint32_t kind;
		uint64_t promised;
	} cases[] = {{ELFCOMPRESS_ZLIB, 1ull << 29}, {ELFCOMPRESS_ZLIB, UINT64_MAX},
		{ELFCOMPRESS_ZLIB, PLAIN + 1}, {ELFCOMPRESS_ZLIB, 0}, {ZSTD_KIND, 1ull << 29},
		{ZSTD_KIND, PLAIN + 1}, {7, PLAIN}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct file *file = file_make(cases[i].kind, cases[i].promised, 0);
		unsigned char plain[PLAIN];
		uLongf len = sizeof(file->bytes);
		struct image *image;

		plain_fill(plain);
		if (cases[i].kind == ELFCOMPRESS_ZLIB)
			compress(file->bytes, &len, plain, PLAIN);
		else
			len = ZSTD_compress(file->bytes, len, plain, PLAIN, 3);
		file->sections[1].sh_size = sizeof(Elf64_Chdr) + len;
		image = file_open(file);
		assert_null(image_section(image, ".packed").at);
		assert_null(image_section(image, ".packed").at);
		image_close(image);
		free(file);
	}
}

static void offsets_become_addresses_through_their_own_segment(void **state)
{
	struct file *file = file_make(0, 0, 0);
	struct image *image = file_open(file);
	uint64_t addr = 7;

	(void)state;
	assert_true(image_addr_of_offset(image, 0xff, &addr));
	assert_int_equal(addr, 0x100ff);
	assert_true(image_addr_of_offset(image, 0x100, &addr));
	assert_int_equal(addr, 0x20100);
	assert_false(image_addr_of_offset(image, 0x300, &addr));
	assert_int_equal(addr, 0x20100);
	image_close(image);
	free(file);
}

static void code_is_handed_out_to_the_end_of_its_segment(void **state)
{
	struct file *file = file_make(0, 0, 0);
	struct image *image = file_open(file);
	struct image_bytes code = image_code(image, 0x202f0, 64);

	(void)state;
	assert_int_equal(code.len, 16);
	assert_ptr_equal(code.at, (const unsigned char *)file + 0x2f0);
	assert_int_equal(code.addr, 0x202f0);
	assert_null(image_code(image, 0x20300, 1).at);
	assert_null(image_code(image, 0x15000, 1).at);
	image_close(image);
	free(file);
}

static void what_it_is_stands_in_the_head_and_the_note(void **state)
{
	struct file *file = file_make(0, 0, 0);
	struct image *image = file_open(file);

	(void)state;
	assert_string_equal(image_build_id(image), "dead001f");
	assert_string_equal(image_path(image), "made");
	assert_int_equal(image_machine(image), IMAGE_AARCH64); /* on any machine */
	assert_false(image_is_relocatable(image));
	assert_null(image_section(image, ".missing").at);
	image_close(image);
	free(file);
}

static void what_is_no_elf_file_is_refused_with_a_sentence(void **state)
{
	struct file *file = file_make(0, 0, 0);
	struct image *image = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(image_open("/nowhere/at/all", &image, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read /nowhere/at/all: no such file or directory");
	assert_int_equal(image_open("/dev/null", &image, &err), -ENOEXEC);
	assert_true(
		image_open_bytes("#!/bin/sh\n#and so on and on", 26, "script", &image, &err) < 0);
	assert_string_equal(err.text, "script is not an ELF program");
	file->head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_true(image_open_bytes(file, sizeof(*file), "small", &image, &err) < 0);
	assert_non_null(strstr(err.text, "32-bit"));
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	assert_null(image);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_sections_are_inflated_once),
		cmocka_unit_test(a_section_that_promises_too_much_is_not_there),
		cmocka_unit_test(offsets_become_addresses_through_their_own_segment),
		cmocka_unit_test(code_is_handed_out_to_the_end_of_its_segment),
		cmocka_unit_test(what_it_is_stands_in_the_head_and_the_note),
		cmocka_unit_test(what_is_no_elf_file_is_refused_with_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
