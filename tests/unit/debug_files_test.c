/* debug_files_test.c - `doctor` (binary.h) and `report` (names.h) say the same of a program's debug
 * information, wherever it was put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "code/binary.h"
#include "code/names.h"

static struct arena arena;
static char folder[64];

static bool shell(const char *command)
{
	return system(arena_format(
		       &arena, "cd '%s' && { %s\n} >/dev/null 2>&1", folder, command)) == 0;
}

static int scene_open(void **state)
{
	const char *binaries = getenv("ASSAY_TEST_BINARIES");

	(void)state;
	strcpy(folder, "/tmp/assay-debug-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	setenv("HOME", arena_format(&arena, "%s/home", folder), 1);
	setenv("XDG_CACHE_HOME", arena_format(&arena, "%s/cache", folder), 1);
	if (!binaries)
		binaries = "tests/workloads/binaries";
	if (*binaries != '/')
		binaries = arena_format(
			&arena, "%s/%s", getcwd(arena_take(&arena, 4096), 4096), binaries);
	setenv("BINARIES", binaries, 1);
	return 0;
}

static int scene_close(void **state)
{
	int r = shell("rm -r \"$PWD\"") ? 0 : -1;

	(void)state;
	arena_done(&arena);
	return r;
}

static void need(const char *command, const char *why)
{
	if (shell(command))
		return;
	print_message("# skip: %s\n", why);
	skip();
}

/* A stripped program `prog` with its debug information in `prog.debug` and nowhere else. */
static void program_make(const char *name)
{
	setenv("PROGRAM", name, 1);
	need("command -v objcopy", "objcopy is not installed");
	need("test -e \"$BINARIES/$PROGRAM\"", "the program was not built");
	assert_true(shell("rm -rf * .debug && cp \"$BINARIES/$PROGRAM\" prog && "
			  "objcopy --only-keep-debug prog prog.debug && strip prog && "
			  "objcopy --add-gnu-debuglink=prog.debug prog"));
}

static struct names *names_of(const char *path)
{
	struct names *names = NULL;
	struct err err = {0};

	if (names_open(&(struct names_options){.path = path}, &names, &err) < 0)
		fail_msg("%s", err.text);
	return names;
}

static void expect_lines(const char *where, const char *name, bool found)
{
	const char *path = arena_format(&arena, "%s/%s", folder, name);
	struct binary_facts facts = {0};
	struct names *names = names_of(path);
	struct err err = {0};
	bool named = !strstr(names_missing(names), "no debug information");

	if (binary_inspect(path, NULL, &arena, &facts, &err) < 0)
		fail_msg("%s", err.text);
	if (named != found || facts.has_separate_lines != found)
		fail_msg("%s: report %s lines, doctor %s", where, named ? "has" : "has no",
			facts.has_separate_lines ? "has them" : "has none");
	if (found && !strstr(names_basis(names), facts.debug_file))
		fail_msg("%s: report reads %s, doctor %s", where, names_basis(names),
			facts.debug_file);
	names_close(names);
}

static void doctor_and_report_find_the_same_debug_file(void **state)
{
	static const struct {
		const char *where, *program, *command, *path;
		bool found;
	} cases[] = {
		{"beside it", "inline", ":", "prog", true},
		{"beside it, by CRC", "inline-no-build-id", ":", "prog", true},
		{"beside it, another CRC", "inline-no-build-id", "echo more >>prog.debug", "prog",
			false},
		{"in .debug", "inline", "mkdir .debug && mv prog.debug .debug", "prog", true},
		{"beside what a link leads to", "inline",
			"mkdir in && mv prog prog.debug in && ln -s in/prog prog", "prog", true},
		{"debuginfod's cache", "inline",
			"to=cache/debuginfod_client/$(readelf -n prog | sed -n 's/.*ID: //p') && "
			"mkdir -p $to && mv prog.debug $to/debuginfo",
			"prog", true},
		{"perf's cache", "inline",
			"id=$(readelf -n prog | sed -n 's/.*ID: //p') && "
			"to=home/.debug/.build-id/${id%${id#??}}/${id#??} && "
			"mkdir -p $to && mv prog.debug $to/elf",
			"prog", true},
		{"perf's cache, the program itself", "inline",
			"id=$(readelf -n prog | sed -n 's/.*ID: //p') && "
			"to=home/.debug/.build-id/${id%${id#??}}/${id#??} && "
			"mkdir -p $to && rm prog.debug && cp prog $to/elf",
			"prog", false},
		{"nowhere", "inline", "rm prog.debug", "prog", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		program_make(cases[i].program);
		assert_true(shell(cases[i].command));
		expect_lines(cases[i].where, cases[i].path, cases[i].found);
	}
}

static void doctor_and_report_follow_a_debug_file_to_what_dwz_took_out(void **state)
{
	const char *path = arena_format(&arena, "%s/prog", folder);

	(void)state;
	need("command -v dwz", "dwz is not installed");
	for (int found = 1; found >= 0; found--) {
		struct binary_facts facts = {0};
		struct names *names;
		struct err err = {0};

		program_make("inline-cxx");
		assert_true(shell("cp \"$BINARIES/inline-cxx-dwarf4\" other && "
				  "dwz -m shared prog.debug other"));
		assert_true(found || shell("rm shared"));
		names = names_of(path);
		assert_int_equal(binary_inspect(path, NULL, &arena, &facts, &err), 0);
		assert_int_equal(!strstr(names_missing(names), "shared debug"), found);
		assert_non_null(facts.debug_alternate);
		assert_int_equal(facts.debug_alternate_found, found);
		names_close(names);
	}
}

/* Symbols alone are in the debug file: what dwz took out of it is not searched. */
static void symbols_alone_ask_nobody_for_what_dwz_took_out(void **state)
{
	const char *path = arena_format(&arena, "%s/prog", folder),
		   *old = arena_format(&arena, "%s", getenv("PATH"));
	struct names *names = NULL;
	struct err err = {0};

	(void)state;
	need("command -v dwz", "dwz is not installed");
	program_make("inline-cxx");
	assert_true(shell("cp \"$BINARIES/inline-cxx-dwarf4\" other && "
			  "dwz -m shared prog.debug other && rm shared && "
			  "printf '#!/bin/sh\ntouch %s/asked\nexit 1\n' \"$PWD\" >debuginfod-find "
			  "&& chmod +x debuginfod-find"));
	setenv("PATH", arena_format(&arena, "%s:%s", folder, old), 1);
	for (int lines = 0; lines < 2; lines++) {
		struct names_options options = {
			.path = path, .without_lines = !lines, .debuginfod = true};

		assert_int_equal(names_open(&options, &names, &err), 0);
		assert_non_null(strstr(names_basis(names), "prog.debug"));
		names_close(names);
		assert_int_equal(shell("test -e asked"), lines);
	}
	setenv("PATH", old, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			doctor_and_report_find_the_same_debug_file, scene_open, scene_close),
		cmocka_unit_test_setup_teardown(
			doctor_and_report_follow_a_debug_file_to_what_dwz_took_out, scene_open,
			scene_close),
		cmocka_unit_test_setup_teardown(
			symbols_alone_ask_nobody_for_what_dwz_took_out, scene_open, scene_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
