/* label.h - what the frames of a run are called: the one place that decides.
 *
 * A label is one line of a report, one box of a flame graph: a function, a source line, a module or
 * a file.  Rows of a run that mean the same share a label: a function and its inlined copies are
 * one (same name, file and module), so are all addresses of a module that have no name. Owns: its
 * tables; texts are the run's, which must live longer.  A filled book is never changed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct run;

enum label_kind { LABEL_FUNCTION, LABEL_LINE, LABEL_MODULE, LABEL_FILE };

enum {
	LABEL_UNNAMED = 1, /* an address without a name, or a sample without a stack */
	LABEL_KERNEL = 2,
	LABEL_JIT = 4,
};

enum {
	LABEL_NO_STACK = 1,	/* the id of the label for samples without a stack */
	LABEL_INLINES_MAX = 64, /* frames at one address; what is inlined deeper is left out */
};

struct label {
	const char *name;   /* function, module or file; "[unknown]", "[no stack]" */
	const char *module; /* its path, "" when not known (or when it differs, by file) */
	const char *file;   /* LINE, FILE: of the line; FUNCTION: of its definition; "" unknown */
	uint32_t line;	    /* 0: unknown */
	uint32_t flags;	    /* LABEL_* */
};

struct label_book {
	const struct run *run;
	enum label_kind kind;
	vec_of(struct label) labels; /* ids are 1-based: labels.at[id - 1] */
	uint32_t *of_frame;	     /* by the frame's id; 0: it has no name, so see of_module */
	uint32_t *of_module;	     /* by the module's id, 0: in no module */
};

void label_book_init(struct label_book *book, const struct run *run, enum label_kind kind);
void label_book_done(struct label_book *book);
#define label_book_auto __attribute__((cleanup(label_book_done)))

/* The labels at a location of the run (0: one that is not known), innermost first: at least one,
 * more where code was inlined. */
unsigned label_book_at(
	const struct label_book *book, uint32_t location, uint32_t ret_labels[LABEL_INLINES_MAX]);

/* Mark the labels that `text` means, ret_marks[id] for each id: those of exactly this name, else of
 * this name before its '(', else the only name that holds the text.  -EINVAL, with the nearest or
 * the candidates, when there is none or more than one. */
int label_book_find(
	const struct label_book *book, const char *text, bool *ret_marks, struct err *err);

/* A label as one text, for where there is no column for the module or the line: "main",
 * "[libc.so.6]" for what has no name there, "prog.c:12 main" for a line. */
void label_add_text(const struct label *label, enum label_kind kind, struct str *out);

/* Whether both are the same function, with or without parameters. */
bool label_same_function(const char *a, const char *b);

/* What follows the last '/' of a path. */
const char *label_base(const char *path);
