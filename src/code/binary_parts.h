/* binary_parts.h - what the files behind binary.h share.
 *
 * An image is a view on the bytes of an ELF file.  It owns its table of sections;
 * names and data point into the bytes.  Every pointer it hands out was checked to lie inside. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "code/binary.h"

struct binary_section {
	const char *name;
	Elf64_Shdr head;
	const uint8_t *data; /* NULL: not in the file, or not inside it */
};

struct binary_image {
	const uint8_t *bytes;
	size_t len;
	Elf64_Ehdr head;
	vec_of(struct binary_section) sections;
	vec_of(Elf64_Phdr) segments;
	uint64_t low, high; /* addresses of its PT_LOADs */
};

/* Read the tables.  ERR_TARGET when it is no ELF file for this machine; `name` is for the
 * sentence. */
int binary_image_init(struct binary_image *image, const void *bytes, size_t len, const char *name,
	struct err *err);
/* The same for any 64-bit little-endian machine. */
int binary_image_init_foreign(struct binary_image *image, const void *bytes, size_t len,
	const char *name, struct err *err);
void binary_image_done(struct binary_image *image);
#define binary_image_auto __attribute__((cleanup(binary_image_done)))

/* NULL when there is none. */
const struct binary_section *binary_image_section(
	const struct binary_image *image, const char *name);
const Elf64_Phdr *binary_image_segment(const struct binary_image *image, uint32_t type);

/* The bytes at an address of the loaded image, and how many of them the file has; NULL: none. */
const uint8_t *binary_image_at(const struct binary_image *image, uint64_t addr, size_t *ret_len);

/* The bytes of a segment in the file; NULL when they are not all there. */
const uint8_t *binary_image_segment_data(const struct binary_image *image, const Elf64_Phdr *head);

/* A text at `offset` of a string table, NULL when it does not end inside. */
const char *binary_text_at(const uint8_t *table, size_t len, uint64_t offset);

/* Hex of the GNU build-id, NULL when there is none. */
const char *binary_image_build_id(const struct binary_image *image, struct arena *arena);

/* The tables behind an open image of image.h. */
struct image;
const struct binary_image *image_elf(const struct image *image);

/* Call `take` for each symbol of a .symtab or .dynsym section. */
typedef void binary_symbol_taker(void *context, const Elf64_Sym *symbol, const char *name);
void binary_image_symbols(const struct binary_image *image, const struct binary_section *table,
	binary_symbol_taker *take, void *context);

/* What the dynamic section says. */
struct binary_dynamic {
	vec_of(const char *) needed; /* point into the image */
	const char *rpath, *runpath;
	bool bind_now, pie, has_soname;
};

void binary_dynamic_read(const struct binary_image *image, struct binary_dynamic *ret_dynamic);
void binary_dynamic_done(struct binary_dynamic *dynamic);
#define binary_dynamic_auto __attribute__((cleanup(binary_dynamic_done)))

/* A file mapped privately: libelf notes in the headers which sections it has decompressed.  Only
 * plain files: a device or a pipe named by a hostile file would hang the reader. */
struct binary_file {
	const uint8_t *bytes;
	size_t len;
};

int binary_file_map(const char *path, struct binary_file *ret_file); /* 0 or negative errno */
void binary_file_done(struct binary_file *file);
#define binary_file_auto __attribute__((cleanup(binary_file_done)))

/* Signs in symbol names, and what they were seen in. */
enum binary_sign {
	SIGN_ASAN = 1 << 0,
	SIGN_TSAN = 1 << 1,
	SIGN_MSAN = 1 << 2,
	SIGN_UBSAN = 1 << 3,
	SIGN_LSAN = 1 << 4,
	SIGN_HWASAN = 1 << 5,
	SIGN_GCOV = 1 << 6,
	SIGN_PROFILE = 1 << 7, /* clang's -fprofile-generate */
	SIGN_MCOUNT = 1 << 8,  /* -pg */
	SIGN_JEMALLOC = 1 << 9,
	SIGN_TCMALLOC = 1 << 10,
	SIGN_MIMALLOC = 1 << 11,
	SIGN_MALLOC = 1 << 12,	    /* defines malloc() itself */
	SIGN_LIBC_MALLOC = 1 << 13, /* and it is glibc's or musl's */
	SIGN_THREADS = 1 << 14,
	SIGN_RUST = 1 << 15,
	SIGN_CXX = 1 << 16,
	SIGN_LTO = 1 << 17,   /* .lto_priv */
	SIGN_CLONE = 1 << 18, /* .constprop, .isra, .part: gcc -O2 and more makes such copies */
	SIGN_COZ = 1 << 19,
	SIGN_RUST_CHECKS = 1 << 20, /* debug assertions of Rust, as in cargo's dev profile */
};

/* One inspection under way; the parts below run in this order and fill their own facts. */
struct binary_work {
	const struct binary_image *image;
	struct arena *arena;
	struct binary_facts *facts;
	struct binary_dynamic dynamic;
	uint32_t signs;				    /* enum binary_sign */
	uint32_t names_cxx, names_rust;		    /* mangled names */
	uint32_t functions_all, functions_spilling; /* of those sampled: stores arguments first */
	const char *go_settings; /* of Go's build info, lines of "build\tKEY=VALUE" */
};

void binary_read_tables(struct binary_work *work);    /* segments, sections, .comment, Go */
void binary_read_symbols(struct binary_work *work);   /* signs, probes */
void binary_read_code(struct binary_work *work);      /* frame pointers */
void binary_find_debug(struct binary_work *work);     /* separate debug file, dwz */
void binary_read_dwarf(struct binary_work *work);     /* compiler, language, flags */
void binary_find_libraries(struct binary_work *work); /* what the loader would load */
void binary_conclude(struct binary_work *work);	      /* what follows from all of them */

/* The value of one of Go's build settings, NULL when it is not there. */
const char *binary_go_setting(const struct binary_work *work, const char *key);
