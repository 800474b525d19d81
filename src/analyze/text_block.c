/* text_block.c - see text_block.h. */
#include "text_block.h"

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

int text_block_next(struct text_reader *reader, struct text_block *ret_block)
{
	char *line;

	ret_block->count = 0;
	while ((line = line_next(reader))) {
		size_t len = strcspn(line, " \t");

		if (!*line && ret_block->count)
			return 0;
		if (!*line)
			continue;
		if (!line[len])
			return text_refuse(reader, reader->line, "nothing follows the key", line);
		if (ret_block->count == TEXT_BLOCK_PAIRS)
			return text_refuse(
				reader, reader->line, "too many lines in the block at", line);
		line[len] = '\0';
		ret_block->pairs[ret_block->count++] =
			(struct text_pair){line, str_trim(line + len + 1), reader->line};
	}
	return 0;
}

const char *text_block_value(const struct text_block *block, const char *key)
{
	for (unsigned i = 0; i < block->count; i++)
		if (str_equal(block->pairs[i].key, key))
			return block->pairs[i].value;
	return NULL;
}

static bool is_one_of(const char *key, const char *const *keys)
{
	while (*keys && !str_equal(*keys, key))
		keys++;
	return *keys;
}

int text_block_check(const struct text_reader *reader, const struct text_block *block,
	const char *const *keys, unsigned needed, const char *const *many)
{
	for (unsigned i = 0; i < block->count; i++) {
		const struct text_pair *pair = &block->pairs[i];

		if (!is_one_of(pair->key, keys))
			return text_refuse(reader, pair->line, "there is no key", pair->key);
		for (unsigned j = 0; j < i; j++)
			if (str_equal(block->pairs[j].key, pair->key) &&
				!is_one_of(pair->key, many))
				return text_refuse(reader, pair->line, "a second key", pair->key);
	}
	for (unsigned k = 0; k < needed; k++)
		if (!text_block_value(block, keys[k]))
			return text_refuse(
				reader, block->pairs[0].line, "the block has no key", keys[k]);
	return 0;
}
