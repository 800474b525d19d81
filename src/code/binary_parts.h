/* binary_parts.h - what the files behind binary.h share. */
#pragma once

#include "base/str.h"
#include "code/binary.h"
#include "debug_set.h"
#include "image_parts.h"

/* What the dynamic section says. */
struct binary_dynamic {
	vec_of(const char *) needed; /* point into the image */
	const char *rpath, *runpath;
	bool bind_now, pie, has_soname;
};

void binary_dynamic_read(const struct image *image, struct binary_dynamic *ret_dynamic);
void binary_dynamic_done(struct binary_dynamic *dynamic);
#define binary_dynamic_auto __attribute__((cleanup(binary_dynamic_done)))

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
	struct image *image;
	struct arena *arena;
	struct binary_facts *facts;
	struct debug_set debug;
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
