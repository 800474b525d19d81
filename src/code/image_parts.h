/* image_parts.h - the inside of an image, for the files of this room.
 *
 * Names and data point into the bytes of the file.  Every pointer that is handed out was checked
 * to lie inside. */
#pragma once

#include <elf.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/quota.h"
#include "base/vec.h"
#include "code/image.h"

static inline struct cursor cursor_over(struct image_bytes bytes, uint64_t offset)
{
	if (!bytes.at || offset > bytes.len)
		return (struct cursor){.broken = true};
	return cursor_of(bytes.at + offset, bytes.len - offset);
}

/* A file mapped for reading.  Only plain files: a device or a pipe named by a hostile file would
 * hang the reader. */
struct image_file {
	const uint8_t *bytes;
	size_t len;
};

int image_file_map(const char *path, struct image_file *ret_file); /* 0 or negative errno */
void image_file_done(struct image_file *file);

struct image_section {
	const char *name;
	Elf64_Shdr head;
	const uint8_t *data; /* NULL: not in the file, or not inside it */
};

struct image_unpacked {
	const struct image_section *section;
	uint8_t *bytes; /* NULL: broken */
	size_t len;
};

struct image {
	char *path;
	struct image_file file; /* empty when the bytes are the caller's */
	uint8_t *owned;		/* freed with the image, or NULL */
	const uint8_t *bytes;
	size_t len;
	Elf64_Ehdr head;
	vec_of(struct image_section) sections;
	vec_of(Elf64_Phdr) segments;
	uint64_t low, high; /* addresses of its PT_LOADs */
	char build_id[IMAGE_BUILD_ID_TEXT];
	vec_of(struct image_unpacked) unpacked;
	struct quota own, *quota; /* what reading it may cost: `own`, or the program's */
};

/* image_tables.c: read the tables.  A sentence when it is no 64-bit little-endian ELF file. */
int image_read_tables(struct image *image, struct err *err);

static inline void image_close_auto(struct image **image)
{
	image_close(*image);
}
#define image_auto __attribute__((cleanup(image_close_auto)))

/* `image` belongs to `program` (debug information): both are read on one quota. */
void image_join(struct image *image, struct image *program);

/* NULL when there is none. */
const struct image_section *image_find(const struct image *image, const char *name);
const Elf64_Phdr *image_segment(const struct image *image, uint32_t type);

/* Does the section hold something, here in this file?  Also as .zdebug_x. */
bool image_has(const struct image *image, const char *name);

/* The bytes of a segment in the file; .at is NULL when they are not all there. */
struct image_bytes image_segment_bytes(const struct image *image, const Elf64_Phdr *head);

/* A text at `offset` of a string table, NULL when it does not end inside. */
const char *image_text_at(struct image_bytes table, uint64_t offset);

/* Entry `index` of a .symtab or .dynsym section and its name; false behind the last. */
bool image_symbol(const struct image *image, const struct image_section *table, uint64_t index,
	Elf64_Sym *ret_symbol, const char **ret_name);

/* The first symbol table of this type, NULL when there is none. */
const struct image_section *image_symbol_table(const struct image *image, uint32_t type);

/* One note of a section or segment. */
struct image_note {
	uint32_t type;
	struct image_bytes owner, body; /* the owner with its NUL */
};

/* Take the next note off `notes`; false at the end, or where they are broken. */
bool image_note_next(struct image_bytes *notes, struct image_note *ret_note);

/* At most as much as fits. */
void image_hex(struct image_bytes bytes, char ret_text[IMAGE_BUILD_ID_TEXT]);

/* The name in .gnu_debuglink with the CRC behind it; the name in .gnu_debugaltlink with the
 * build-id behind it as hex.  NULL: none. */
const char *image_link(struct image *image, uint32_t *ret_crc);
const char *image_alternate(struct image *image, char ret_build_id[IMAGE_BUILD_ID_TEXT]);

/* The program behind .gnu_debugdata (mini debug info), NULL when there is none. */
struct image *image_open_mini(struct image *image);
