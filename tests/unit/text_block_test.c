/* text_block_test.c - the texts of data/: blocks, rows, words, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/text_block.h"
#include "base/str.h"

static void a_line_that_begins_with_a_blank_goes_on(void **state)
{
	arena_auto struct arena arena = {0};
	struct err err = {0};
	struct text_reader reader = {&arena, "t",
		"# c\n\nkey  a\n\t b\n  # in between\n   c\nother 1\n\n\nkey 2\n", 0, &err};
	struct text_block block;

	(void)state;
	assert_int_equal(text_block_next(&reader, &block), 0);
	assert_int_equal(block.count, 2);
	assert_string_equal(text_block_value(&block, "key"), "a b c");
	assert_int_equal(block.pairs[0].line, 3);
	assert_int_equal(text_block_find(&block, "other")->line, 7);
	assert_null(text_block_find(&block, "third"));
	assert_int_equal(text_block_next(&reader, &block), 0);
	assert_string_equal(text_block_value(&block, "key"), "2");
	assert_int_equal(text_block_next(&reader, &block), 0);
	assert_int_equal(block.count, 0);
}

static void rows_are_lines_whatever_they_begin_with(void **state)
{
	arena_auto struct arena arena = {0};
	struct text_reader reader = {&arena, "t", "\n  one  two\\ words \r\n#\n\tlast", 0, NULL};
	char *row = text_row_next(&reader);

	(void)state;
	assert_int_equal(reader.line, 2);
	assert_string_equal(text_word_next(&row), "one");
	assert_string_equal(text_word_next(&row), "two words");
	assert_null(text_word_next(&row));
	row = text_row_next(&reader);
	assert_int_equal(reader.line, 4);
	assert_string_equal(row, "last");
	assert_null(text_row_next(&reader));
}

static int count_take(void *book, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"a", "b", NULL};

	++*(unsigned *)book;
	return text_block_check(reader, block, keys, 1, "b");
}

static void what_is_doubtful_is_refused_with_file_line_and_reason(void **state)
{
	static const struct {
		const char *text, *says;
		unsigned read;
	} cases[] = {
		{"a 1\n\n go on\n", "t:3: no line is given above 'go on'", 1},
		{"a 1\nb\n", "t:2: missing value for the key 'b'", 0},
		{"a 1\nb 1\nb 2\na 2\n", "t:4: a second key 'a'", 1},
		{"a 1\n\na 1\nc 1\n", "t:4: unknown key 'c'", 2},
		{"a 1\n\nb 1\n", "t:3: the block lacks the key 'a'", 2},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		arena_auto struct arena arena = {0};
		struct err err = {0};
		struct text_reader reader = {&arena, "t", cases[i].text, 0, &err};
		unsigned read = 0;

		assert_int_equal(text_read(&reader, count_take, &read), -EINVAL);
		assert_string_equal(err.text, cases[i].says);
		assert_int_equal(read, cases[i].read);
	}
}

static void the_texts_that_are_compiled_in_are_found_by_name_and_by_folder(void **state)
{
	const struct data_text *text = NULL;
	unsigned count = 0;

	(void)state;
	assert_true(str_starts(data_text("sets.txt"), "#"));
	assert_string_equal(data_text("no such text"), "");
	while ((text = data_text_next("advice/", text)))
		count++;
	assert_int_equal(count, 9);
	assert_null(data_text_next("no such folder/", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_that_begins_with_a_blank_goes_on),
		cmocka_unit_test(rows_are_lines_whatever_they_begin_with),
		cmocka_unit_test(what_is_doubtful_is_refused_with_file_line_and_reason),
		cmocka_unit_test(the_texts_that_are_compiled_in_are_found_by_name_and_by_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
