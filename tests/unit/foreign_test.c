/* Texts of others on a screen, in Markdown and for GitHub's runner. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "render/export.h"
#include "render/markdown.h"

static void what_would_steer_or_hide_is_not_shown(void **state)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{"gr\xc3\xb6\xc3\x9f"
		 "e \xe6\x97\xa5 \xf0\x9f\x94\xa5",
			"gr\xc3\xb6\xc3\x9f"
			"e \xe6\x97\xa5 \xf0\x9f\x94\xa5"},
		{"a\033[2J\177", "a?[2J?"},
		{"\xc2\x9b"
		 "31m\x9b",
			"?31m?"}, /* C1, also as a byte */
		/* NOLINTNEXTLINE(misc-misleading-bidirectional) */
		{"\xe2\x80\xae"
		 "exe\xe2\x81\xa6",
			"?exe?"}, /* override, isolate */
		{"a\xe2\x80\x8b"
		 "b\xef\xbb\xbf",
			"a?b?"},		  /* zero width */
		{"\xe2\x80\x8d", "\xe2\x80\x8d"}, /* the joiner is part of words */
		{"\xf3\xa0\x81\x81", "?"},	  /* a tag */
		{"a\nb\r\xe2\x80\xa8"
		 "c\xc2\x85"
		 "d\te",
			"a b  c d\te"},
		{"\xc3(\xe2\x82", "?(??"}, /* cut */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		str_auto struct str out = {0}, flat = {0};

		str_add_line(&out, cases[i].text, strlen(cases[i].text));
		assert_string_equal(out.at, cases[i].line);
		str_add(&flat, cases[i].text);
		str_flatten(flat.at);
		assert_null(strpbrk(flat.at, "\n\t\033"));
		assert_int_equal(strlen(flat.at), out.len);
	}
}

static void __attribute__((format(printf, 2, 3))) add(struct str *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	str_filterv(out, str_add_line, format, args);
	va_end(args);
}

static void only_the_arguments_of_a_format_are_foreign(void **state)
{
	str_auto struct str out = {0}, all = {0};
	char every[256];

	(void)state;
	add(&out, "%d%%\n[%-4s|%.2s|%*s]\n", 7, "a\nb", "xyz", 3, "\001");
	assert_string_equal(out.at, "7%\n[a b |xy|  ?]\n");
	for (unsigned i = 0; i < 255; i++)
		every[i] = (char)(i + 1);
	every[255] = '\0';
	add(&all, "%s\n", every); /* there is no byte to mark it with */
	assert_null(strpbrk(all.at, "\n\033"));
	assert_non_null(strstr(all.at, "abc"));
	str_clear(&out);
	add(&out, "%s", "");
	assert_string_equal(str_text(&out), "");
}

static void a_name_in_sql_is_the_same_name(void **state)
{
	str_auto struct str plain = {0}, odd = {0};

	(void)state;
	str_add_sql(&plain, "it's gr\xc3\xb6");
	assert_string_equal(plain.at, "'it''s gr\xc3\xb6'");
	str_add_sql(&odd, "a\xe2\x80\xae\n'");
	assert_string_equal(odd.at, "CAST(X'61e280ae0a27' AS TEXT)");
}

static void markdown_shows_a_sentence_as_it_is(void **state)
{
	static const struct {
		const char *text, *cell;
	} cases[] = {
		{"plain_words stay (top >= 50 %), a < b > c & d * e.",
			"plain_words stay (top >= 50 %), a < b > c & d * e."},
		{"call std::map<int, x>::find(), twice", "call `std::map<int, x>::find()`, twice"},
		{"operator<<() first", "operator<<() first"},
		{"run `assay ab` (`x|y`)", "run `assay ab` (`x\\|y`)"},
		{"<img src=x>", "`<img src=x>`"},
		{"`<b>", "`` `<b> ``"},
		{"`a`b`<i>", "`a` `` b`<i> ``"},
		{"`a``b`<i> c`", "`` `a` `` `b` `<i>` `` c` ``"},
		{"a\\|b", "`a\\`&#124;`b`"},
		{"> quote", "\\> quote"},
		{"@you me@here #12 C# www.a.b http://c", "`@you` `me@here` `#12` C# `www.a.b` "
							 "`http://c`"},
		{"__init__ [a](b) *x* &lt; ~D", "`__init__` `[a](b)` `*x*` `&lt`; `~D`"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		str_auto struct str out = {0};

		markdown_add_cells(&out, "| %s |\n", cases[i].text);
		assert_int_equal(strncmp(out.at, "| ", 2), 0);
		out.at[out.len - 3] = '\0';
		assert_string_equal(out.at + 2, cases[i].cell);
	}
}

/* The bars that GitHub sees in a row of a table: a backslash takes a sign behind it along. */
static unsigned bars(const char *row)
{
	unsigned count = 0;

	for (; *row; row++)
		if (*row == '\\' && ispunct((unsigned char)row[1]))
			row++;
		else
			count += *row == '|';
	return count;
}

/* What a text has left without its spans of code. */
static void outside_code(const char *text, struct str *out)
{
	while (*text) {
		size_t ticks = strspn(text, "`");
		const char *end = text + ticks;

		while (ticks && *end && strspn(end, "`") != ticks)
			end += *end == '`' ? strspn(end, "`") : 1;
		if (ticks && *end)
			str_add_char(out, ' '), text = end + ticks;
		else if (ticks)
			str_add_bytes(out, text, ticks), text += ticks;
		else
			str_add_char(out, *text++);
	}
}

static bool is_markup(const char *text)
{
	for (; *text; text++)
		if (strchr("`@[]~|$", *text) || strncmp(text, "://", 3) == 0 ||
			(*text == '<' && (isalpha((unsigned char)text[1]) ||
						 (text[1] && strchr("/!?", text[1])))) ||
			(*text == '*' && text[1] != ' ') ||
			(*text == '&' && strncmp(text, "&#124;", 6) != 0 && text[1] != ' ' &&
				isalnum((unsigned char)text[1])))
			return true;
	return false;
}

static void no_text_becomes_markup(void **state)
{
	static const char signs[] = "``||\\\\<<>ab/!*[](@&#_~$.: \n";
	uint32_t chance = 1;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		str_auto struct str row = {0}, left = {0};
		char text[24] = "";

		for (unsigned i = 0; i < sizeof(text) - 1; i++) {
			chance = chance * 1664525 + 1013904223;
			text[i] = signs[(chance >> 16) % (sizeof(signs) - 1)];
		}
		text[chance >> 27 & 15] = '\0';
		markdown_add_cells(&row, "| %s %s |\n", text, text);
		outside_code(row.at, &left);
		left.at[strcspn(left.at, "\n")] = '\0';
		left.at[left.len - 3] = '\0'; /* the bars of the row itself */
		if (bars(row.at) != 2 || is_markup(left.at + 1))
			fail_msg("%s became %s", text, row.at);
	}
}

static void spans_of_code_stay_apart(void **state)
{
	str_auto struct str out = {0};

	(void)state;
	markdown_code(&out, "a", false);
	markdown_code(&out, "b`<i>", false); /* next to it, the ticks would be those of one */
	markdown_code(&out, "", false);
	assert_string_equal(out.at, "`a` `` b`<i> `` ` `");
}

static void a_screen_holds_no_command_for_the_runner(void **state)
{
	str_auto struct str text = {0}, out = {0};

	(void)state;
	str_add(&text, "::error::x\n  ::stop-commands::y\na::b ##[group]\n\n::");
	github_disarm(&text, &out);
	assert_string_equal(out.at, ": :error::x\n  : :stop-commands::y\na::b # #[group]\n\n: :");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_would_steer_or_hide_is_not_shown),
		cmocka_unit_test(only_the_arguments_of_a_format_are_foreign),
		cmocka_unit_test(a_name_in_sql_is_the_same_name),
		cmocka_unit_test(markdown_shows_a_sentence_as_it_is),
		cmocka_unit_test(no_text_becomes_markup),
		cmocka_unit_test(spans_of_code_stay_apart),
		cmocka_unit_test(a_screen_holds_no_command_for_the_runner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
