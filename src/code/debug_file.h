/* debug_file.h - the debug information (DWARF 2 to 5) of one file, read by hand.
 *
 * Does: find the unit of an address, walk that unit once into sorted tables (functions, what is
 * inlined where, lines), answer from them.  Follows dwz files and split units (.dwo).
 * Does not: types, variables, unwinding; nothing is read before it is asked for.
 * Owns: the tables and composed texts.  Borrows: the sections of its image.
 * Trusts nothing: every read is bounded, chains are followed a fixed number of steps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "image_parts.h"
#include "span.h"

struct debug_spec {
	uint16_t name, form;
	int64_t constant;
};

struct debug_abbrev {
	uint64_t code;
	uint64_t at; /* of its specs in .debug_abbrev */
	uint16_t tag;
	bool children;
	uint32_t first, count; /* its specs */
	int32_t bytes;	       /* of all its attributes, -1: not fixed */
};

struct debug_abbrevs {
	vec_of(struct debug_abbrev) list; /* by code */
	vec_of(struct debug_spec) specs;
};

enum debug_kind {
	DEBUG_NOTHING,
	DEBUG_NUMBER,
	DEBUG_ADDRESS,
	DEBUG_TEXT,
	DEBUG_ENTRY,
	DEBUG_ENTRY_ALTERNATE,
	DEBUG_LIST_INDEX
};

struct debug_value {
	enum debug_kind kind;
	uint64_t number; /* DEBUG_ENTRY: offset in .debug_info */
	const char *text;
};

struct debug_function {
	uint64_t offset; /* of its entry in .debug_info */
	uint64_t link;	 /* of the entry that says the rest, 0: none */
	const char *name, *linkage;
	uint32_t file, line; /* where it is declared; file 0 and line 0: not said */
	uint32_t scope;
	bool has_file, link_is_alternate;
};

struct debug_scope {
	const char *name; /* NULL: a class without one */
	uint32_t parent;  /* SPAN_NONE: none; always a smaller index */
	uint32_t line;
};

/* What its name is, found when it is first asked for. */
struct debug_name {
	const char *function, *linkage, *file;
	uint32_t line;
};

/* A function in the code, or one inlined into its parent. */
struct debug_node {
	uint64_t origin;    /* the debug_function's offset */
	uint64_t low, high; /* its first range */
	uint32_t parent;    /* SPAN_NONE: not inlined; always a smaller index */
	uint32_t call_file, call_line;
	bool origin_is_alternate;
	uint32_t name; /* 1 + its place in a table of debug_name, 0: not asked for yet */
};

struct debug_row {
	uint64_t addr;
	uint32_t line;
	uint32_t file; /* SPAN_NONE: a gap starts here */
};

struct debug_path {
	const char *folder, *name;
	const char *full; /* composed at first use */
};

struct debug_lines {
	bool read;
	unsigned version;
	vec_of(struct debug_path) files;
	vec_of(struct debug_row) rows; /* by address */
};

struct debug_file;

struct debug_unit {
	struct debug_file *file;
	uint64_t offset, end, first_entry; /* in .debug_info */
	uint64_t abbrev_offset;
	uint8_t version, address_size, offset_size, type;
	bool has_head, is_walked, is_named_by_aranges, has_lines, split_is_tried;

	/* of its first entry */
	const char *name, *folder, *split_name, *producer;
	uint16_t tag, language;
	uint64_t split_id, low, texts_base, addrs_base, ranges_base, lists_base, lines_offset;

	struct debug_unit *skeleton; /* in the main file, when this one is in a .dwo */
	struct debug_unit *split;    /* in a .dwo, when this one is a skeleton */

	vec_of(struct debug_function) functions; /* by offset */
	vec_of(struct debug_scope) scopes;
	vec_of(struct debug_node) nodes;
	struct spans spans; /* of nodes */
	struct debug_lines lines;
};

struct debug_file {
	struct image *image;
	struct image_bytes info, abbrev, texts, line_texts, text_offsets, addrs, ranges,
		range_lists, lines, aranges;
	bool is_split, is_all_walked;
	vec_of(struct debug_unit) units; /* by offset; never grows after the opening */
	vec_of(struct debug_abbrevs) abbrevs;
	struct map abbrevs_by_key;
	struct quota *quota; /* its image's */
	struct spans unit_spans;
	struct debug_file *alternate;		/* dwz; borrowed */
	struct debug_file *splits, *next_split; /* .dwo files; owned */
	uint32_t splits_missing;
	const char *split_missing; /* the first .dwo that was not found */
	struct arena arena;
};

/* NULL when the file has no .debug_info.  `image` and `alternate` (dwz, or NULL) stay the caller's.
 */
struct debug_file *debug_file_open(
	struct image *image, struct debug_file *alternate, bool is_split);
void debug_file_close(struct debug_file *file);

/* The unit that covers `addr`, or NULL. */
struct debug_unit *debug_unit_of_addr(struct debug_file *file, uint64_t addr);
/* The unit with the entry at `offset`, or NULL. */
struct debug_unit *debug_unit_of_entry(struct debug_file *file, uint64_t offset);

/* Fill the tables; both do nothing the second time. */
void debug_unit_walk(struct debug_unit *unit);
struct debug_lines *debug_unit_lines(struct debug_unit *unit);

/* The unit whose tables speak for this one: its .dwo when there is one. */
struct debug_unit *debug_unit_full(struct debug_unit *unit);

/* The row in effect at `addr`, or NULL; and its place in the table. */
const struct debug_row *debug_row_find(const struct debug_lines *lines, uint64_t addr);

/* The path of a file number of this unit, NULL: none. */
const char *debug_unit_path(struct debug_unit *unit, uint32_t file);

/* What a function's entry and those it refers to say. */
struct debug_said {
	const char *name, *linkage, *file;
	uint32_t line;
	struct debug_unit *name_unit; /* where `name` stands, with its scope */
	uint32_t scope;
};
void debug_function_said(
	struct debug_file *file, uint64_t offset, bool is_alternate, struct debug_said *ret_said);

/* parts of the reader that its files share */
struct debug_spec debug_spec_read(struct cursor *cursor); /* name 0 and form 0: the last */
/* The tag (0: none) and the specs of one code, without keeping the table unless it is shared. */
unsigned debug_specs_find(struct debug_unit *unit, uint64_t code, struct cursor *ret_specs);
/* Valid until the next call. */
const struct debug_abbrevs *debug_abbrevs_of(struct debug_unit *unit);
const struct debug_abbrev *debug_abbrev_find(const struct debug_abbrevs *abbrevs, uint64_t code);
void debug_form_skip(struct cursor *cursor, const struct debug_unit *unit, unsigned form);
struct debug_value debug_form_read(
	struct cursor *cursor, struct debug_unit *unit, const struct debug_spec *spec);
void debug_unit_head(struct debug_unit *unit);
uint64_t debug_addr_at(struct debug_unit *unit, uint64_t index);
const char *debug_text_at(struct image_bytes texts, uint64_t offset);

/* Add the ranges that low, high and ranges attributes describe. */
struct debug_extent {
	struct debug_value low, high, ranges;
};
void debug_extent_add(struct debug_unit *unit, const struct debug_extent *extent,
	struct spans *spans, uint32_t item);
