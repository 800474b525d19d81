/* function_class.h - what well-known functions do: allocate, copy, lock, fault, talk to the kernel.
 *
 * The names are text (data/function.classes).  A function that is not listed has no class: it is
 * somebody's own code.  Pure.  Owns: the book owns its texts. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum function_class {
	FUNCTION_NO_CLASS,
	FUNCTION_ALLOCATOR,
	FUNCTION_COLLECTOR, /* of garbage */
	FUNCTION_COPY,
	FUNCTION_LOCK,
	FUNCTION_SPIN,
	FUNCTION_SYNC, /* fsync and its like */
	FUNCTION_IO,
	FUNCTION_NETWORK,
	FUNCTION_SLEEP,
	FUNCTION_MEMORY, /* asks the kernel for memory */
	FUNCTION_FAULT,	 /* page faults */
	FUNCTION_MAP,	 /* the kernel maps and unmaps */
	FUNCTION_FUTEX,
	FUNCTION_BLOCK,	    /* block devices */
	FUNCTION_SCHED,	    /* the scheduler */
	FUNCTION_ENTRY,	    /* into the kernel and back */
	FUNCTION_INTERRUPT, /* a device or a timer came in, whatever ran */
	FUNCTION_WRAPPER,   /* own code that stands for something else: its caller is meant */
	FUNCTION_RELEASE,   /* see function_gives_back(): the names have another class too */
	FUNCTION_CLASSES,
};

/* "allocator", as the text spells it; "" for none. */
const char *function_class_word(enum function_class class);

struct function_book;

/* The text that is compiled in. */
struct function_book *function_book_open(void);

/* Another text, `name` being its file for the sentence. */
int function_book_parse(
	const char *name, const char *text, struct function_book **ret_book, struct err *err);

/* NULL is fine. */
void function_book_close(struct function_book *book);

/* `name` as a run has it, demangled; `kernel`: it was seen there. */
enum function_class function_class_of(
	const struct function_book *book, const char *name, bool kernel);

/* It gives memory back, or tidies up what was given back. */
bool function_gives_back(const struct function_book *book, const char *name);
