/* text_block.h - blocks of "key value" lines, as the texts of data/ are written: private to analyze.
 *
 * An empty line ends a block, '#' starts a comment line.  Lines and texts are in the reader's arena.
 * What is doubtful is refused with the file's name and the line. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct text_pair {
	const char *key, *value;
	unsigned line;
};

enum { TEXT_BLOCK_PAIRS = 64 };

struct text_block {
	struct text_pair pairs[TEXT_BLOCK_PAIRS];
	unsigned count;
};

struct text_reader {
	struct arena *arena;
	const char *name; /* of the file */
	const char *at;
	unsigned line;
	struct err *err;
};

/* The next block; an empty one at the end of the text.  0 or -EINVAL. */
int text_block_next(struct text_reader *reader, struct text_block *ret_block);

/* "NAME:LINE: WHAT 'WHICH'"; returns -EINVAL. */
int text_refuse(
	const struct text_reader *reader, unsigned line, const char *what, const char *which);

/* The value of a key's first line; NULL: it has none. */
const char *text_block_value(const struct text_block *block, const char *key);

/* Every key is one of `keys` (NULL-terminated); those in `many` may stand more than once; the first
 * `needed` are there. */
int text_block_check(const struct text_reader *reader, const struct text_block *block,
	const char *const *keys, unsigned needed, const char *const *many);
