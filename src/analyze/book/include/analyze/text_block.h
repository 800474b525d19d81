/* text_block.h - the texts of data/, and the two shapes that they and the files of users share.
 *
 * Blocks: "key value" lines with empty lines between; a line that begins with a blank goes on.
 * Rows: one line, one row of words.  '#' begins a comment line in both.  What is doubtful is
 * refused with file, line and reason.  Owns: nothing; lines are copied into the reader's arena. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct data_text; /* data/texts.h */

struct text_pair {
	const char *key, *value;
	unsigned line;
};

struct text_block {
	struct text_pair pairs[96];
	unsigned count;
};

struct text_reader {
	struct arena *arena;
	const char *name; /* of the file */
	const char *at;
	unsigned line; /* of what was read last */
	struct err *err;
};

/* The text of data/`name`; "" when none is compiled in. */
const char *data_text(const char *name);

/* The next text of data/ behind `last` (NULL: the first) whose name begins with `prefix`; NULL at
 * the end. */
const struct data_text *data_text_next(const char *prefix, const struct data_text *last);

/* "NAME:LINE: WHAT 'WHICH'" into the reader's err; -EINVAL. */
int text_refuse(
	const struct text_reader *reader, unsigned line, const char *what, const char *which);

/* The next row, trimmed; NULL at the end of the text. */
char *text_row_next(struct text_reader *reader);

/* Cut the next word off `*rest`, in place; a backslash keeps a blank in it.  NULL: none is left. */
char *text_word_next(char **rest);

/* The next block into `block`; an empty one at the end of the text. */
int text_block_next(struct text_reader *reader, struct text_block *block);

/* Hand every block to `take`, until one is refused. */
typedef int text_take(void *book, struct text_reader *reader, const struct text_block *block);
int text_read(struct text_reader *reader, text_take *take, void *book);

/* The same for all texts of data/ whose name begins with `prefix`. */
int data_read(
	const char *prefix, struct arena *arena, text_take *take, void *book, struct err *err);

/* The first line with this key, NULL when there is none. */
const struct text_pair *text_block_find(const struct text_block *block, const char *key);
const char *text_block_value(const struct text_block *block, const char *key);

/* Every key is one of `keys`, stands once unless it is one of the words of `repeated`, and the
 * first `needed` of them are there. */
int text_block_check(const struct text_reader *reader, const struct text_block *block,
	const char *const *keys, unsigned needed, const char *repeated);

/* The value as a finite number. */
int text_number(const struct text_reader *reader, const struct text_pair *pair, double *ret_number);
