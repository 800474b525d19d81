/* words_test.c - a command line is split as a shell splits it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/words.h"
#include "render/shorten.h"

/* The words with a bar behind each. */
static void split(const char *text, struct str *out)
{
	arena_auto struct arena arena = {0};
	struct err err = {0};
	char **words;
	size_t count;

	str_clear(out);
	if (words_split(text, &arena, &words, &count, &err) < 0) {
		str_addf(out, "refused: %s", err.text);
		assert_true(err.hint[0]);
		return;
	}
	for (size_t i = 0; i < count; i++)
		str_addf(out, "%s|", words[i]);
	assert_null(words[count]);
}

static void words_are_those_of_a_shell(void **state)
{
	static const char *const cases[][2] = {
		{"sleep 0.1", "sleep|0.1|"},
		{"  a\t b\n c  ", "a|b|c|"},
		{"a 'b c' \"d e\"", "a|b c|d e|"},
		{"a'b'\"c\"d", "abcd|"},
		{"a '' \"\"", "a|||"},
		{"a\\ b \\'", "a b|'|"},
		{"\"\\$ \\n \\\" \\\\\"", "$ \\n \" \\|"},
		{"'a\\'", "a\\|"},
		{"a\\\nb", "ab|"},
		{"a \\\n b", "a|b|"},
		{"$HOME *.c ~", "$HOME|*.c|~|"},
		{"$'a\\nb\\'c' x$'\\033[2J\\\\'y $'\\q'", "a\nb'c|x\033[2J\\y|\\q|"},
		{"\"$'a'\" $", "$'a'|$|"},
	};
	str_auto struct str out = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		split(cases[i][0], &out);
		assert_string_equal(str_text(&out), cases[i][1]);
	}
}

static void open_quotes_and_empty_commands_are_refused(void **state)
{
	static const char *const cases[][2] = {
		{"a 'b", "refused: a ' is not closed: a 'b"},
		{"\"", "refused: a \" is not closed: \""},
		{"$'a\\'", "refused: a ' is not closed: $'a\\'"},
		{"a\\", "refused: the command ends with a backslash: a\\"},
		{"", "refused: a command is empty"},
		{" \n\t", "refused: a command is empty"},
		{"\\\n", "refused: a command is empty"},
	};
	str_auto struct str out = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		split(cases[i][0], &out);
		assert_string_equal(str_text(&out), cases[i][1]);
	}
}

static void quoted_words_come_back_as_they_were(void **state)
{
	static const char *const words[] = {"a b", "it's", "", "\\", "\"$x\"", "new\nline",
		"\033[2J\t'\\\177", "\0019", "\xff"};
	str_auto struct str out = {0}, line = {0}, wanted = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		word_quote(words[i], &line);
		str_add_char(&line, ' ');
		str_addf(&wanted, "%s|", words[i]);
	}
	for (size_t i = 0; i < line.len; i++)
		assert_false((unsigned char)line.at[i] < ' '); /* one line, no escape */
	split(str_text(&line), &out);
	assert_string_equal(str_text(&out), str_text(&wanted));
}

static void long_command_lines_keep_their_start(void **state)
{
	str_auto struct str out = {0};

	(void)state;
	words_shorten("sh -c 'a\nb'", 20, &out);
	assert_string_equal(str_text(&out), "sh -c 'a b'");
	str_clear(&out);
	words_shorten("./program one two three", 12, &out);
	assert_string_equal(str_text(&out), "./program ..");
	str_clear(&out);
	words_shorten("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4, &out);
	assert_string_equal(str_text(&out), "\xc3\xa9 ..");
}

static void what_only_a_shell_understands_is_noticed(void **state)
{
	(void)state;
	assert_int_equal(words_need_shell("a | b"), '|');
	assert_int_equal(words_need_shell("echo \"$HOME\""), '$');
	assert_int_equal(words_need_shell("ls *.c"), '*');
	assert_int_equal(words_need_shell("echo '$HOME | *' \\$x"), 0);
	assert_int_equal(words_need_shell("sleep 0.1"), 0);
	assert_int_equal(words_need_shell("echo $'a\\'|b'"), 0);
	assert_int_equal(words_need_shell("echo $'a' | b"), '|');
}

static void words_are_quoted_where_a_shell_would_read_them(void **state)
{
	str_auto struct str plain = {0}, odd = {0}, empty = {0};

	(void)state;
	word_quote("std::sort", &plain);
	assert_string_equal(plain.at, "std::sort");
	word_quote("f(int) it's", &odd);
	assert_string_equal(odd.at, "'f(int) it'\\''s'");
	word_quote("", &empty);
	assert_string_equal(empty.at, "''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_those_of_a_shell),
		cmocka_unit_test(open_quotes_and_empty_commands_are_refused),
		cmocka_unit_test(quoted_words_come_back_as_they_were),
		cmocka_unit_test(what_only_a_shell_understands_is_noticed),
		cmocka_unit_test(long_command_lines_keep_their_start),
		cmocka_unit_test(words_are_quoted_where_a_shell_would_read_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
