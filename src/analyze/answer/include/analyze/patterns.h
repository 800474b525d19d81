/* patterns.h - shapes of slow code that stacks show: "memmove below realloc from one site".
 *
 * The shapes are text (data/patterns, docs/patterns.md has the format): which stacks are meant, how
 * large their share must be, what it means, what to do and what would refute it.  A row is one
 * witness, the samples; the ledger asks for two.  So a row says why a place is slow where nothing
 * better is known, and proves nothing.
 * Pure.  Owns: the book owns its texts; rows are in the caller's arena and borrow from the book's
 * copy there and from the run. */
#pragma once

#include <stdint.h>

#include "analyze/evidence.h"
#include "analyze/signals.h"
#include "base/arena.h"
#include "base/err.h"

struct pattern_row {
	const char *name, *title; /* "grows_by_constant", "a buffer grows by a constant" */
	const char *function;	  /* of the program, that does it; "": no place */
	const char *call;	  /* "add()"; "the program" without a place */
	const char *location;	  /* "add.c:31", or the call */
	const char *means;	  /* one sentence with the numbers */
	const char *advice, *refute;
	const char *path, *query; /* SQL over the file that gives `share` */
	double share;		  /* of the samples */
	bool of_setting;	  /* explains only what nothing else does */
};

struct pattern_view {
	const struct pattern_row *rows; /* largest share first */
	uint32_t count;
};

struct pattern_book;

int pattern_book_load(struct pattern_book **ret_book, struct err *err);
int pattern_book_parse(
	const char *name, const char *text, struct pattern_book **ret_book, struct err *err);
void pattern_book_close(struct pattern_book *book);
void pattern_book_close_pointer(struct pattern_book **book);
#define pattern_book_auto __attribute__((cleanup(pattern_book_close_pointer)))

/* What of the book the profile shows.  Nothing without samples, or with too few. */
void patterns_match(const struct pattern_book *book, const struct evidence_piece *profile,
	const struct signals *signals, struct arena *arena, struct pattern_view *ret_view);
