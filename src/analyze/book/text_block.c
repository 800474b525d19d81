/* text_block.c - see text_block.h.  Each kind of block checks its own keys: a table whose file is
 * wrong would give a wrong number with confidence. */
#include "analyze/text_block.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "data/texts.h"

const char *data_text(const char *name)
{
	for (const struct data_text *text = data_texts; text->name; text++)
		if (str_equal(text->name, name))
			return text->text;
	return "";
}

const struct data_text *data_text_next(const char *prefix, const struct data_text *last)
{
	for (last = last ? last + 1 : data_texts; last->name; last++)
		if (str_starts(last->name, prefix))
			return last;
	return NULL;
}

int text_refuse(
	const struct text_reader *reader, unsigned line, const char *what, const char *which)
{
	return err_set(reader->err, ERR_USAGE, EINVAL, "%s:%u: %s '%.100s'", reader->name, line,
		what, which);
}

/* The next line, copied; NULL at the end of the text. */
static char *line_next(struct text_reader *reader)
{
	size_t len = strcspn(reader->at, "\n");
	char *line;

	if (!*reader->at)
		return NULL;
	line = arena_text(reader->arena, reader->at, len);
	reader->at += len + (reader->at[len] == '\n');
	reader->line++;
	return line;
}

char *text_row_next(struct text_reader *reader)
{
	char *line;

	while ((line = line_next(reader))) {
		line = str_trim(line);
		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

char *text_word_next(char **rest)
{
	char *from = *rest + strspn(*rest, " \t"), *at = from, *to = from;

	if (!*from)
		return NULL;
	while (*at && *at != ' ' && *at != '\t') {
		if (*at == '\\' && at[1])
			at++;
		*to++ = *at++;
	}
	*rest = *at ? at + 1 : at;
	*to = '\0';
	return from;
}

static int pair_add(struct text_reader *reader, struct text_block *block, char *line)
{
	size_t len = strcspn(line, " \t");

	if (!line[len])
		return text_refuse(reader, reader->line, "missing value for the key", line);
	if (block->count == sizeof(block->pairs) / sizeof(*block->pairs))
		return text_refuse(reader, reader->line, "too many lines in the block at", line);
	line[len] = '\0';
	block->pairs[block->count++] =
		(struct text_pair){line, str_trim(line + len + 1), reader->line};
	return 0;
}

static int pair_go_on(struct text_reader *reader, struct text_block *block, const char *line)
{
	struct text_pair *pair;

	if (!block->count)
		return text_refuse(reader, reader->line, "no line is given above", line);
	pair = &block->pairs[block->count - 1];
	pair->value = arena_format(reader->arena, "%s %s", pair->value, line);
	return 0;
}

int text_block_next(struct text_reader *reader, struct text_block *block)
{
	char *line;
	int r = 0;

	block->count = 0;
	while (r == 0 && (line = line_next(reader))) {
		bool goes_on = *line == ' ' || *line == '\t';

		line = str_trim(line);
		if (!*line && block->count)
			return 0;
		if (!*line || *line == '#')
			continue;
		r = goes_on ? pair_go_on(reader, block, line) : pair_add(reader, block, line);
	}
	return r;
}

int text_read(struct text_reader *reader, text_take *take, void *book)
{
	struct text_block block;
	int r;

	while ((r = text_block_next(reader, &block)) == 0 && block.count) {
		r = take(book, reader, &block);
		if (r < 0)
			return r;
	}
	return r;
}

int data_read(const char *prefix, struct arena *arena, text_take *take, void *book, struct err *err)
{
	const struct data_text *text = NULL;
	int r = 0;

	while (r == 0 && (text = data_text_next(prefix, text))) {
		struct text_reader reader = {arena, text->name, text->text, 0, err};

		r = text_read(&reader, take, book);
	}
	return r;
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
			return text_refuse(reader, pair->line, "unknown key", pair->key);
		for (unsigned j = 0; j < i; j++)
			if (str_equal(block->pairs[j].key, pair->key) &&
				!line_has(repeated, pair->key))
				return text_refuse(reader, pair->line, "a second key", pair->key);
	}
	for (unsigned k = 0; k < needed; k++)
		if (!text_block_value(block, keys[k]))
			return text_refuse(
				reader, block->pairs[0].line, "the block lacks the key", keys[k]);
	return 0;
}

int text_number(const struct text_reader *reader, const struct text_pair *pair, double *ret_number)
{
	char *end;

	*ret_number = strtod(pair->value, &end);
	if (end == pair->value || *end || !isfinite(*ret_number))
		return text_refuse(reader, pair->line, "not a number:", pair->value);
	return 0;
}
