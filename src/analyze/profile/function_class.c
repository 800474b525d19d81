/* function_class.c - a list of patterns, tried in order.
 *
 * There are a few hundred patterns and some thousand names in a profile: a search is fast enough,
 * the caller keeps what it found for each name. */
#include "analyze/function_class.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/text_block.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

struct pattern {
	const char *text; /* without its stars */
	size_t len;
	bool any_before, any_behind, kernel;
	enum function_class class;
};

struct function_book {
	struct arena texts;
	vec_of(struct pattern) patterns;
};

static const char *const words[FUNCTION_CLASSES] = {
	[FUNCTION_NO_CLASS] = "",
	[FUNCTION_ALLOCATOR] = "allocator",
	[FUNCTION_COLLECTOR] = "collector",
	[FUNCTION_COPY] = "copy",
	[FUNCTION_LOCK] = "lock",
	[FUNCTION_SPIN] = "spin",
	[FUNCTION_SYNC] = "sync",
	[FUNCTION_IO] = "io",
	[FUNCTION_NETWORK] = "network",
	[FUNCTION_SLEEP] = "sleep",
	[FUNCTION_MEMORY] = "memory",
	[FUNCTION_FAULT] = "fault",
	[FUNCTION_MAP] = "map",
	[FUNCTION_FUTEX] = "futex",
	[FUNCTION_BLOCK] = "block",
	[FUNCTION_SCHED] = "sched",
	[FUNCTION_ENTRY] = "entry",
	[FUNCTION_INTERRUPT] = "interrupt",
	[FUNCTION_WRAPPER] = "wrapper",
	[FUNCTION_RELEASE] = "release",
};

const char *function_class_word(enum function_class class)
{
	return words[class];
}

static void pattern_add(
	struct function_book *book, enum function_class class, bool kernel, const char *text)
{
	size_t len = strlen(text);
	struct pattern pattern = {.class = class, .kernel = kernel};

	pattern.any_before = len > 1 && *text == '*';
	pattern.any_behind = len > 1 && text[len - 1] == '*';
	pattern.len = len - pattern.any_before - pattern.any_behind;
	pattern.text = arena_text(&book->texts, text + pattern.any_before, pattern.len);
	vec_push(&book->patterns, pattern);
}

static int row_take(struct function_book *book, struct text_reader *reader, char *row)
{
	char *class_word = text_word_next(&row), *side = text_word_next(&row), *name;
	unsigned class = str_index(words, FUNCTION_CLASSES, class_word);

	if (class == FUNCTION_CLASSES)
		return text_refuse(reader, reader->line, "unknown class", class_word);
	if (!side || (!str_equal(side, "user") && !str_equal(side, "kernel")))
		return text_refuse(reader, reader->line,
			"expected user or kernel after the class, not", side ? side : "");
	while ((name = text_word_next(&row)))
		pattern_add(book, (enum function_class) class, str_equal(side, "kernel"), name);
	return 0;
}

int function_book_parse(
	const char *name, const char *text, struct function_book **ret_book, struct err *err)
{
	struct function_book *book = mem_new(1, sizeof(*book));
	struct text_reader reader = {&book->texts, name, text, 0, err};
	char *row;
	int r = 0;

	while (r == 0 && (row = text_row_next(&reader)))
		r = row_take(book, &reader, row);
	if (r == 0)
		*ret_book = book;
	else
		function_book_close(book);
	return r;
}

struct function_book *function_book_open(void)
{
	struct function_book *book = NULL;
	struct err err = {0};

	(void)function_book_parse("function.classes", data_text("function.classes"), &book, &err);
	return book ? book : mem_new(1, sizeof(*book)); /* a test reads the text */
}

void function_book_close(struct function_book *book)
{
	if (!book)
		return;
	arena_done(&book->texts);
	vec_done(&book->patterns);
	free(book);
}

static bool pattern_matches(const struct pattern *pattern, const char *name, size_t len)
{
	if (len < pattern->len)
		return false;
	if (pattern->any_before && pattern->any_behind)
		return memmem(name, len, pattern->text, pattern->len);
	if (pattern->any_before)
		return memcmp(name + len - pattern->len, pattern->text, pattern->len) == 0;
	return (pattern->any_behind || len == pattern->len) &&
	       memcmp(name, pattern->text, pattern->len) == 0;
}

/* The length of the name without arguments and version. */
static size_t bare_length(const char *name)
{
	const char *open = strchr(name, '('), *at = strchr(name, '@');

	if (open && open > name && open[-1] != '.') /* Go: runtime.(*mheap).alloc */
		return (size_t)(open - name);
	if (at && at > name) /* memcpy@GLIBC_2.14 */
		return (size_t)(at - name);
	return strlen(name);
}

bool function_gives_back(const struct function_book *book, const char *name)
{
	size_t bare = bare_length(name);

	vec_foreach (const struct pattern, pattern, &book->patterns)
		if (pattern->class == FUNCTION_RELEASE && pattern_matches(pattern, name, bare))
			return true;
	return false;
}

enum function_class function_class_of(
	const struct function_book *book, const char *name, bool kernel)
{
	size_t bare = bare_length(name);

	vec_foreach (const struct pattern, pattern, &book->patterns)
		if (pattern->kernel == kernel && pattern_matches(pattern, name, bare))
			return pattern->class;
	return FUNCTION_NO_CLASS;
}
