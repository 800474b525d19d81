/* names_elf.h - one ELF file as names.h needs it: sections as bytes, build-id, links to others.
 *
 * Does: map the file, unpack compressed sections (zlib, zstd, the old .zdebug_) up to a limit.
 * Owns: the mapping and what it unpacked, until names_elf_close().  Trusts nothing in the file.
 * Little-endian files only. */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "cursor.h"

enum { BUILD_ID_TEXT = 129 };

struct names_elf {
	const char *path;
	Elf *elf;
	unsigned machine; /* EM_X86_64 ... */
	bool is_relocatable;
	char build_id[BUILD_ID_TEXT]; /* hex, "" when there is none */
	void *bytes;		      /* a copy, when it was not a file */
	int fd;
	struct arena arena;
};

/* ERR_UNAVAILABLE with one sentence when it cannot be read. */
int names_elf_open(const char *path, struct names_elf **ret_elf, struct err *err);
/* From memory, which is copied. */
int names_elf_open_bytes(const void *bytes, size_t len, const char *name,
	struct names_elf **ret_elf, struct err *err);
void names_elf_close(struct names_elf *elf);

/* NULL .at when it is missing, empty, not in the file or cannot be unpacked. */
struct image_bytes names_elf_section(struct names_elf *elf, const char *name);
bool names_elf_has(struct names_elf *elf, const char *name);
bool names_elf_head(struct names_elf *elf, const char *name, GElf_Shdr *ret_head);

/* The name in .gnu_debuglink with the CRC behind it; the name in .gnu_debugaltlink with the
 * build-id behind it as hex.  NULL: none. */
const char *names_elf_link(struct names_elf *elf, uint32_t *ret_crc);
const char *names_elf_alternate(struct names_elf *elf, char ret_build_id[BUILD_ID_TEXT]);

/* The CRC a debuglink speaks of. */
uint32_t names_crc32(const uint8_t *bytes, size_t len);
