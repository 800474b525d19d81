/* image.c - an ELF file opened to be asked again and again.
 *
 * The tables are read once (image_tables.c); this file adds what a profiler needs over the life of
 * a recording: sections that stay unpacked, and the way from file offsets (what the kernel tells of
 * a mapping) to addresses (what symbols and unwind rules are written in).  The two differ by a
 * different amount in each PT_LOAD: lld and mold make several.
 * libelf is not used: 0.188 knows no zstd, writes into the section headers, and would believe a
 * header that says a section becomes 2^60 bytes. */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/io.h"
#include "base/str.h"
#include "image_parts.h"

#ifndef ELFCOMPRESS_ZSTD /* glibc 2.36 does not have it yet */
#define ELFCOMPRESS_ZSTD 2
#endif

/* What a packed section may become: zlib cannot pass 1032:1, and 2 GiB is twice the debug_info of a
 * browser.  A section that asks for more is treated as missing. */
enum { UNPACK_RATIO = 1100, UNPACK_SMALL = 1 << 20, MINI_LIMIT = 64 << 20, UNPACK_STEP = 8 };
#define UNPACK_LIMIT (UINT64_C(2) << 30)

int image_file_map(const char *path, struct image_file *ret_file)
{
	struct stat status;
	io_auto int fd = io_open_regular(AT_FDCWD, path, 0, &status);
	void *bytes;

	if (fd < 0)
		return fd == IO_NOT_REGULAR || fd == -EISDIR ? -ENOEXEC : fd;
	*ret_file = (struct image_file){0};
	if (status.st_size == 0)
		return 0;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	*ret_file = (struct image_file){bytes, (size_t)status.st_size};
	return 0;
}

void image_file_done(struct image_file *file)
{
	if (file->bytes)
		munmap((void *)(uintptr_t)file->bytes, file->len);
	*file = (struct image_file){0};
}

static int image_start(struct image *image, struct image **ret_image, struct err *err)
{
	int r = image_read_tables(image, err);

	image->own = quota_of(image->len, NULL);
	image->quota = &image->own;
	if (r < 0)
		image_close(image);
	else
		*ret_image = image;
	return r;
}

void image_join(struct image *image, struct image *program)
{
	quota_join(program->quota, image->len);
	image->quota = program->quota;
}

int image_open_bytes(
	const void *bytes, size_t len, const char *name, struct image **ret_image, struct err *err)
{
	struct image *image = mem_new(1, sizeof(*image));

	image->path = mem_copy_text(name, strlen(name));
	image->bytes = bytes;
	image->len = len;
	return image_start(image, ret_image, err);
}

int image_open(const char *path, struct image **ret_image, struct err *err)
{
	struct image_file file = {0};
	struct image *image;
	int r = image_file_map(path, &file);

	if (r == -ENOEXEC)
		return err_set(err, ERR_UNAVAILABLE, ENOEXEC, "%s is not a regular file", path);
	if (r < 0)
		return err_set(err, ERR_UNAVAILABLE, -r, "cannot read %s: %s", path, err_words(-r));
	image = mem_new(1, sizeof(*image));
	image->path = mem_copy_text(path, strlen(path));
	image->file = file;
	image->bytes = file.bytes;
	image->len = file.len;
	return image_start(image, ret_image, err);
}

struct image *image_open_mini(struct image *image)
{
	struct image_bytes packed = image_section(image, ".gnu_debugdata");
	uint64_t memory = UINT64_C(256) << 20;
	size_t in = 0, out = 0, capacity = packed.len * 20 + 65536;
	struct image *mini = NULL;
	struct err ignored = {0};
	uint8_t *bytes;

	if (!packed.at)
		return NULL;
	if (capacity > MINI_LIMIT)
		capacity = MINI_LIMIT;
	if (!quota_take(image->quota, capacity))
		return NULL;
	bytes = mem_new(capacity, 1);
	if (lzma_stream_buffer_decode(&memory, 0, NULL, packed.at, &in, packed.len, bytes, &out,
		    capacity) == LZMA_OK &&
		image_open_bytes(bytes, out, image->path, &mini, &ignored) == 0) {
		mini->owned = bytes;
		mini->quota = image->quota;
	} else {
		free(bytes);
	}
	return mini;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	vec_foreach (struct image_unpacked, unpacked, &image->unpacked)
		free(unpacked->bytes);
	vec_done(&image->unpacked);
	vec_done(&image->sections);
	vec_done(&image->segments);
	image_file_done(&image->file);
	free(image->owned);
	free(image->path);
	free(image);
}

const char *image_path(const struct image *image)
{
	return image->path;
}

const char *image_build_id(const struct image *image)
{
	return image->build_id;
}

enum image_machine image_machine(const struct image *image)
{
	switch (image->head.e_machine) {
	case EM_X86_64:
		return IMAGE_X86_64;
	case EM_AARCH64:
		return IMAGE_AARCH64;
	default:
		return IMAGE_OTHER;
	}
}

bool image_is_relocatable(const struct image *image)
{
	return image->head.e_type == ET_REL;
}

/* Exactly the size that the header promised: more or less is a broken section. */
static uint8_t *bytes_unpack(
	struct quota *quota, struct cursor packed, uint64_t size, unsigned type)
{
	uLongf len = size;
	uint8_t *bytes;

	if (!size || size > UNPACK_LIMIT ||
		(size > UNPACK_SMALL && size / UNPACK_RATIO > cursor_left(&packed)) ||
		!quota_take(quota, size) || !quota_step(quota, size / UNPACK_STEP))
		return NULL;
	bytes = malloc(size);
	if (bytes && type == ELFCOMPRESS_ZLIB &&
		uncompress(bytes, &len, packed.at, cursor_left(&packed)) == Z_OK && len == size)
		return bytes;
	if (bytes && type == ELFCOMPRESS_ZSTD &&
		ZSTD_decompress(bytes, size, packed.at, cursor_left(&packed)) == size)
		return bytes;
	free(bytes);
	return NULL;
}

static struct image_unpacked section_unpack(
	struct quota *quota, const struct image_section *section)
{
	struct cursor cursor =
		cursor_over((struct image_bytes){section->data, section->head.sh_size, 0}, 0);
	struct image_unpacked unpacked = {.section = section};
	unsigned type = ELFCOMPRESS_ZLIB;

	if (section->head.sh_flags & SHF_COMPRESSED) {
		type = cursor_u32(&cursor);
		cursor_skip(&cursor, 4);
		unpacked.len = cursor_u64(&cursor);
		cursor_skip(&cursor, 8);
	} else { /* the form before 2012 in .zdebug_x: "ZLIB" and a big-endian size */
		if (cursor_u32(&cursor) != 0x42494c5a)
			return unpacked;
		unpacked.len = __builtin_bswap64(cursor_u64(&cursor));
	}
	if (!cursor.broken)
		unpacked.bytes = bytes_unpack(quota, cursor, unpacked.len, type);
	return unpacked;
}

/* A section is unpacked once, also when that fails. */
static struct image_bytes image_unpack(struct image *image, const struct image_section *section)
{
	vec_foreach (const struct image_unpacked, known, &image->unpacked)
		if (known->section == section)
			return (struct image_bytes){
				.at = known->bytes, .len = known->bytes ? known->len : 0};
	vec_push(&image->unpacked, section_unpack(image->quota, section));
	return image_unpack(image, section);
}

/* .debug_x may stand there as .zdebug_x. */
static const struct image_section *section_find(const struct image *image, const char *name)
{
	const struct image_section *section = image_find(image, name);
	char old[64] = ".z";

	if (!section && str_starts(name, ".debug_"))
		section = image_find(image, strncat(old, name + 1, sizeof(old) - sizeof(".z")));
	return section && section->data && section->head.sh_size ? section : NULL;
}

bool image_has(const struct image *image, const char *name)
{
	return section_find(image, name) != NULL;
}

struct image_bytes image_section(struct image *image, const char *name)
{
	const struct image_section *section = section_find(image, name);

	if (!section)
		return (struct image_bytes){0};
	if (section->head.sh_flags & SHF_COMPRESSED || str_starts(section->name, ".zdebug_"))
		return image_unpack(image, section);
	return (struct image_bytes){.at = section->data,
		.len = section->head.sh_size,
		.addr = section->head.sh_flags & SHF_ALLOC ? section->head.sh_addr : 0};
}

bool image_addr_of_offset(const struct image *image, uint64_t file_offset, uint64_t *ret_addr)
{
	vec_foreach (const Elf64_Phdr, head, &image->segments) {
		if (head->p_type != PT_LOAD || file_offset < head->p_offset ||
			file_offset - head->p_offset >= head->p_filesz)
			continue;
		*ret_addr = head->p_vaddr + (file_offset - head->p_offset);
		return true;
	}
	return false;
}

bool image_offset_of_addr(const struct image *image, uint64_t addr, uint64_t *ret_offset)
{
	vec_foreach (const Elf64_Phdr, head, &image->segments) {
		if (head->p_type != PT_LOAD || addr < head->p_vaddr ||
			addr - head->p_vaddr >= head->p_filesz)
			continue;
		*ret_offset = head->p_offset + (addr - head->p_vaddr);
		return true;
	}
	return false;
}

struct image_bytes image_code(const struct image *image, uint64_t addr, size_t len)
{
	vec_foreach (const Elf64_Phdr, head, &image->segments) {
		struct image_bytes bytes = image_segment_bytes(image, head);
		uint64_t offset = addr - head->p_vaddr;

		if (head->p_type != PT_LOAD || addr < head->p_vaddr || offset >= bytes.len)
			continue;
		if (!len)
			break;
		bytes.len -= offset;
		return (struct image_bytes){
			bytes.at + offset, bytes.len < len ? bytes.len : len, addr};
	}
	return (struct image_bytes){0};
}
