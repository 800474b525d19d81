/* text_block.h - the shape that the texts of data/ share: blocks of "key value" lines with empty
 * lines between, '#' for a comment line.  What is doubtful is refused with file, line and reason.
 * Owns: nothing; lines are copied into the reader's arena. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

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
	unsigned line;
	struct err *err;
};

/* "NAME:LINE: WHAT 'WHICH'" into the reader's err; -EINVAL. */
int text_refuse(
	const struct text_reader *reader, unsigned line, const char *what, const char *which);

/* The next block into `block`; an empty one at the end of the text. */
int text_block_next(struct text_reader *reader, struct text_block *block);

/* The first line with this key, NULL when there is none. */
const struct text_pair *text_block_find(const struct text_block *block, const char *key);
const char *text_block_value(const struct text_block *block, const char *key);

/* Every key is one of `keys`, stands once unless it is one of the words of `repeated`, and the
 * first `needed` of them are there. */
int text_block_check(const struct text_reader *reader, const struct text_block *block,
	const char *const *keys, unsigned needed, const char *repeated);
