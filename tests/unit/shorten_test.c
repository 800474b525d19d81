/* shorten_test.c - long names in narrow places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "render/shorten.h"

static void assert_short(const char *name, unsigned columns, const char *expected)
{
	str_auto struct str text = {0};

	name_shorten(name, columns, &text);
	assert_string_equal(str_text(&text), expected);
}

static void a_name_that_fits_is_left_alone(void **state)
{
	(void)state;
	assert_short("main", 8, "main");
	assert_short("f(int)", 8, "f(int)");
	assert_short("", 8, "");
}

static void arguments_go_first_then_template_arguments(void **state)
{
	const char *name = "std::map<int, long>::find(int const&) const";

	(void)state;
	assert_short(name, 40, "std::map<int, long>::find(..) const");
	assert_short(name, 30, "std::map<..>::find(..) const");
	assert_short("(anonymous namespace)::step(int, int, int)", 36,
		"(anonymous namespace)::step(..)");
}

static void operators_are_no_brackets(void **state)
{
	(void)state;
	assert_short("ore::operator<<(std::ostream&, ore::lump const&)", 30, "ore::operator<<(..)");
	assert_short(
		"bag<int>::operator()(int, int, int) const", 34, "bag<int>::operator()(..) const");
	assert_short("list<item>::operator->(thing const&) const", 32,
		"list<item>::operator->(..) const");
}

static void what_is_still_too_long_loses_its_middle(void **state)
{
	(void)state;
	assert_short("a_very_long_name_of_a_function", 20, "a_very_.._a_function");
	assert_short("a_very_long_name", 3, "a_..name"); /* never less than 8 */
}

static void characters_are_not_cut_in_halves(void **state)
{
	(void)state;
	assert_short("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 8,
		"\u00e4\u00e4..\u00e4\u00e4\u00e4\u00e4");
}

static void brackets_that_do_not_match_do_no_harm(void **state)
{
	(void)state;
	assert_short("a<b<c<d<e<f<g<h<i", 10, "a<b..g<h<i");
	assert_short(">>>>))))((((<<<<", 10, ">>>..(<<<<");
	assert_short("operator", 8, "operator");
}

static void a_path_keeps_its_end(void **state)
{
	str_auto struct str text = {0}, whole = {0};

	(void)state;
	path_shorten("/usr/lib/x86_64-linux-gnu/libclang-cpp.so.14", 24, &text);
	assert_string_equal(text.at, "../libclang-cpp.so.14");
	path_shorten("libc.so.6", 24, &whole);
	assert_string_equal(whole.at, "libc.so.6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_fits_is_left_alone),
		cmocka_unit_test(arguments_go_first_then_template_arguments),
		cmocka_unit_test(operators_are_no_brackets),
		cmocka_unit_test(what_is_still_too_long_loses_its_middle),
		cmocka_unit_test(characters_are_not_cut_in_halves),
		cmocka_unit_test(brackets_that_do_not_match_do_no_harm),
		cmocka_unit_test(a_path_keeps_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
