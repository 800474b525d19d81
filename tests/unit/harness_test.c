/* harness_test.c - `assay harness`: names, and the text that comes out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/harness.h"

static void a_name_is_an_identifier(void **state)
{
	static const char *const good[] = {"a", "_", "parse_line", "X9", "main", "int"};
	static const char *const bad[] = {"", "9a", "a-b", "a b", "../a", "a.c", "\xc3\xa4", "a\n"};
	char longest[66];

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct err err = {0};

		assert_int_equal(harness_name_check(good[i], &err), 0);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = {0};

		assert_int_equal(harness_name_check(bad[i], &err), -EINVAL);
		assert_true(*err.text && *err.hint);
	}
	memset(longest, 'a', sizeof(longest));
	longest[65] = '\0';
	assert_int_equal(harness_name_check(longest, &(struct err){0}), -EINVAL);
	longest[64] = '\0';
	assert_int_equal(harness_name_check(longest, &(struct err){0}), 0);
}

static void every_mark_is_filled_in(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	for (unsigned lang = HARNESS_C; lang <= HARNESS_RUST; lang++) {
		const char *file = harness_file("parse", lang, &arena);
		struct harness_view view;

		harness_make("parse", lang, file, &arena, &view);
		assert_null(strstr(view.text, "@NAME@"));
		assert_null(strstr(view.text, "@FILE@"));
		assert_null(strstr(view.text, "@BUILD@"));
		assert_non_null(strstr(view.text, "parse_work"));
		assert_non_null(strstr(view.text, view.build));
		assert_non_null(strstr(view.build, file));
	}
}

static void a_path_that_would_end_the_comment_stays_out_of_the_file(void **state)
{
	arena_auto struct arena arena = {0};
	struct harness_view view;

	(void)state;
	harness_make("parse", HARNESS_C, "it's */ here.c", &arena, &view);
	assert_null(strstr(view.text, "*/ here"));
	assert_non_null(strstr(view.text, "/* parse.c - "));
	assert_non_null(strstr(view.build, "-o parse 'it'\\''s */ here.c'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_an_identifier),
		cmocka_unit_test(every_mark_is_filled_in),
		cmocka_unit_test(a_path_that_would_end_the_comment_stays_out_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
