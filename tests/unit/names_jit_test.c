/* names_jit_test.c - names of the kernel and of code made while running, from texts and dumps with
 * a known content; mangled names. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/str.h"
#include "code/names.h"

static char path[] = "/tmp/assay-jit-XXXXXX";

static void file_write(const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	close(fd);
}

static struct names *jit_open(const void *bytes, size_t len)
{
	struct names *names = NULL;
	struct err err = {0};

	file_write(bytes, len);
	if (names_open_jit(&(struct names_options){.path = path}, getuid(), &names, &err) < 0)
		fail_msg("%s", err.text);
	return names;
}

static const char *name_at(struct names *names, uint64_t addr, uint64_t time_ns)
{
	struct names_frame frame;

	return names_find(names, addr, time_ns, &frame, 1) ? frame.function : "(nothing)";
}

static void the_last_line_of_a_map_wins_where_lines_overlap(void **state)
{
	static const char text[] = "1000 100 first\n"
				   "0x2000 0x80 LazyCompile:~run /app/x.js:3:7\n"
				   "1080 20 second one\n"
				   "1000 10 _Z3addii\n"
				   "nonsense\n"
				   "3000 0 empty\n"
				   "ffffffffffffff00 200 wraps\n"
				   "4000 10 still being writt";
	struct names *names = jit_open(text, sizeof(text) - 1);
	struct names_frame frame;

	(void)state;
	assert_string_equal(name_at(names, 0x1000, UINT64_MAX), "add(int, int)");
	assert_string_equal(name_at(names, 0x1010, 0), "first");
	assert_string_equal(name_at(names, 0x1085, 0), "second one");
	assert_string_equal(name_at(names, 0x10ff, 0), "first");
	assert_string_equal(name_at(names, 0x1100, 0), "(nothing)");
	assert_string_equal(name_at(names, 0x207f, 0), "LazyCompile:~run /app/x.js:3:7");
	assert_string_equal(name_at(names, 0x4000, 0), "(nothing)");
	assert_string_equal(name_at(names, UINT64_MAX, 0), "(nothing)");
	assert_true(names_find_function(names, "second one", &frame));
	assert_int_equal(frame.function_addr, 0x1080);
	assert_int_equal(frame.function_bytes, 0x20);
	names_close(names);
}

static void a_map_of_somebody_else_is_refused(void **state)
{
	struct names *names = NULL;
	struct err err = {0};

	(void)state;
	if (getuid() == 0 && chown(path, 12345, 12345) < 0) {
		print_message("# skip: files cannot be given away here\n");
		skip();
	}
	file_write("1000 10 name\n", 13);
	assert_true(names_open_jit(&(struct names_options){.path = path},
			    getuid() == 0 ? 4321 : getuid() + 1, &names, &err) < 0);
	assert_non_null(strstr(err.text, "belongs to user"));
	assert_true(err.hint[0] != '\0');
	if (getuid() == 0)
		assert_int_equal(chown(path, 0, 0), 0);
}

static void a_file_that_names_nothing_is_said(void **state)
{
	struct names *names = NULL;
	struct err err = {0};

	(void)state;
	file_write("", 0);
	assert_true(
		names_open_jit(&(struct names_options){.path = path}, getuid(), &names, &err) < 0);
	assert_non_null(strstr(err.text, "names no code"));
}

/* A jitdump in either byte order. */
struct dump {
	struct str bytes;
	bool swapped;
};

static void put32(struct dump *dump, uint32_t value)
{
	value = dump->swapped ? __builtin_bswap32(value) : value;
	str_add_bytes(&dump->bytes, (const char *)&value, sizeof(value));
}

static void put64(struct dump *dump, uint64_t value)
{
	value = dump->swapped ? __builtin_bswap64(value) : value;
	str_add_bytes(&dump->bytes, (const char *)&value, sizeof(value));
}

static void put_head(struct dump *dump)
{
	put32(dump, 0x4a695444);
	put32(dump, 1);
	put32(dump, 40);
	put32(dump, 62);
	put32(dump, 0);
	put32(dump, 77);
	put64(dump, 0);
	put64(dump, 0);
}

static void put_load(
	struct dump *dump, uint64_t time_ns, uint64_t addr, const char *name, uint64_t index)
{
	put32(dump, 0);
	put32(dump, (uint32_t)(16 + 40 + strlen(name) + 1 + 16));
	put64(dump, time_ns);
	put32(dump, 77);
	put32(dump, 77);
	put64(dump, addr);
	put64(dump, addr);
	put64(dump, 16);
	put64(dump, index);
	str_add_bytes(&dump->bytes, name, strlen(name) + 1);
	str_add_repeat(&dump->bytes, '\x90', 16);
}

static void put_move(
	struct dump *dump, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t index)
{
	put32(dump, 1);
	put32(dump, 16 + 48);
	put64(dump, time_ns);
	put32(dump, 77);
	put32(dump, 77);
	put64(dump, from);
	put64(dump, from);
	put64(dump, to);
	put64(dump, 16);
	put64(dump, index);
}

/* Two lines of x.js, at `addr` and 8 behind. */
static void put_lines(struct dump *dump, uint64_t code, uint64_t addr)
{
	put32(dump, 2);
	put32(dump, 16 + 16 + 16 + 5 + 16 + 2);
	put64(dump, 1);
	put64(dump, code);
	put64(dump, 2);
	put64(dump, addr);
	put32(dump, 11);
	put32(dump, 0);
	str_add_bytes(&dump->bytes, "x.js", 5);
	put64(dump, addr + 8);
	put32(dump, 12);
	put32(dump, 0);
	str_add_bytes(&dump->bytes, "\xff", 2);
}

static void check_dump(bool swapped)
{
	struct dump dump = {.swapped = swapped};
	struct names_line lines[4];
	struct names_frame frame;
	struct names *names;

	put_head(&dump);
	put_lines(&dump, 0x1000, 0x1000);
	put_load(&dump, 100, 0x1000, "old", 1);
	put_load(&dump, 200, 0x1000, "new", 2);
	put_lines(&dump, 0x5000, 0x5040); /* as V8 writes it: behind an ELF header */
	put_load(&dump, 210, 0x5000, "behind", 3);
	put_move(&dump, 300, 0x5000, 0x6000, 3);
	str_add_bytes(&dump.bytes, "\0\0\0", 3); /* cut */
	names = jit_open(dump.bytes.at, dump.bytes.len);
	assert_string_equal(name_at(names, 0x1004, 50), "(nothing)");
	assert_string_equal(name_at(names, 0x1004, 150), "old");
	assert_string_equal(name_at(names, 0x1004, UINT64_MAX), "new");
	assert_int_equal(names_find(names, 0x1009, 150, &frame, 1), 1);
	assert_string_equal(frame.file, "x.js");
	assert_int_equal(frame.line, 12);
	assert_string_equal(name_at(names, 0x5001, 250), "behind");
	assert_string_equal(name_at(names, 0x5001, 350), "(nothing)");
	assert_int_equal(names_find(names, 0x6008, 350, &frame, 1), 1);
	assert_string_equal(frame.function, "behind");
	assert_int_equal(frame.line, 12);
	assert_int_equal(names_lines(names, 0x6000, 16, lines, 4), 2);
	assert_int_equal(lines[1].addr, 0x6008);
	names_close(names);
	str_done(&dump.bytes);
}

static void a_jitdump_tells_code_apart_by_time(void **state)
{
	(void)state;
	check_dump(false);
	check_dump(true);
}

static void kernel_functions_end_where_the_next_begins(void **state)
{
	static const char text[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81000000 T start_here\n"
				   "ffffffff81000040 t second\n"
				   "ffffffff81000080 D data\n"
				   "ffffffff81000100 T last\n"
				   "ffffffffc0002010 t other\t[mod]\n"
				   "ffffffffc0001000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
				   "ffffffffc0002000 T entry\t[mod]\n"
				   "ffffffffc00020";
	struct names_frame frame;
	struct names *names = NULL;
	struct err err = {0};

	(void)state;
	file_write(text, sizeof(text) - 1);
	if (names_open_kernel(path, &names, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(name_at(names, 0xffffffff81000001, 0), "start_here");
	assert_string_equal(name_at(names, 0xffffffff810000f0, 0), "second");
	assert_string_equal(name_at(names, 0xffffffff81000fff, 0), "last");
	assert_string_equal(name_at(names, 0xffffffff81001000, 0), "(nothing)");
	assert_int_equal(names_find(names, 0xffffffffc0002005, 0, &frame, 1), 1);
	assert_string_equal(frame.function, "entry");
	assert_string_equal(frame.module, "mod");
	assert_string_equal(name_at(names, 0xffffffffc0001001, 0), "bpf_prog_6deef7357e7b4530");
	assert_true(names_find_function(names, "other", &frame));
	assert_int_equal(frame.function_addr, 0xffffffffc0002010);
	names_close(names);
}

static void hidden_kernel_addresses_are_said_with_the_way_out(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t second\n";
	struct names *names = NULL;
	struct err err = {0};

	(void)state;
	file_write(text, sizeof(text) - 1);
	assert_true(names_open_kernel(path, &names, &err) < 0);
	assert_non_null(strstr(err.text, "hidden"));
	assert_non_null(strstr(err.hint, "kernel.kptr_restrict=0"));
	file_write("", 0);
	assert_true(names_open_kernel(path, &names, &err) < 0);
	assert_non_null(strstr(err.text, "no kernel symbols"));
}

static void the_running_kernel_is_named_or_says_why_not(void **state)
{
	struct names *names = NULL;
	struct names_frame frame;
	struct err err = {0};

	(void)state;
	if (names_open_kernel(NULL, &names, &err) < 0) {
		assert_true(err.hint[0] != '\0');
		return;
	}
	assert_true(names_find_function(names, "schedule", &frame));
	assert_true(frame.function_bytes > 0);
	names_close(names);
}

static void mangled_names_become_readable(void **state)
{
	static const char *const cases[][2] = {{"main", "main"}, {"_Z3addii", "add(int, int)"},
		{"_ZN4shop3boxIiE4keepERKi", "shop::box<int>::keep(int const&)"},
		{"_Z3addii.cold", "add(int, int) [clone .cold]"}, {"_Z4putsv@plt", "puts()@plt"},
		{"puts@plt", "puts@plt"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"_D3std5stdio7writelnFZv", "std.stdio.writeln()"}, {"_Z", "_Z"}, {"", ""},
		{"_ZN", "_ZN"}, {"_R", "_R"}, {"_D", "_D"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		str_auto struct str name = {0};

		names_demangle(cases[i][0], &name);
		assert_string_equal(str_text(&name), cases[i][1]);
	}
}

static void check_bomb(const char *start, const char *level, const char *end)
{
	str_auto struct str bomb = {0}, name = {0};

	str_add(&bomb, start);
	for (unsigned i = 0; i < 34; i++) { /* `level` has two places for the level before */
		char before = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i];

		for (const char *at = level; *at; at++)
			str_add_char(&bomb, *at == '?' ? before : *at);
	}
	str_add(&bomb, end);
	names_demangle(bomb.at, &name);
	assert_string_equal(str_text(&name), bomb.at);
}

/* Each level names the one before twice: 2^34 times the first in the end. */
static void a_name_that_unfolds_without_end_stays_mangled(void **state)
{
	str_auto struct str name = {0};

	(void)state;
	check_bomb("_Z1f1XIiE", "S_IS?_S?_E", "");
	check_bomb("_D1fFHiiHQeQg", "HQgQi", "Zv");
	names_demangle("_Z1f1XIiES_IS0_S0_ES_IS1_S1_E", &name); /* and two levels do unfold */
	assert_string_equal(name.at, "f(X<int>, X<X<int>, X<int> >, X<X<X<int>, X<int> >, "
				     "X<X<int>, X<int> > >)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_line_of_a_map_wins_where_lines_overlap),
		cmocka_unit_test(a_map_of_somebody_else_is_refused),
		cmocka_unit_test(a_file_that_names_nothing_is_said),
		cmocka_unit_test(a_jitdump_tells_code_apart_by_time),
		cmocka_unit_test(kernel_functions_end_where_the_next_begins),
		cmocka_unit_test(hidden_kernel_addresses_are_said_with_the_way_out),
		cmocka_unit_test(the_running_kernel_is_named_or_says_why_not),
		cmocka_unit_test(mangled_names_become_readable),
		cmocka_unit_test(a_name_that_unfolds_without_end_stays_mangled),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
