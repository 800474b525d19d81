/* image.c - an ELF file opened to be asked again and again.
 *
 * The tables are binary_image.c's, read once; this file adds what a profiler needs over the life of
 * a recording: sections that stay inflated, and the way from file offsets (what the kernel tells of
 * a mapping) to addresses (what symbols and unwind rules are written in).  The two differ by a
 * different amount in each PT_LOAD: lld and mold make several. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "binary_parts.h"
#include "code/image.h"

#ifndef ELFCOMPRESS_ZSTD /* glibc 2.36 does not have it yet */
#define ELFCOMPRESS_ZSTD 2
#endif

enum {
	INFLATED_LIMIT = 1 << 30, /* bytes of one section; clang's .debug_info with -g is 0.6 GB */
	ZLIB_RATIO_LIMIT = 1032,  /* what deflate can reach at most */
	BUILD_ID_TEXT = 2 * 64 + 1,
};

struct inflated {
	const struct binary_section *section;
	unsigned char *bytes; /* NULL: broken */
	size_t len;
};

struct image {
	char *path;
	struct binary_file file; /* empty when the bytes are the caller's */
	struct binary_image elf;
	char build_id[BUILD_ID_TEXT];
	vec_of(struct inflated) inflated;
};

static void image_read_build_id(struct image *image)
{
	arena_auto struct arena arena = {0};
	const char *found = binary_image_build_id(&image->elf, &arena);

	if (found && strlen(found) < sizeof(image->build_id))
		memcpy(image->build_id, found, strlen(found) + 1);
}

static int image_start(struct image *image, const void *bytes, size_t len, struct err *err)
{
	int r = binary_image_init_foreign(&image->elf, bytes, len, image->path, err);

	if (r < 0) {
		err->kind = ERR_UNAVAILABLE; /* a file that was mapped, not the user's target */
		return r;
	}
	image_read_build_id(image);
	return 0;
}

int image_open_bytes(
	const void *bytes, size_t len, const char *name, struct image **ret_image, struct err *err)
{
	struct image *image = mem_new(1, sizeof(*image));
	int r;

	image->path = mem_copy_text(name, strlen(name));
	r = image_start(image, bytes, len, err);
	if (r < 0) {
		image_close(image);
		return r;
	}
	*ret_image = image;
	return 0;
}

int image_open(const char *path, struct image **ret_image, struct err *err)
{
	struct image *image = mem_new(1, sizeof(*image));
	int r;

	image->path = mem_copy_text(path, strlen(path));
	r = binary_file_map(path, &image->file);
	if (r == -ENOEXEC)
		err_set(err, ERR_UNAVAILABLE, ENOEXEC, "%s is not a plain file", path);
	else if (r < 0)
		err_set(err, ERR_UNAVAILABLE, -r, "cannot read %s: %s", path, err_words(-r));
	else
		r = image_start(image, image->file.bytes, image->file.len, err);
	if (r < 0) {
		image_close(image);
		return r;
	}
	*ret_image = image;
	return 0;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	vec_foreach (struct inflated, inflated, &image->inflated)
		free(inflated->bytes);
	vec_done(&image->inflated);
	binary_image_done(&image->elf);
	binary_file_done(&image->file);
	free(image->path);
	free(image);
}

const struct binary_image *image_elf(const struct image *image)
{
	return &image->elf;
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
	switch (image->elf.head.e_machine) {
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
	return image->elf.head.e_type == ET_REL;
}

/* Both want the exact size that the header promised: more or less is a broken section. */
static bool bytes_inflate(const Elf64_Chdr *head, const uint8_t *from, size_t from_len, uint8_t *to)
{
	uLongf len = head->ch_size;

	if (head->ch_type == ELFCOMPRESS_ZLIB)
		return uncompress(to, &len, from, from_len) == Z_OK && len == head->ch_size;
	return ZSTD_decompress(to, head->ch_size, from, from_len) == head->ch_size;
}

static struct inflated section_inflate(const struct binary_section *section)
{
	struct inflated inflated = {.section = section};
	uint64_t from_len = section->head.sh_size;
	Elf64_Chdr head;

	if (from_len <= sizeof(head))
		return inflated;
	memcpy(&head, section->data, sizeof(head));
	from_len -= sizeof(head);
	if (!head.ch_size || head.ch_size > INFLATED_LIMIT)
		return inflated;
	if (head.ch_type == ELFCOMPRESS_ZLIB ? head.ch_size / ZLIB_RATIO_LIMIT > from_len
					     : head.ch_type != ELFCOMPRESS_ZSTD)
		return inflated;
	/* zstd knows no such bound, so it is asked first what its frame says. */
	if (head.ch_type == ELFCOMPRESS_ZSTD &&
		ZSTD_getFrameContentSize(section->data + sizeof(head), from_len) != head.ch_size)
		return inflated;
	inflated.bytes = malloc(head.ch_size);
	inflated.len = head.ch_size;
	if (inflated.bytes &&
		!bytes_inflate(&head, section->data + sizeof(head), from_len, inflated.bytes)) {
		free(inflated.bytes);
		inflated.bytes = NULL;
	}
	return inflated;
}

/* A section is inflated once, also when that fails. */
static struct image_bytes image_inflate(struct image *image, const struct binary_section *section)
{
	vec_foreach (const struct inflated, known, &image->inflated)
		if (known->section == section)
			return (struct image_bytes){
				.at = known->bytes, .len = known->bytes ? known->len : 0};
	vec_push(&image->inflated, section_inflate(section));
	return image_inflate(image, section);
}

struct image_bytes image_section(struct image *image, const char *name)
{
	const struct binary_section *section = binary_image_section(&image->elf, name);

	if (!section || !section->data || !section->head.sh_size)
		return (struct image_bytes){0};
	if (section->head.sh_flags & SHF_COMPRESSED)
		return image_inflate(image, section);
	return (struct image_bytes){.at = section->data,
		.len = section->head.sh_size,
		.addr = section->head.sh_flags & SHF_ALLOC ? section->head.sh_addr : 0};
}

bool image_addr_of_offset(const struct image *image, uint64_t file_offset, uint64_t *ret_addr)
{
	vec_foreach (const Elf64_Phdr, head, &image->elf.segments) {
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
	vec_foreach (const Elf64_Phdr, head, &image->elf.segments) {
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
	size_t there = 0;
	const uint8_t *at = binary_image_at(&image->elf, addr, &there);

	if (!at || !len)
		return (struct image_bytes){0};
	return (struct image_bytes){.at = at, .len = there < len ? there : len, .addr = addr};
}
