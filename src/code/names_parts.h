/* names_parts.h - what the files behind names.h share. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "code/names.h"
#include "debug_set.h"
#include "span.h"

enum {
	NAME_STEP = 256,     /* bytes of a name that are looked at in a step */
	DEMANGLE_STEPS = 40, /* for a short name */
	SYMBOL_BYTES = 96,   /* a symbol and where it stands */
};

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
uint32_t symbols_read(struct symbols *symbols, const struct image *image, unsigned type);
/* The stubs of the procedure linkage table, as "name@plt". */
void symbols_read_stubs(struct symbols *symbols, struct image *image, struct arena *arena);
/* Functions of a Go program, from the table its runtime carries even when stripped. */
uint32_t symbols_read_go(struct symbols *symbols, struct image *image);
void symbols_lay(struct symbols *symbols);
struct symbol *symbols_find(const struct symbols *symbols, uint64_t addr);
/* Where a symbol without a size ends. */
uint64_t symbol_end(const struct symbols *symbols, const struct symbol *symbol);
const char *symbol_name(struct symbol *symbol, struct quota *quota, struct arena *arena);
struct symbol *symbols_search(
	struct symbols *symbols, const char *name, struct quota *quota, struct arena *arena);
void symbols_done(struct symbols *symbols);

/* Demangle, charged; false: nothing may be kept any more. */
bool names_demangle_within(struct quota *quota, const char *linkage, struct str *ret_name);

struct jit;

struct names {
	struct image *image, *mini;
	struct symbols symbols;
	struct debug_set debug;
	bool without_inlines;
	struct map debug_names; /* entry of debug information -> index of */
	vec_of(struct debug_name) names_said;
	struct str kernel_text; /* the kernel's symbol names point into it */
	struct jit *jit;
	struct str basis, missing;
	struct quota *quota;	 /* of its image or JIT file; NULL: of the kernel */
	uint32_t splits_missing; /* of which `missing` speaks */
	struct arena arena;
};

/* names.c: what a function in the code or an inlined one is called; valid until the next call. */
const struct debug_name *names_of_node(
	struct names *names, struct debug_unit *unit, struct debug_node *node);

/* names_jit.c */
int jit_read(struct jit **ret_jit, const struct names_options *options, const char *bytes,
	size_t len, struct err *err);
struct quota *jit_quota(struct jit *jit);
unsigned jit_find(struct jit *jit, uint64_t addr, uint64_t time_ns, struct names_frame *ret_frame);
bool jit_search(struct jit *jit, const char *name, struct names_frame *ret_frame);
unsigned jit_lines(
	struct jit *jit, uint64_t addr, uint64_t len, struct names_line *ret_lines, unsigned max);
void jit_close(struct jit *jit);
