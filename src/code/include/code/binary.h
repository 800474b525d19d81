/* binary.h - what a program file is: its kind, its debug information, how it was compiled.
 *
 * Does: find a program as execvp() would, read its ELF tables, compiler strings and prologues,
 * find its separate debug file and its libraries.  Does not: run it, name addresses, ask the
 * network.  Trusts nothing in the file: sizes are checked before use.
 * Owns nothing: every text and array of the facts lives in the caller's arena.
 * Threads: any, each with its own arena. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"

enum binary_kind {
	BINARY_EXEC,	   /* dynamic, fixed address */
	BINARY_PIE,	   /* dynamic, any address */
	BINARY_STATIC,	   /* no loader, fixed address */
	BINARY_STATIC_PIE, /* no loader, relocates itself */
	BINARY_LIBRARY,	   /* a shared library that is no program */
	BINARY_KINDS,
};

enum binary_answer { BINARY_UNKNOWN, BINARY_NO, BINARY_YES, BINARY_MIXED };

enum binary_language {
	LANGUAGE_UNKNOWN,
	LANGUAGE_C,
	LANGUAGE_CXX,
	LANGUAGE_RUST,
	LANGUAGE_GO,
	LANGUAGE_FORTRAN,
	LANGUAGE_ASSEMBLER,
	LANGUAGE_OTHER,
	LANGUAGES,
};

/* Where the optimisation level comes from. */
enum binary_evidence {
	EVIDENCE_NONE,
	EVIDENCE_PRODUCER, /* the compiler recorded its switches */
	EVIDENCE_CODE,	   /* a guess from the look of the code */
};

struct binary_library {
	const char *name;     /* as needed: "libc.so.6" */
	const char *path;     /* NULL: not found */
	const char *build_id; /* NULL: none, or not found */
	bool direct;	      /* needed by the program itself, not by a library of it */
};

/* Texts are NULL when there is none or it is not known; `*_reason` then says why. */
struct binary_facts {
	const char *path, *name; /* of the ELF file; name is the last part of path */
	const char *script; /* the script that was asked for; the facts are its interpreter's */
	uint64_t size_bytes;
	char sha256[SHA256_TEXT]; /* "" when not asked for */
	enum binary_kind kind;
	const char *machine, *loader, *build_id;
	bool setuid, setgid, file_capabilities;
	bool bind_now;
	struct binary_library *libraries; /* all that get loaded, the direct ones first */
	uint32_t library_count, libraries_missing;

	bool has_sections;     /* a section table at all */
	bool has_symbols;      /* .symtab in the file itself; without it the file is stripped */
	bool has_mini_symbols; /* .gnu_debugdata */
	bool has_eh_frame, has_eh_frame_header;
	bool has_debug_info, has_debug_lines;	    /* in the file itself */
	bool has_separate_info, has_separate_lines; /* in `debug_file` */
	const char *debug_file;			    /* separate debug file that was found */
	const char *debug_link;			    /* .gnu_debuglink, found or not */
	const char *debug_alternate;		    /* .gnu_debugaltlink (dwz) */
	bool debug_alternate_found;
	bool debug_compressed, debug_split; /* split: the rest is in .dwo files */
	uint32_t dwarf_low, dwarf_high;	    /* versions of its units, 0: none seen */
	uint32_t units;			    /* compiled ones, without assembler */
	uint32_t unit_count[LANGUAGES];

	enum binary_language language;
	bool language_mixed;
	const char *language_evidence;
	const char *comment;  /* what .comment says, joined by "; " */
	const char *compiler; /* "gcc 12.2.0", "clang 14.0.6", "rustc 1.95.0", "go 1.22.1" */
	const char *producer; /* as recorded, without its switches */
	const char *flags;    /* the recorded switches that matter, in one order */
	const char *flags_reason;
	const char *optimisation; /* "-O2"; with EVIDENCE_CODE "-O0" or "optimised" */
	enum binary_evidence optimisation_evidence;
	const char *optimisation_reason;
	bool optimisation_mixed;
	const char *march;
	enum binary_answer lto, pgo;

	const char *sanitizers;	  /* "address,undefined", "none" */
	const char *instruments;  /* "gcov", "profile-generate", "pg"; "none" */
	const char *signs_reason; /* why those two and the allocator may be unknown */
	const char *allocator;	  /* "libc", "jemalloc", "tcmalloc", "mimalloc", "own", "go" */
	const char *allocator_evidence;
	enum binary_answer threads;
	bool coz_points;
	uint32_t usdt_probes;

	enum binary_answer frame_pointers;
	uint32_t functions_seen;   /* sampled functions that make calls */
	uint32_t functions_framed; /* those of them that set up a frame pointer first */
	const char *frame_pointers_reason;
};

struct binary_options {
	bool sha256;		/* hash the file: 1.1 s per 100 MB on a small VM */
	bool without_libraries; /* do not look for its libraries */
};

/* The file that `name` starts: PATH is searched when it has no slash.  ERR_TARGET with one
 * sentence when nothing can be started. */
int binary_find(const char *name, struct arena *arena, const char **ret_path, struct err *err);

/* All facts of the program `name`.  A script gives the facts of its interpreter.  `options` NULL
 * means defaults.  ERR_TARGET when it is no program this machine can run. */
int binary_inspect(const char *name, const struct binary_options *options, struct arena *arena,
	struct binary_facts *ret_facts, struct err *err);

/* The same from memory, without looking at any file. */
int binary_inspect_bytes(const void *bytes, size_t len, const char *name, struct arena *arena,
	struct binary_facts *ret_facts, struct err *err);

const char *binary_kind_name(enum binary_kind kind);
const char *binary_language_name(enum binary_language language); /* "c", "c++", "rust", "go" ... */
bool binary_is_static(const struct binary_facts *facts);
