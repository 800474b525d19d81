/* base_test.c - the ground everything stands on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/io.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/stats.h"
#include "base/str.h"
#include "base/stream.h"
#include "base/vec.h"
#include "folder.h"

/* ---- str ---- */

static void a_str_grows_and_stays_terminated(void **state)
{
	str_auto struct str str = {0};

	(void)state;
	assert_string_equal(str_text(&str), "");
	for (unsigned i = 0; i < 1000; i++)
		str_addf(&str, "%u,", i % 10);
	str_add_repeat(&str, '-', 5);
	str_add_char(&str, '!');
	str_add_bytes(&str, "a\0b", 3);
	assert_int_equal(str.len, 2009);
	assert_int_equal(strlen(str.at), 2007); /* up to the NUL that was added */
	assert_int_equal(str.at[str.len], '\0');
	assert_true(str_starts(str.at, "0,1,2,"));
	assert_true(str_ends(str.at, ",-----!a"));
	str_clear(&str);
	assert_string_equal(str_text(&str), "");
	assert_int_equal(str.len, 0);
}

static void text_questions_have_the_plain_answers(void **state)
{
	char blanks[] = " \t two words\n", nothing[] = "  ";

	(void)state;
	assert_string_equal(str_trim(blanks), "two words");
	assert_string_equal(str_trim(nothing), "");
	assert_true(str_ends("a.part", ".part"));
	assert_false(str_ends("part", ".part"));
	assert_true(str_starts("abc", ""));
	assert_false(str_starts("ab", "abc"));
}

static void a_number_is_whole_or_refused(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t value;
	} cases[] = {{"0", 0, 0}, {"42", 0, 42}, {"0x2A", 0, 42},
		{"18446744073709551615", 0, UINT64_MAX}, {"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0}, {"-1", -EINVAL, 0}, {"+1", -EINVAL, 0}, {" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0}, {"1k", -EINVAL, 0}, {"0x", -EINVAL, 0}, {"0xg", -EINVAL, 0},
		{"0x0x1", -EINVAL, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t value = 7;

		assert_int_equal(str_to_u64(cases[i].text, &value), cases[i].result);
		assert_int_equal(value, cases[i].result ? 7 : cases[i].value);
	}
}

static void a_duration_has_a_known_unit_or_is_refused(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns; /* 0: refused */
	} cases[] = {{"25s", 25000000000}, {"2m", 120000000000}, {"500ms", 500000000},
		{"10us", 10000}, {"3h", 10800000000000}, {"7ns", 7}, {"1.5", 1500000000},
		{".5s", 500000000}, {"1e3ms", 1000000000}, {"", 0}, {"s", 0}, {"-1s", 0},
		{"1 s", 0}, {"1d", 0}, {"1sec", 0}, {"0x10s", 0}, {"1e300h", 0}, {"nan", 0},
		{"inf", 0}, {".", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t ns = 0;
		int r = str_to_duration(cases[i].text, &ns);

		assert_int_equal(r, cases[i].ns ? 0 : -EINVAL);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void the_nearest_word_is_the_one_that_was_meant(void **state)
{
	static const char *const words[] = {"record", "report", "stat", "annotate", "env", NULL};
	char longest[100];

	(void)state;
	assert_string_equal(str_nearest("recrod", words), "record");
	assert_string_equal(str_nearest("sta", words), "stat");
	assert_string_equal(str_nearest("stats", words), "stat");
	assert_string_equal(str_nearest("anno", words), "annotate");
	assert_string_equal(str_nearest("repotr", words), "report");
	assert_null(str_nearest("flamegraph", words));
	assert_null(str_nearest("xyz", words));
	memset(longest, 'r', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(str_nearest(longest, words));
}

/* ---- json ---- */

static json_t *parse(const struct str *text)
{
	json_error_t error;
	json_t *document = json_loadb(text->at, text->len, JSON_ALLOW_NUL, &error);

	if (!document)
		print_message("# %s in: %s\n", error.text, text->at);
	assert_non_null(document);
	return document;
}

static void write_document(struct jsonw *w)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "text", "a \"quoted\" \\ back\nslash\ttab\x01\x7f\x1b[31m");
	jsonw_put_text(w, "none", NULL);
	jsonw_put_u64(w, "large", 9223372036854775807u);
	jsonw_put_i64(w, "negative", INT64_MIN);
	jsonw_put_double(w, "tenth", 0.1);
	jsonw_put_double(w, "nan", (double)NAN);
	jsonw_put_double(w, "infinite", -(double)INFINITY);
	jsonw_put_bool(w, "yes", true);
	jsonw_put_missing(w, "value", "no PMU here");
	jsonw_key(w, "empty");
	jsonw_begin_array(w);
	jsonw_end_array(w);
	jsonw_key(w, "nested");
	jsonw_begin_array(w);
	jsonw_begin_object(w);
	jsonw_end_object(w);
	jsonw_begin_array(w);
	jsonw_u64(w, 1);
	jsonw_null(w);
	jsonw_end_array(w);
	jsonw_text_bytes(w, "a\0b", 3);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void a_json_document_reads_back_as_written(void **state)
{
	(void)state;
	for (unsigned compact = 0; compact < 2; compact++) {
		str_auto struct str text = {0};
		struct jsonw w = {.out = &text, .compact = compact};
		json_t *document, *nested;

		write_document(&w);
		document = parse(&text);
		assert_string_equal(json_string_value(json_object_get(document, "text")),
			"a \"quoted\" \\ back\nslash\ttab\x01\x7f\x1b[31m");
		assert_true(json_is_null(json_object_get(document, "none")));
		assert_true(json_integer_value(json_object_get(document, "large")) == INT64_MAX);
		assert_true(json_integer_value(json_object_get(document, "negative")) == INT64_MIN);
		assert_true(json_real_value(json_object_get(document, "tenth")) == 0.1);
		assert_true(json_is_null(json_object_get(document, "nan")));
		assert_true(json_is_null(json_object_get(document, "infinite")));
		assert_true(json_is_true(json_object_get(document, "yes")));
		assert_true(json_is_null(json_object_get(document, "value")));
		assert_string_equal(json_string_value(json_object_get(document, "value_reason")),
			"no PMU here");
		assert_int_equal(json_array_size(json_object_get(document, "empty")), 0);
		nested = json_object_get(document, "nested");
		assert_int_equal(json_array_size(nested), 3);
		assert_int_equal(json_string_length(json_array_get(nested, 2)), 3);
		assert_int_equal(strchr(text.at, '\n') == NULL, compact);
		json_decref(document);
	}
}

static void what_is_not_known_is_null_with_its_reason(void **state)
{
	static const char *const names[] = {"a", "b"};
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text, .compact = true};

	(void)state;
	jsonw_begin_object(&w);
	jsonw_put_number(&w, "n", 2, "why");
	jsonw_put_number(&w, "no_n", (double)INFINITY, "why");
	jsonw_put_text_or(&w, "t", "", "why");
	jsonw_put_text_or(&w, "no_t", str_or_null(""), "why");
	jsonw_put_count(&w, "c", 3, "why");
	jsonw_put_count(&w, "no_c", 0, "why");
	jsonw_put_known(&w, "k", true, 0, "why");
	jsonw_put_known(&w, "no_k", false, 4, "why");
	jsonw_put_known_number(&w, "d", true, 0.5, "why");
	jsonw_put_known_number(&w, "no_d", false, 0.5, "why");
	jsonw_open_object(&w, "o");
	jsonw_put_texts(&w, "names", names, 2);
	jsonw_end_object(&w);
	jsonw_end_object(&w);
	assert_string_equal(str_text(&text),
		"{\"n\":2,\"no_n\":null,\"no_n_reason\":\"why\",\"t\":\"\",\"no_t\":null,"
		"\"no_t_reason\":\"why\",\"c\":3,\"no_c\":null,\"no_c_reason\":\"why\","
		"\"k\":0,\"no_k\":null,\"no_k_reason\":\"why\",\"d\":0.5,\"no_d\":null,"
		"\"no_d_reason\":\"why\",\"o\":{\"names\":[\"a\",\"b\"]}}");
}

static void json_stays_valid_whatever_bytes_come_in(void **state)
{
	static const struct {
		const char *bytes, *expected;
	} cases[] = {{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"}, /* UTF-8 passes */
		{"\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5"},
		{"a\xff"
		 "b",
			"a\xef\xbf\xbd"
			"b"},
		{"\xc3", "\xef\xbf\xbd"},				  /* cut */
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},		  /* overlong */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}};
	unsigned seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		str_auto struct str text = {0};
		struct jsonw w = {.out = &text};
		json_t *document;

		jsonw_begin_array(&w);
		jsonw_text(&w, cases[i].bytes);
		jsonw_end_array(&w);
		document = parse(&text);
		assert_string_equal(
			json_string_value(json_array_get(document, 0)), cases[i].expected);
		json_decref(document);
	}
	for (unsigned round = 0; round < 2000; round++) {
		str_auto struct str text = {0};
		struct jsonw w = {.out = &text};
		char bytes[24];

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (char)rand_r(&seed);
		jsonw_begin_array(&w);
		jsonw_text_bytes(&w, bytes, sizeof(bytes));
		jsonw_end_array(&w);
		json_decref(parse(&text));
	}
}

static void a_json_number_reads_back_the_same(void **state)
{
	static const double values[] = {0, -0.0, 1, 1.0 / 3, 1e-300, 1.7976931348623157e308, 5e-324,
		123456789012345680.0, 0.1 + 0.2, -2.5};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		str_auto struct str text = {0};
		struct jsonw w = {.out = &text};

		jsonw_double(&w, values[i]);
		assert_true(strtod(text.at, NULL) == values[i]);
	}
}

/* ---- arena, map, vec ---- */

static void an_arena_hands_out_zeroed_aligned_pieces(void **state)
{
	static const size_t sizes[] = {0, 1, 7, 16, 100, 4096, 5000, 3 << 20, 1};
	arena_auto struct arena arena = {0};
	unsigned char *pieces[9];

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		pieces[i] = arena_take(&arena, sizes[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(pieces[i][j], 0);
		memset(pieces[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < 9; i++) /* nobody wrote into a neighbour */
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(pieces[i][j], i + 1);
	assert_string_equal(arena_text(&arena, "abcdef", 3), "abc");
	assert_string_equal(arena_format(&arena, "%d-%s", 5, "x"), "5-x");
	arena_done(&arena);
	assert_string_equal(arena_text(&arena, "again", 5), "again");
}

static void a_map_finds_every_key_and_no_other(void **state)
{
	struct map map = {0};
	uint32_t value = 0;

	(void)state;
	assert_false(map_get(&map, "", 0, &value));
	for (uint64_t i = 0; i < 50000; i++)
		map_put(&map, &i, sizeof(i), (uint32_t)i * 3);
	map_put(&map, "", 0, 9);
	map_put(&map, "a\0b", 3, 1);
	map_put(&map, "a\0c", 3, 2);
	assert_int_equal(map.count, 50003);
	for (uint64_t i = 0; i < 50000; i++) {
		assert_true(map_get(&map, &i, sizeof(i), &value));
		assert_int_equal(value, i * 3);
	}
	for (uint64_t i = 50000; i < 60000; i++)
		assert_false(map_get(&map, &i, sizeof(i), &value));
	assert_true(map_get(&map, "a\0c", 3, &value) && value == 2);
	assert_true(map_get(&map, "", 0, &value) && value == 9);
	map_put(&map, "a\0c", 3, 7); /* replaced, not added */
	assert_true(map_get(&map, "a\0c", 3, &value) && value == 7);
	assert_int_equal(map.count, 50003);
	map_done(&map);
	assert_false(map_get(&map, "", 0, &value));
}

static void the_public_hash_never_changes(void **state)
{
	(void)state;
	assert_true(map_hash("", 0) == 0xfdbdf6ac4fc52e7f);
	assert_true(map_hash("assay", 5) == 0xc87f90edb3b1ae11);
}

static void a_vec_keeps_its_items(void **state)
{
	vec_of(uint64_t) items = {0};
	uint64_t sum = 0;

	(void)state;
	vec_foreach (uint64_t, item, &items)
		sum += *item;
	for (uint64_t i = 0; i < 1000; i++)
		vec_push(&items, i);
	vec_foreach (uint64_t, item, &items)
		sum += *item;
	assert_int_equal(items.count, 1000);
	assert_int_equal(sum, 499500);
	vec_done(&items);
	assert_null(items.at);
}

/* ---- sha256, stats, err ---- */

static void sha256_gives_the_digests_of_the_standard(void **state)
{
	static const struct {
		const char *text;
		unsigned times;
		const char *digest;
	} cases[] = {
		{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnop"
		 "jklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
			1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
		{"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sha256 sha;
		char text[SHA256_TEXT];

		sha256_init(&sha);
		for (unsigned n = 0; n < cases[i].times; n++)
			sha256_add(&sha, cases[i].text, strlen(cases[i].text));
		sha256_text(&sha, text);
		assert_string_equal(text, cases[i].digest);
	}
}

static void a_file_is_hashed_or_says_why_not(void **state)
{
	char text[SHA256_TEXT];

	(void)state;
	assert_int_equal(sha256_file("/dev/null", text), 0);
	assert_string_equal(
		text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_int_equal(sha256_file("/nowhere/at/all", text), -ENOENT);
	assert_int_equal(sha256_file("/", text), -EISDIR);
}

static void a_text_for_sql_doubles_its_quotes(void **state)
{
	str_auto struct str out = {0};

	(void)state;
	str_add_sql(&out, "it's 'x'");
	str_add_sql(&out, "");
	assert_string_equal(out.at, "'it''s ''x'''''");
}

static void order_statistics_are_right_and_nan_when_there_are_none(void **state)
{
	double odd[] = {5, 1, 4, 2, 100}, even[] = {4, 1, 3, 2};

	(void)state;
	stats_sort(odd, 5);
	assert_true(odd[0] == 1 && odd[4] == 100);
	assert_true(stats_median_sorted(odd, 5) == 4);
	assert_true(stats_mad_sorted(odd, 5) == 2); /* distances 0 1 2 3 96 */
	stats_sort(even, 4);
	assert_true(stats_median_sorted(even, 4) == 2.5);
	assert_true(stats_mean(even, 4) == 2.5);
	assert_true(fabs(stats_deviation(even, 4) - 1.2909944487358056) < 1e-15);
	assert_true(isnan(stats_median_sorted(even, 0)));
	assert_true(isnan(stats_mean(even, 0)));
	assert_true(isnan(stats_deviation(even, 1)));
	assert_true(isnan(stats_mad_sorted(even, 0)));
	stats_sort(NULL, 0);
}

static void an_error_is_one_clean_line_with_its_way_out(void **state)
{
	struct err err = {0};
	char longest[2000];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(
		err_set(&err, ERR_OUTPUT, ENOSPC, "cannot write %s", "a\nb\x1b[2J"), -ENOSPC);
	assert_string_equal(err.text, "cannot write a b?[2J");
	assert_int_equal(err.kind, ERR_OUTPUT);
	err_hint(&err, "try %s", longest);
	assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
	assert_int_equal(err_set(&err, ERR_USAGE, 0, "%s", longest), -EINVAL);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_string_equal(err.hint, ""); /* a new failure has no old hint */
	assert_string_equal(err_words(ENOENT), "no such file or directory");
	assert_string_equal(err_words(99999), "unknown error");
}

/* ---- io ---- */

static unsigned count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void assert_holds(const char *path, const char *expected)
{
	str_auto struct str text = {0};

	assert_int_equal(io_read_at(AT_FDCWD, path, 1 << 20, &text), 0);
	assert_string_equal(str_text(&text), expected);
}

static void a_file_is_replaced_whole(void **state)
{
	struct err err = {0};
	struct stat there;

	(void)state;
	assert_int_equal(io_replace("file", IO_SHARED, "old", 3, &err), 0);
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(io_replace("link", IO_SHARED, "newer", 5, &err), 0);
	assert_holds("file", "newer");
	assert_int_equal(lstat("link", &there), 0);
	assert_true(S_ISLNK(there.st_mode));
	assert_int_equal(count_files("."), 2);
}

static void a_temporary_file_of_a_killed_tool_is_no_obstacle(void **state)
{
	str_auto struct str stale = {0};
	struct err err = {0};

	(void)state;
	str_addf(&stale, "file.%d-0.tmp", (int)getpid());
	close(open(stale.at, O_CREAT | O_WRONLY, 0666));
	assert_int_equal(io_replace("file", IO_SHARED, "new", 3, &err), 0);
	assert_holds("file", "new");
}

static void a_stream_is_written_to_and_never_replaced(void **state)
{
	int saved = dup(STDOUT_FILENO), fd = open("stdout", O_CREAT | O_WRONLY, 0666);
	struct err err = {0};
	struct stat before, after;

	(void)state;
	assert_int_equal(lstat("/dev/stdout", &before), 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	assert_int_equal(write(STDOUT_FILENO, "first ", 6), 6);
	assert_int_equal(io_replace("/dev/stdout", IO_SHARED, "second", 6, &err), 0);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	assert_holds("stdout", "first second");
	assert_int_equal(lstat("/dev/stdout", &after), 0);
	assert_true(before.st_ino == after.st_ino);
	assert_int_equal(io_replace("/dev/null", IO_SHARED, "x", 1, &err), 0);
	assert_int_equal(io_replace("/dev/full", IO_SHARED, "x", 1, &err), -ENOSPC);
	assert_int_equal(err.kind, ERR_OUTPUT);
}

static void a_place_that_cannot_be_written_is_named_with_a_way_out(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(io_replace("missing/file", IO_SHARED, "x", 1, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write missing/file: no such file or directory");
	assert_string_equal(err.hint, "create its directory first, or choose another place");
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_true(io_replace("folder", IO_SHARED, "x", 1, &err) < 0);
	assert_int_equal(err.kind, ERR_OUTPUT);
	assert_int_equal(count_files("."), 1);
	assert_int_equal(count_files("folder"), 0);
}

static void reading_is_bounded(void **state)
{
	str_auto struct str text = {0};
	struct err err = {0};
	char line[5];

	(void)state;
	assert_int_equal(io_replace("file", IO_SHARED, "12345\n\n", 7, &err), 0);
	assert_int_equal(io_read_at(AT_FDCWD, "file", 6, &text), -EFBIG);
	str_clear(&text);
	str_add(&text, "kept ");
	assert_int_equal(io_read("file", 7, &text, &err), 0);
	assert_string_equal(text.at, "kept 12345\n\n");
	assert_int_equal(io_read("none", 7, &text, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read none: no such file or directory");
	assert_int_equal(io_read(".", 7, &text, &err), -EISDIR);
	assert_int_equal(io_read_line("file", line, sizeof(line)), 4);
	assert_string_equal(line, "1234");
	assert_int_equal(io_read_line("none", line, sizeof(line)), -ENOENT);
	assert_true(io_read_at(AT_FDCWD, "/proc/self/status", 1 << 16, &text) == 0);
}

static void a_file_written_in_pieces_appears_when_it_is_closed(void **state)
{
	struct io_writer writer;
	struct stream stream = {.write = io_writer_write, .context = &writer};
	struct err err = {0};
	struct stat there;

	(void)state;
	assert_int_equal(io_writer_open(&writer, "file", IO_SHARED, &err), 0);
	for (unsigned i = 0; i < 100000; i++) {
		str_add(&stream.text, "piece ");
		stream_pace(&stream);
		assert_true(stream.text.len < STREAM_PIECE);
	}
	assert_int_equal(stat("file", &there), -1);
	assert_int_equal(stream_end(&stream), 0);
	assert_int_equal(io_writer_close(&writer, 0, &err), 0);
	assert_int_equal(stat("file", &there), 0);
	assert_true(there.st_size == 600000 && stream.given_bytes == 600000);
	assert_int_equal(io_writer_open(&writer, "file", IO_SHARED, &err), 0);
	assert_int_equal(io_writer_close(&writer, -ECANCELED, &err), -ECANCELED);
	assert_int_equal(count_files("."), 1); /* the old one */
}

static int write_fails_once(void *context, const void *bytes, size_t len)
{
	unsigned *calls = context;

	(void)bytes;
	(void)len;
	return (*calls)++ ? 0 : -ENOSPC;
}

static void the_first_failure_of_a_stream_is_kept_and_the_rest_dropped(void **state)
{
	unsigned calls = 0;
	struct stream stream = {.write = write_fails_once, .context = &calls};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		str_add_repeat(&stream.text, 'x', STREAM_PIECE);
		stream_pace(&stream);
	}
	assert_int_equal(stream_end(&stream), -ENOSPC);
	assert_int_equal(calls, 1);
	assert_true(stream.given_bytes == 0);
}

static void numbers_are_written_as_printf_does(void **state)
{
	static const uint64_t values[] = {0, 9, 10, 255, 4096, UINT32_MAX, UINT64_MAX};

	(void)state;
	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
		str_auto struct str text = {0};
		char expected[64];

		str_add_number(&text, values[i], 10, 0);
		str_add_char(&text, ' ');
		str_add_number(&text, values[i], 16, 12);
		snprintf(
			expected, sizeof(expected), "%" PRIu64 " %12" PRIx64, values[i], values[i]);
		assert_string_equal(text.at, expected);
	}
}

/* A small file system of our own, gone with this process. */
static int mount_small(const char *folder, const char *options)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	return mkdir(folder, 0777) < 0 ? -1 : mount("tmpfs", folder, "tmpfs", 0, options);
}

static void a_full_disk_leaves_the_old_file_and_nothing_else(void **state)
{
	mem_auto char *large = NULL;
	struct err err = {0};

	(void)state;
	if (mount_small("small", "size=64k") < 0) {
		print_message("# skip: mounting a small tmpfs needs root\n");
		skip();
	}
	large = mem_new(1, 1 << 20);
	assert_int_equal(io_replace("small/file", IO_SHARED, "old", 3, &err), 0);
	assert_int_equal(io_replace("small/file", IO_SHARED, large, 1 << 20, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write small/file: no space left on the disk");
	assert_string_equal(err.hint, "free some space, or choose another place");
	assert_holds("small/file", "old");
	assert_int_equal(count_files("small"), 1);
	assert_int_equal(umount("small"), 0);
}

static void counts_are_grouped_by_thousands_whatever_their_size(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {-1234567.4, "-1,234,567"},
		{-0.2, "0"}, {999999999999999, "999,999,999,999,999"}, {1e15, "1e+15"},
		{5.5e110, "5.5e+110"}, {-1e300, "-1e+300"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		str_auto struct str text = {0};

		str_add_grouped(&text, cases[i].value);
		assert_string_equal(text.at, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_grouped_by_thousands_whatever_their_size),
		cmocka_unit_test(a_str_grows_and_stays_terminated),
		cmocka_unit_test(text_questions_have_the_plain_answers),
		cmocka_unit_test(a_number_is_whole_or_refused),
		cmocka_unit_test(a_duration_has_a_known_unit_or_is_refused),
		cmocka_unit_test(the_nearest_word_is_the_one_that_was_meant),
		cmocka_unit_test(a_json_document_reads_back_as_written),
		cmocka_unit_test(what_is_not_known_is_null_with_its_reason),
		cmocka_unit_test(json_stays_valid_whatever_bytes_come_in),
		cmocka_unit_test(a_json_number_reads_back_the_same),
		cmocka_unit_test(an_arena_hands_out_zeroed_aligned_pieces),
		cmocka_unit_test(a_map_finds_every_key_and_no_other),
		cmocka_unit_test(the_public_hash_never_changes),
		cmocka_unit_test(a_vec_keeps_its_items),
		cmocka_unit_test(sha256_gives_the_digests_of_the_standard),
		cmocka_unit_test(a_file_is_hashed_or_says_why_not),
		cmocka_unit_test(a_text_for_sql_doubles_its_quotes),
		cmocka_unit_test(order_statistics_are_right_and_nan_when_there_are_none),
		cmocka_unit_test(an_error_is_one_clean_line_with_its_way_out),
		in_folder(a_file_is_replaced_whole),
		in_folder(a_temporary_file_of_a_killed_tool_is_no_obstacle),
		in_folder(a_file_written_in_pieces_appears_when_it_is_closed),
		cmocka_unit_test(the_first_failure_of_a_stream_is_kept_and_the_rest_dropped),
		cmocka_unit_test(numbers_are_written_as_printf_does),
		in_folder(a_stream_is_written_to_and_never_replaced),
		in_folder(a_place_that_cannot_be_written_is_named_with_a_way_out),
		in_folder(reading_is_bounded),
		in_folder(a_full_disk_leaves_the_old_file_and_nothing_else),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
