/* image.h - one ELF file, mapped for reading: its segments, sections and build-id.
 *
 * Does: map the file, check its tables once, hand out sections as bytes (unpacked when they are
 * compressed), turn file offsets into addresses.  Does not: name addresses, unwind.
 * 64-bit little-endian files only.
 * Owns: the mapping and unpacked sections until image_close().  Trusts nothing in the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct image;

struct image_bytes {
	const unsigned char *at; /* NULL: there is none */
	size_t len;
	uint64_t addr; /* where it is mapped in the ELF's own addresses, 0: not mapped */
};

enum { IMAGE_BUILD_ID_TEXT = 2 * 64 + 1 }; /* hex of 64 bytes */

enum image_machine { IMAGE_X86_64, IMAGE_AARCH64, IMAGE_OTHER };

/* ERR_UNAVAILABLE with one sentence when it cannot be read. */
int image_open(const char *path, struct image **ret_image, struct err *err);

/* From memory that outlives the image (the vdso, a fuzz input). */
int image_open_bytes(
	const void *bytes, size_t len, const char *name, struct image **ret_image, struct err *err);

void image_close(struct image *image);

const char *image_path(const struct image *image);
const char *image_build_id(const struct image *image); /* hex; "" when there is none */
enum image_machine image_machine(const struct image *image);
bool image_is_relocatable(const struct image *image); /* a kernel module (.ko) */

/* A section's bytes; .at is NULL when it is missing, empty or broken. */
struct image_bytes image_section(struct image *image, const char *name);

/* The address of the byte at `file_offset`, through the program headers. */
bool image_addr_of_offset(const struct image *image, uint64_t file_offset, uint64_t *ret_addr);

/* The way back: where in the file the byte at an address stands. */
bool image_offset_of_addr(const struct image *image, uint64_t addr, uint64_t *ret_offset);

/* The loaded bytes at an address, at most `len` and as many as one segment has in the file. */
struct image_bytes image_code(const struct image *image, uint64_t addr, size_t len);

/* The GNU build-id among the notes of a section, a segment or the kernel, as hex; false: none. */
bool image_notes_build_id(struct image_bytes notes, char ret_build_id[IMAGE_BUILD_ID_TEXT]);
