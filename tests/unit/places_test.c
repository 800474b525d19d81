/* places_test.c - the way from a line or a function to its code is the way from addresses to lines
 * backwards: checked at every address of programs whose lines were inlined, in DWARF 4 and 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "code/places.h"

enum { CHAIN = 32 };

/* line 1 on: the numbers below are those of this text */
static const char header[] = "static inline unsigned mix(unsigned x)\n"
			     "{\n"
			     "\tx ^= x << 13;\n"
			     "\tx ^= x >> 17;\n"
			     "\treturn x * 5;\n"
			     "}\n";
static const char program[] = "#include \"vendor/mix.h\"\n"
			      "volatile unsigned sink;\n"
			      "static inline __attribute__((always_inline)) unsigned\n"
			      "step(unsigned x)\n"
			      "{\n"
			      "\treturn mix(x) + 1;\n"
			      "}\n"
			      "__attribute__((noinline)) void first(unsigned n)\n"
			      "{\n"
			      "\tfor (unsigned i = 0; i < n; i++)\n"
			      "\t\tsink = step(i);\n"
			      "}\n"
			      "__attribute__((noinline)) void second(unsigned n)\n"
			      "{\n"
			      "\tfor (unsigned i = 0; i < n; i++)\n"
			      "\t\tsink += step(n - i);\n"
			      "}\n"
			      "int main(int argc, char **argv)\n"
			      "{\n"
			      "\t(void)argv;\n"
			      "\tfirst((unsigned)argc);\n"
			      "\tsecond((unsigned)argc);\n"
			      "\treturn 0;\n"
			      "}\n";

struct scene {
	char folder[64];
	struct names *names;
};

static void text_put(const struct scene *scene, const char *name, const char *text)
{
	str_auto struct str path = {0};
	FILE *file;

	str_addf(&path, "%s/%s", scene->folder, name);
	file = fopen(path.at, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int shell(const char *line)
{
	return system(line); /* NOLINT(cert-env33-c): a compiler is started, in a test */
}

static void program_open(struct scene *scene, const char *flags)
{
	str_auto struct str line = {0}, path = {0};
	struct err err;

	strcpy(scene->folder, "/tmp/assay-places-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	str_addf(&line, "mkdir %s/vendor", scene->folder);
	assert_int_equal(shell(line.at), 0);
	text_put(scene, "vendor/mix.h", header);
	text_put(scene, "program.c", program);
	str_clear(&line);
	str_addf(&line, "cd %s && cc %s program.c -o program", scene->folder, flags);
	assert_int_equal(shell(line.at), 0);
	str_addf(&path, "%s/program", scene->folder);
	assert_int_equal(
		names_open(&(struct names_options){.path = path.at}, &scene->names, &err), 0);
}

static void program_close(struct scene *scene)
{
	str_auto struct str line = {0};

	names_close(scene->names);
	str_addf(&line, "rm -rf %s", scene->folder);
	assert_int_equal(shell(line.at), 0);
}

static bool place_has(const struct place *place, uint64_t addr)
{
	vec_foreach (const struct place_range, range, &place->ranges)
		if (addr >= range->low && addr < range->high)
			return true;
	return false;
}

/* Every address of the functions is in the place exactly when its frames say so. */
static unsigned check_line(
	struct scene *scene, const struct scope *scope, const char *file, uint32_t line)
{
	static const char *const functions[] = {"first", "second", "main", "step", "mix"};
	struct place place;
	unsigned inside = 0;
	bool found = place_of_line(scene->names, scope, file, line, &place);

	for (size_t f = 0; f < 5; f++) {
		struct names_frame whole;

		if (!names_find_function(scene->names, functions[f], &whole))
			continue; /* inlined everywhere */
		for (uint64_t i = 0; i < whole.function_bytes; i++) {
			struct names_frame frames[CHAIN];
			uint64_t addr = whole.function_addr + i;
			unsigned count = names_find(scene->names, addr, 0, frames, CHAIN);
			int at = place_frame(scope, frames, count);
			bool is_it = at >= 0 && frames[at].line == line &&
				     scope_path_ends(frames[at].file, file);

			if (is_it != place_has(&place, addr))
				fail_msg("%s:%u at 0x%llx of %s: %d", file, line,
					(unsigned long long)addr, functions[f], is_it);
			inside += is_it;
		}
	}
	assert_int_equal(found, inside > 0);
	place_done(&place);
	return inside;
}

static void lines_are_found_backwards(struct scene *scene, unsigned more)
{
	static const char *const own[] = {"program.c", NULL};
	const struct scope narrow = {own}, wide = {NULL};
	unsigned of_header = 0, of_step_wide;

	for (uint32_t line = 1; line < 25; line++)
		check_line(scene, &wide, "program.c", line);
	for (uint32_t line = 1; line < 7; line++)
		of_header += check_line(scene, &wide, "vendor/mix.h", line);
	assert_true(of_header > 0);
	of_step_wide = check_line(scene, &wide, "program.c", 6);
	/* Out of scope the vendor's lines belong to the line that uses them. */
	assert_true(check_line(scene, &narrow, "program.c", 6) >= of_step_wide + more);
	assert_int_equal(check_line(scene, &narrow, "vendor/mix.h", 3), 0);
}

static void copies_and_entries(struct scene *scene)
{
	static const char *const own[] = {"program.c", NULL};
	struct place place, function;

	assert_true(place_of_line(scene->names, &(struct scope){own}, "program.c", 6, &place));
	assert_int_equal(place.copies, 2); /* in first and in second */
	vec_foreach (uint64_t, entry, &place.entries)
		assert_true(place_has(&place, *entry));
	assert_true(place_of_function(scene->names, "step", &function));
	assert_int_equal(function.entries.count, 2);
	vec_foreach (struct place_range, range, &place.ranges)
		assert_true(place_has(&function, range->low));
	place_done(&function);
	place_done(&place);
	assert_true(place_of_function(scene->names, "first", &place));
	assert_int_equal(place.entries.count, 1);
	place_done(&place);
	assert_false(place_of_function(scene->names, "irst", &place));
	place_done(&place);
	assert_false(place_of_line(scene->names, NULL, "program.c", 9999, &place));
	assert_true(place.nearest_line > 0 && place.nearest_line < 25);
	place_done(&place);
	assert_false(place_of_line(scene->names, NULL, "nowhere.c", 1, &place));
	assert_int_equal(place.nearest_line, 0);
	place_done(&place);
}

static void all_of(const char *flags)
{
	struct scene scene;

	program_open(&scene, flags);
	lines_are_found_backwards(&scene, 1);
	copies_and_entries(&scene);
	program_close(&scene);
}

static void dwarf_5(void **state)
{
	(void)state;
	all_of("-O2 -g -gdwarf-5");
}

static void dwarf_4(void **state)
{
	(void)state;
	all_of("-O2 -g -gdwarf-4");
}

static void unoptimised(void **state)
{
	struct scene scene;

	(void)state;
	program_open(&scene, "-O0 -g");
	lines_are_found_backwards(&scene, 0);
	program_close(&scene);
}

static void without_debug_information(void **state)
{
	struct scene scene;
	struct place place;

	(void)state;
	program_open(&scene, "-O1");
	assert_false(place_of_line(scene.names, NULL, "program.c", 11, &place));
	assert_true(place_of_function(scene.names, "first", &place));
	assert_int_equal(place.ranges.count, 1);
	place_done(&place);
	program_close(&scene);
}

static void what_is_the_users_own(void **state)
{
	static const char *const patterns[] = {"/srv/%/src/%", "parse.c", NULL};
	const struct scope all = {NULL}, some = {patterns};

	(void)state;
	assert_true(scope_has(&all, "/srv/me/parse.c"));
	assert_true(scope_has(&all, "parse.c"));
	assert_false(scope_has(&all, "/usr/include/c++/12/vector"));
	assert_false(scope_has(&all, "/rustc/abc/library/core/src/iter.rs"));
	assert_false(scope_has(&all, "/rust/deps/hashbrown-0.16.1/src/map.rs"));
	assert_false(scope_has(&all, "/srv/me/.cargo/registry/src/x/lib.rs"));
	assert_false(scope_has(&all, NULL));
	assert_true(scope_has(&some, "/srv/me/src/a/b.c"));
	assert_false(scope_has(&some, "/srv/me/lib/b.c"));
	assert_true(scope_has(&some, "/x/parse.c"));
	assert_false(scope_has(&some, "/x/sparse.c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dwarf_5),
		cmocka_unit_test(dwarf_4),
		cmocka_unit_test(unoptimised),
		cmocka_unit_test(without_debug_information),
		cmocka_unit_test(what_is_the_users_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
