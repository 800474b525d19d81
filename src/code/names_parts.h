/* names_parts.h - what the files behind names.h share. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "code/names.h"
#include "names_debug.h"
#include "names_elf.h"
#include "names_span.h"

enum symbol_binding { SYMBOL_LOCAL, SYMBOL_WEAK, SYMBOL_GLOBAL };

struct symbol {
	uint64_t addr, size; /* size 0: up to the next one */
	const char *linkage; /* borrowed: lives as long as the book */
	const char *name;    /* demangled, NULL: not asked for yet */
	const char *module;  /* of the kernel, or NULL */
	uint8_t binding;     /* enum symbol_binding */
	bool is_function;    /* by its type, not only by where it stands */
};

struct symbols {
	vec_of(struct symbol) list; /* by address once laid; aliases stay, for the search by name */
	struct spans code;	    /* executable sections, while reading */
	struct spans sized, loose;  /* items are indexes of list */
};

/* Take .symtab or .dynsym of a file; how many functions there were. */
uint32_t symbols_read(struct symbols *symbols, struct names_elf *elf, unsigned type);
/* The stubs of the procedure linkage table, as "name@plt". */
void symbols_read_stubs(struct symbols *symbols, struct names_elf *elf, struct arena *arena);
/* Functions of a Go program, from the table its runtime carries even when stripped. */
uint32_t symbols_read_go(struct symbols *symbols, struct names_elf *elf, struct arena *arena);
void symbols_lay(struct symbols *symbols);
struct symbol *symbols_find(const struct symbols *symbols, uint64_t addr);
/* Where a symbol without a size ends. */
uint64_t symbol_end(const struct symbols *symbols, const struct symbol *symbol);
const char *symbol_name(struct symbol *symbol, struct arena *arena);
struct symbol *symbols_search(struct symbols *symbols, const char *name, struct arena *arena);
void symbols_done(struct symbols *symbols);

struct jit;

struct names {
	struct names_elf *elf, *debug_elf, *alternate_elf, *mini_elf;
	struct symbols symbols;
	struct debug_file *debug, *alternate;
	bool without_inlines;
	struct map debug_names; /* entry of debug information -> index of */
	vec_of(struct debug_name) names_said;
	struct str kernel_text; /* the kernel's symbol names point into it */
	struct jit *jit;
	struct str basis, missing;
	uint32_t splits_missing; /* of which `missing` speaks */
	struct arena arena;
};

/* names.c: what a function in the code or an inlined one is called; valid until the next call. */
const struct debug_name *names_of_node(
	struct names *names, struct debug_unit *unit, struct debug_node *node);

/* names_file.c: the file itself and the ones that belong to it. */
struct names_search {
	const struct names_options *options;
	const char *root;    /* "" or the folder that stands for / (symfs, /proc/PID/root) */
	const char *failure; /* what debuginfod did, or NULL */
	struct arena *arena;
};
int names_search_file(struct names_search *search, struct names_elf **ret_elf, struct err *err);
struct names_elf *names_search_debug(struct names_search *search, struct names_elf *elf);
struct names_elf *names_search_alternate(struct names_search *search, struct names_elf *elf);
struct names_elf *names_open_mini(struct names_elf *elf); /* .gnu_debugdata */
/* names_ask.c: the path debuginfod-find gives for this build-id within 10 s, or NULL and why. */
const char *names_ask(const char *build_id, struct arena *arena, const char **ret_failure);

/* names_jit.c */
int jit_read(
	struct jit **ret_jit, const char *path, const char *bytes, size_t len, struct err *err);
unsigned jit_find(struct jit *jit, uint64_t addr, uint64_t time_ns, struct names_frame *ret_frame);
bool jit_search(struct jit *jit, const char *name, struct names_frame *ret_frame);
unsigned jit_lines(
	struct jit *jit, uint64_t addr, uint64_t len, struct names_line *ret_lines, unsigned max);
void jit_close(struct jit *jit);
