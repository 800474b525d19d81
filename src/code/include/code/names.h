/* names.h - what stands at an address: function, file and line, with everything inlined there.
 *
 * One book of names per module: an ELF file with its debug files, the kernel, a JIT's map.
 * Does: symbols, split debug files (build-id, debuglink, dwz, mini debug info), line and inline
 * tables walked once per compile unit, demangling.  Does not: know processes or mappings, ask the
 * network unless told to.
 * Owns: all texts it hands out, until names_close().  Trusts nothing in the files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/quota.h"
#include "base/str.h"

struct names;

struct names_options {
	const char *path;     /* the file to read */
	const char *build_id; /* hex, what was mapped; a file with another one is not used.  NULL:
				 any */
	const char *symfs;    /* look for files below this folder first, or NULL */
	bool without_inlines; /* symbols and lines only */
	bool without_lines;   /* symbols only: no DWARF at all */
	bool debuginfod;      /* ask debuginfod for what is missing, at most 10 s for each file */
	struct interrupt (*interrupted)(void); /* NULL: nobody interrupts */
};

struct names_frame {
	const char *function; /* demangled; NULL: only the line is known */
	const char *linkage;  /* as in the symbol table, or NULL */
	const char *file;     /* NULL: not known */
	uint32_t line;
	const char *function_file; /* where the function is defined, or NULL */
	uint32_t function_line;
	uint64_t function_addr, function_bytes; /* 0 for an inlined one */
	bool inlined;				/* into the next frame of the answer */
	const char *module;			/* of the kernel, or NULL */
};

/* An ELF file.  ERR_UNAVAILABLE when it cannot be read or has another build-id. */
int names_open(const struct names_options *options, struct names **ret_names, struct err *err);

/* From memory that outlives it (the vdso); options->path is its name. */
int names_open_bytes(const void *bytes, size_t len, const struct names_options *options,
	struct names **ret_names, struct err *err);

/* The running kernel, from /proc/kallsyms (`path` NULL) or a copy of it. */
int names_open_kernel(const char *path, struct names **ret_names, struct err *err);

/* perf-PID.map text, or a jitdump: told apart by content.  The file must belong to `owner` or to
 * root (a JIT map lies in a folder where anybody may write). */
int names_open_jit(const struct names_options *options, uint32_t owner, struct names **ret_names,
	struct err *err);

void names_close(struct names *names);

/* Frames at `addr` (in the ELF's addresses; absolute for kernel and JIT), innermost first, at most
 * `max`.  0 when nothing is known of it.  `time_ns` matters only for JIT code that was replaced;
 * UINT64_MAX: the newest. */
unsigned names_find(struct names *names, uint64_t addr, uint64_t time_ns,
	struct names_frame *ret_frames, unsigned max);

/* The address range and file:line of the function whose (demangled or linkage) name this is. */
bool names_find_function(struct names *names, const char *function, struct names_frame *ret_frame);

/* The functions of the symbol table that have a size, one for each address, in order: name, address
 * and bytes of each; at most `max`. */
unsigned names_functions(struct names *names, struct names_frame *ret_frames, unsigned max);

/* What reading the files may still cost; whoever keeps names charges it too.  NULL: of the kernel.
 * Once it is spent, names_find() knows what was read until then. */
struct quota *names_quota(struct names *names);

/* What the answers rest on, for people: "symbols of FILE, lines of DEBUGFILE"; and what is missing
 * and how to get it, "" when nothing is. */
const char *names_basis(const struct names *names);
const char *names_missing(const struct names *names);

/* Every row of the line table in [addr, addr + len), in order of address: annotate's way. */
struct names_line {
	uint64_t addr;
	const char *file;
	uint32_t line;
};
unsigned names_lines(struct names *names, uint64_t addr, uint64_t len, struct names_line *ret_lines,
	unsigned max);

/* Demangle C++, Rust and D; a name that is none is copied as it is. */
void names_demangle(const char *linkage, struct str *ret_name);

/* Length of a function's name without its parameters and the word that it is a clone: of "a::f(int
 * (*)(int)) const [clone .cold]" that of "a::f"; "(anonymous namespace)::f" and "main.(*T).f" have
 * none. */
size_t names_bare_length(const char *function);
