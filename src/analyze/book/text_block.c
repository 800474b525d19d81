/* text_block.c - see text_block.h.  Each kind of block checks its own keys: a table whose file is
 * wrong would give a wrong number with confidence. */
#include "analyze/text_block.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"

int text_refuse(
	const struct text_reader *reader, unsigned line, const char *what, const char *which)
{
	return err_set(reader->err, ERR_USAGE, EINVAL, "%s:%u: %s '%.100s'", reader->name, line,
		what, which);
}

/* The next line that is no comment, trimmed and copied; NULL at the end of the text. */
static char *line_next(struct text_reader *reader)
{
	while (*reader->at) {
		size_t len = strcspn(reader->at, "\n");
		char *line = str_trim(arena_text(reader->arena, reader->at, len));

		reader->at += len + (reader->at[len] == '\n');
		reader->line++;
		if (*line != '#')
			return line;
	}
	return NULL;
}

int text_block_next(struct text_reader *reader, struct text_block *block)
{
	char *line;

	block->count = 0;
	while ((line = line_next(reader))) {
		size_t len = strcspn(line, " \t");

		if (!*line && block->count)
			return 0;
		if (!*line)
			continue;
		if (!line[len])
			return text_refuse(reader, reader->line, "nothing follows the key", line);
		if (block->count == sizeof(block->pairs) / sizeof(*block->pairs))
			return text_refuse(
				reader, reader->line, "too many lines in the block at", line);
		line[len] = '\0';
		block->pairs[block->count++] =
			(struct text_pair){line, str_trim(line + len + 1), reader->line};
	}
	return 0;
}

const struct text_pair *text_block_find(const struct text_block *block, const char *key)
{
	for (unsigned i = 0; i < block->count; i++)
		if (str_equal(block->pairs[i].key, key))
			return &block->pairs[i];
	return NULL;
}

const char *text_block_value(const struct text_block *block, const char *key)
{
	const struct text_pair *pair = text_block_find(block, key);

	return pair ? pair->value : NULL;
}

/* Whether `word` is one of the words of a line. */
static bool line_has(const char *line, const char *word)
{
	size_t len = strlen(word);

	while (line && *line) {
		size_t next = strcspn(line, " ");

		if (next == len && memcmp(line, word, len) == 0)
			return true;
		line += next + (line[next] == ' ');
	}
	return false;
}

int text_block_check(const struct text_reader *reader, const struct text_block *block,
	const char *const *keys, unsigned needed, const char *repeated)
{
	for (unsigned i = 0; i < block->count; i++) {
		const struct text_pair *pair = &block->pairs[i];
		unsigned k = 0;

		while (keys[k] && !str_equal(keys[k], pair->key))
			k++;
		if (!keys[k])
			return text_refuse(reader, pair->line, "there is no key", pair->key);
		for (unsigned j = 0; j < i; j++)
			if (str_equal(block->pairs[j].key, pair->key) &&
				!line_has(repeated, pair->key))
				return text_refuse(reader, pair->line, "a second key", pair->key);
	}
	for (unsigned k = 0; k < needed; k++)
		if (!text_block_value(block, keys[k]))
			return text_refuse(
				reader, block->pairs[0].line, "the block has no key", keys[k]);
	return 0;
}
