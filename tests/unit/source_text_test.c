/* Where a source file is found again, and what is never opened. */
#include "store_fixture.h"

#include "code/source_text.h"

static struct source_text read_with(struct arena *arena, const char *recorded, const char *rule)
{
	struct source_rules rules = {.at = {rule}, .count = rule ? 1 : 0};
	struct source_text text;

	source_text_read(recorded, &rules, arena, &text);
	return text;
}

static void lines_are_counted_from_one_whatever_ends_them(void **state)
{
	static const char bytes[] = "one\r\n\ttwo\n\nfour";
	arena_auto struct arena arena = {0};
	struct source_text text;

	(void)state;
	write_file("a.c", bytes, sizeof(bytes) - 1);
	text = read_with(&arena, "a.c", NULL);
	assert_null(text.missing);
	assert_int_equal(text.line_count, 4);
	assert_string_equal(text.lines[0], "one");
	assert_string_equal(text.lines[1], "\ttwo");
	assert_string_equal(text.lines[2], "");
	assert_string_equal(text.lines[3], "four");
	assert_true(text.modified_ns > 0);
}

static void a_folder_finds_the_file_by_the_end_of_its_path(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	assert_int_equal(mkdir("src", 0777), 0);
	write_file("src/a.c", "x\n", 2);
	assert_string_equal(read_with(&arena, "/build/src/a.c", ".").path, "./src/a.c");
	assert_string_equal(read_with(&arena, "/build/src/a.c", "src").path, "src/a.c");
	assert_non_null(read_with(&arena, "/build/src/b.c", ".").missing);
	assert_int_equal(unlink("src/a.c"), 0);
}

static void one_folder_stands_for_another(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	write_file("a.c", "x\n", 2);
	assert_string_equal(read_with(&arena, "/build/a.c", "/build=.").path, "./a.c");
	assert_string_equal(read_with(&arena, "/build/a.c", "/build/=.").path, "./a.c");
	assert_non_null(read_with(&arena, "/build2/a.c", "/build=.").missing);
}

static void what_is_missing_or_no_plain_file_says_so(void **state)
{
	arena_auto struct arena arena = {0};
	struct source_text text;

	(void)state;
	text = read_with(&arena, "/nonexistent/a.c", NULL);
	assert_non_null(strstr(text.missing, "/nonexistent/a.c"));
	assert_null(text.path);
	assert_int_equal(text.line_count, 0);
	assert_int_equal(mkfifo("pipe.c", 0666), 0); /* would wait for a writer */
	assert_non_null(read_with(&arena, "pipe.c", NULL).missing);
	assert_non_null(read_with(&arena, "/dev/zero", NULL).missing);
	assert_non_null(read_with(&arena, "", NULL).missing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(lines_are_counted_from_one_whatever_ends_them),
		in_folder(a_folder_finds_the_file_by_the_end_of_its_path),
		in_folder(one_folder_stands_for_another),
		in_folder(what_is_missing_or_no_plain_file_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
