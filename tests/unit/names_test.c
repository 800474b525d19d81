/* names_test.c - programs whose inlined functions and lines are known give those, however their
 * debug information is packed, split or moved; addr2line agrees; broken and replaced files give a
 * sentence. */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/str.h"
#include "base/vec.h"
#include "code/names.h"

enum { CHAIN = 32 };

struct scene {
	struct arena arena;
	char folder[64];
};

static int scene_open(void **state)
{
	struct scene *scene = mem_new(1, sizeof(*scene));

	strcpy(scene->folder, "/tmp/assay-names-XXXXXX");
	*state = scene;
	return mkdtemp(scene->folder) ? 0 : -1;
}

/* A shell command in the scene's folder. */
__attribute__((format(printf, 2, 3))) static bool run(struct scene *scene, const char *format, ...)
{
	str_auto struct str line = {0};
	int status = -1;
	va_list args;
	pid_t pid;

	str_addf(&line, "cd '%s' && (", scene->folder);
	va_start(args, format);
	str_addv(&line, format, args);
	va_end(args);
	str_add(&line, ") >/dev/null 2>&1");
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", line.at, (char *)NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static int scene_close(void **state)
{
	struct scene *scene = *state;

	if (!run(scene, "rm -rf '%s'", scene->folder))
		return -1;
	arena_done(&scene->arena);
	free(scene);
	return 0;
}

__attribute__((noreturn)) static void skip_for(const char *why)
{
	print_message("# skip: %s\n", why);
	skip();
	abort(); /* skip() does not come back */
}

static const char *built(struct scene *scene, const char *name)
{
	const char *folder = getenv("ASSAY_TEST_BINARIES");
	mem_auto char *path = realpath(arena_format(&scene->arena, "%s/%s",
					       folder ? folder : "tests/workloads/binaries", name),
		NULL);

	if (!path)
		skip_for(arena_format(
			&scene->arena, "%s was not built, its compiler is not installed", name));
	return arena_format(&scene->arena, "%s", path);
}

static void need_program(struct scene *scene, const char *name)
{
	if (!run(scene, "command -v %s", name))
		skip_for(arena_format(&scene->arena, "%s is not installed", name));
}

static struct names *open_with(const struct names_options *options)
{
	struct names *names = NULL;
	struct err err = {0};

	if (names_open(options, &names, &err) < 0)
		fail_msg("%s", err.text);
	return names;
}

static struct names *open_path(const char *path)
{
	return open_with(&(struct names_options){.path = path});
}

/* The line of inline.c that carries this comment. */
static uint32_t line_of(const char *comment)
{
	const char *source = getenv("ASSAY_SOURCE");
	str_auto struct str text = {0}, path = {0};
	struct err err = {0};
	const char *found;
	uint32_t line = 1;

	str_addf(&path, "%s/tests/workloads/binaries/inline.c", source ? source : ".");
	if (io_read(path.at, 1 << 20, &text, &err) < 0)
		fail_msg("%s", err.text);
	found = strstr(text.at, comment);
	assert_non_null(found);
	for (const char *at = text.at; at < found; at++)
		line += *at == '\n';
	return line;
}

/* The frames at the first address of `function` whose innermost name is `inner`. */
static unsigned find_inside(struct names *names, const char *function, const char *inner,
	struct names_frame *ret_frames)
{
	struct names_frame outer;

	if (!names_find_function(names, function, &outer))
		fail_msg("%s has no function %s", names_basis(names), function);
	for (uint64_t i = 0; i < outer.function_bytes; i++) {
		unsigned count =
			names_find(names, outer.function_addr + i, UINT64_MAX, ret_frames, CHAIN);

		if (count && ret_frames[0].function && strstr(ret_frames[0].function, inner))
			return count;
	}
	return 0;
}

static void check_chain(struct names *names, const char *what)
{
	struct names_frame frames[CHAIN] = {0};
	unsigned count = find_inside(names, "outer", "third", frames);

	if (count != 3)
		fail_msg("%s: %u frames instead of 3", what, count);
	assert_string_equal(frames[0].function, "third");
	assert_true(str_ends(frames[0].file, "/tests/workloads/binaries/inline.c"));
	assert_int_equal(frames[0].line, line_of("/* in third */"));
	assert_true(frames[0].inlined);
	assert_string_equal(frames[1].function, "second");
	assert_int_equal(frames[1].line, line_of("/* calls third */"));
	assert_true(frames[1].inlined);
	assert_string_equal(frames[2].function, "outer");
	assert_int_equal(frames[2].line, line_of("/* calls second */"));
	assert_false(frames[2].inlined);
	assert_int_equal(frames[2].function_line, line_of("void outer(int x)"));
	assert_true(frames[2].function_bytes > 0);
	assert_int_equal(frames[0].function_bytes, 0);
}

static void inlined_functions_come_with_the_lines_that_call_them(void **state)
{
	static const char *const kinds[] = {"inline", "inline-dwarf4", "inline-compressed",
		"inline-split", "inline-lto", "inline-no-build-id"};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct names *names = open_path(built(scene, kinds[i]));

		check_chain(names, kinds[i]);
		assert_string_equal(names_missing(names), "");
		names_close(names);
	}
}

static void clang_writes_it_differently_and_it_reads_the_same(void **state)
{
	static const char *const kinds[] = {
		"inline-clang", "inline-clang-dwarf4", "inline-clang-split"};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct names *names = open_path(built(scene, kinds[i]));

		check_chain(names, kinds[i]);
		names_close(names);
	}
}

static void code_of_another_machine_is_named_the_same(void **state)
{
	struct names *names = open_path(built(*state, "inline-aarch64"));
	struct names_frame frame, back;

	check_chain(names, "aarch64");
	assert_true(names_find_function(names, "puts@plt", &frame));
	assert_int_equal(names_find(names, frame.function_addr + 8, 0, &back, 1), 1);
	assert_string_equal(back.function, "puts@plt");
	names_close(names);
}

static void a_missing_dwo_file_is_said_and_lines_remain(void **state)
{
	struct scene *scene = *state;
	const char *path = built(scene, "inline-split");
	struct names_frame frames[CHAIN];
	struct names *names;
	unsigned count;

	need_program(scene, "python3");
	assert_true(run(scene,
		"cp '%s' moved && python3 -c \"d=open('moved','rb').read();"
		"open('moved','wb').write(d.replace(b'.dwo',b'.gon'))\"",
		path));
	names = open_path(arena_format(&scene->arena, "%s/moved", scene->folder));
	count = find_inside(names, "outer", "outer", frames);
	assert_int_equal(count, 1);
	assert_true(frames[0].line > 0);
	assert_non_null(strstr(names_missing(names), ".gon is missing"));
	names_close(names);
}

static void lines_only_leaves_inlined_functions_out(void **state)
{
	struct names *names = open_with(
		&(struct names_options){.path = built(*state, "inline"), .without_inlines = true});
	struct names_frame frames[CHAIN], outer;
	bool in_third = false;

	assert_true(names_find_function(names, "outer", &outer));
	for (uint64_t i = 0; i < outer.function_bytes; i++) {
		assert_int_equal(
			names_find(names, outer.function_addr + i, UINT64_MAX, frames, CHAIN), 1);
		assert_string_equal(frames[0].function, "outer");
		in_third |= frames[0].line == line_of("/* in third */");
	}
	assert_true(in_third);
	names_close(names);
}

static void symbols_only_reads_no_lines(void **state)
{
	struct names *names = open_with(
		&(struct names_options){.path = built(*state, "inline"), .without_lines = true});
	struct names_frame frame;

	assert_true(names_find_function(names, "outer", &frame));
	assert_null(frame.file);
	assert_null(strstr(names_basis(names), "lines"));
	names_close(names);
}

static void a_chain_that_does_not_fit_keeps_the_physical_function(void **state)
{
	struct names *names = open_path(built(*state, "inline"));
	struct names_frame frames[CHAIN], two[2];
	struct names_frame outer;
	unsigned cut = 0;

	assert_true(names_find_function(names, "outer", &outer));
	for (uint64_t i = 0; i < outer.function_bytes; i++) {
		uint64_t addr = outer.function_addr + i;

		if (names_find(names, addr, UINT64_MAX, frames, CHAIN) != 3)
			continue;
		assert_int_equal(names_find(names, addr, UINT64_MAX, two, 2), 2);
		assert_string_equal(two[0].function, "third");
		assert_string_equal(two[1].function, "outer");
		cut++;
	}
	assert_true(cut > 0);
	names_close(names);
}

static void templates_lambdas_and_hidden_classes_have_full_names(void **state)
{
	struct names *names = open_path(built(*state, "inline-cxx"));
	struct names_frame frames[CHAIN];
	unsigned count;

	count = find_inside(names, "marked(int)", "store", frames);
	assert_int_equal(count, 2);
	assert_non_null(strstr(frames[0].function, "(anonymous namespace)::quiet::store"));
	assert_string_equal(frames[1].function, "marked(int)");
	assert_int_equal(find_inside(names, "marked", "operator()", frames), 2);
	assert_string_equal(frames[0].function, "marked::{lambda:32}::operator()");
	assert_int_equal(frames[0].line, 32);
	names_close(names);
}

static void a_function_is_found_by_any_name_that_fits_only_one(void **state)
{
	struct names *names = open_path(built(*state, "inline-cxx"));
	struct names_frame frame;

	assert_true(names_find_function(names, "shop::box<int>::keep(int const&, int)", &frame));
	assert_string_equal(frame.function, "shop::box<int>::keep(int const&, int)");
	assert_true(names_find_function(names, frame.linkage, &frame));
	assert_true(str_ends(frame.file, "inline.cc"));
	assert_true(frame.function_addr && frame.function_bytes);
	assert_true(names_find_function(names, "keep(int const&, int)", &frame));
	assert_true(names_find_function(names, "marked", &frame));
	assert_string_equal(frame.function, "marked(int)");
	assert_false(names_find_function(names, "keep", &frame)); /* three of them */
	assert_false(names_find_function(names, "eep(int const&, int)", &frame));
	assert_false(names_find_function(names, "", &frame));
	names_close(names);
}

static void lines_of_a_function_come_in_order(void **state)
{
	struct names *names = open_path(built(*state, "inline"));
	struct names_frame outer;
	struct names_line lines[64];
	bool first = false, inner = false;
	unsigned count;

	assert_true(names_find_function(names, "outer", &outer));
	count = names_lines(names, outer.function_addr, outer.function_bytes, lines, 64);
	assert_true(count >= 4);
	for (unsigned i = 0; i < count; i++) {
		assert_true(lines[i].addr >= outer.function_addr &&
			    lines[i].addr < outer.function_addr + outer.function_bytes);
		if (i)
			assert_true(lines[i].addr > lines[i - 1].addr);
		first |= lines[i].line == line_of("/* in outer */");
		inner |= lines[i].line == line_of("/* in third */");
	}
	assert_true(first && inner);
	assert_int_equal(
		names_lines(names, outer.function_addr, outer.function_bytes, lines, 2), 2);
	names_close(names);
}

static void stubs_of_library_calls_are_named(void **state)
{
	struct names *names = open_path(built(*state, "inline"));
	struct names_frame frame, back;

	assert_true(names_find_function(names, "puts@plt", &frame));
	assert_int_equal(names_find(names, frame.function_addr + 3, 0, &back, 1), 1);
	assert_string_equal(back.function, "puts@plt");
	names_close(names);
}

/* A copy of `name` without debug information, which a .debug file beside it has. */
static const char *stripped(struct scene *scene, const char *name)
{
	need_program(scene, "objcopy");
	assert_true(run(scene,
		"cp '%s' prog && objcopy --only-keep-debug prog prog.debug && strip prog && "
		"objcopy --add-gnu-debuglink=prog.debug prog",
		built(scene, name)));
	return arena_format(&scene->arena, "%s/prog", scene->folder);
}

static void a_stripped_file_is_named_through_its_debug_link(void **state)
{
	static const char *const kinds[] = {"inline", "inline-no-build-id"};
	struct scene *scene = *state;
	struct names *names;

	for (size_t i = 0; i < 2; i++) {
		names = open_path(stripped(scene, kinds[i]));
		check_chain(names, kinds[i]);
		assert_non_null(strstr(names_basis(names), "prog.debug"));
		names_close(names);
	}
	assert_true(run(scene, "mkdir .debug && mv prog.debug .debug/"));
	names = open_path(arena_format(&scene->arena, "%s/prog", scene->folder));
	check_chain(names, ".debug");
	names_close(names);
}

static void a_debug_file_of_another_build_is_not_used(void **state)
{
	struct scene *scene = *state;
	struct names_frame frame;
	struct names *names;
	const char *path = stripped(scene, "inline-no-build-id");

	assert_true(run(scene, "echo more >>prog.debug")); /* the CRC is another one now */
	names = open_path(path);
	assert_false(names_find_function(names, "hidden", &frame));
	assert_non_null(strstr(names_missing(names), "stripped"));
	assert_non_null(strstr(names_missing(names), "no debug information"));
	names_close(names);
	stripped(scene, "inline");
	assert_true(run(scene, "cp '%s' prog.debug", built(scene, "inline-dwarf4")));
	names = open_path(path);
	assert_non_null(strstr(names_missing(names), "no debug information"));
	names_close(names);
}

static void mini_debug_info_names_hidden_functions(void **state)
{
	struct scene *scene = *state;
	struct names_frame frame;
	struct names *names;

	need_program(scene, "objcopy");
	need_program(scene, "xz");
	assert_true(run(scene,
		"cp '%s' prog && objcopy -S --keep-symbol=hidden prog mini && xz -k mini && "
		"strip prog && objcopy --add-section .gnu_debugdata=mini.xz prog",
		built(scene, "inline")));
	names = open_path(arena_format(&scene->arena, "%s/prog", scene->folder));
	assert_true(names_find_function(names, "hidden", &frame));
	assert_non_null(strstr(names_basis(names), "mini debug info"));
	names_close(names);
}

static void debug_information_shared_by_dwz_is_followed(void **state)
{
	struct scene *scene = *state;
	struct names_frame frames[CHAIN];
	struct names *names;

	need_program(scene, "dwz");
	assert_true(run(scene, "cp '%s' a && cp '%s' b && dwz -m shared a b",
		built(scene, "inline-cxx"), built(scene, "inline-cxx-dwarf4")));
	names = open_path(arena_format(&scene->arena, "%s/a", scene->folder));
	assert_string_equal(names_missing(names), "");
	assert_int_equal(find_inside(names, "marked(int)", "store", frames), 2);
	assert_non_null(strstr(frames[0].function, "(anonymous namespace)::quiet::store"));
	names_close(names);
	assert_true(run(scene, "rm shared"));
	names = open_path(arena_format(&scene->arena, "%s/a", scene->folder));
	assert_non_null(strstr(names_missing(names), "shared"));
	names_close(names);
}

static void debuginfod_is_asked_only_when_told_to(void **state)
{
	struct scene *scene = *state;
	const char *path = stripped(scene, "inline"), *old = getenv("PATH");
	struct names *names;

	assert_true(run(scene,
		"mv prog.debug kept && printf '#!/bin/sh\\ntouch %s/asked\\necho %s/kept\\n' "
		">debuginfod-find && chmod +x debuginfod-find",
		scene->folder, scene->folder));
	old = arena_format(&scene->arena, "%s", old ? old : "");
	setenv("PATH", arena_format(&scene->arena, "%s:%s", scene->folder, old), 1);
	names = open_path(path);
	assert_non_null(strstr(names_missing(names), "no debug information"));
	assert_false(run(scene, "test -e asked"));
	names_close(names);
	names = open_with(&(struct names_options){.path = path, .debuginfod = true});
	setenv("PATH", old, 1);
	assert_true(run(scene, "test -e asked"));
	check_chain(names, "debuginfod");
	names_close(names);
}

static void a_replaced_file_is_refused_by_its_build_id(void **state)
{
	struct names_options options = {.path = built(*state, "inline"),
		.build_id = "00112233445566778899aabbccddeeff00112233"};
	struct names *names = NULL;
	struct err err = {0};

	assert_int_equal(names_open(&options, &names, &err), -ESTALE);
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	assert_non_null(
		strstr(err.text, "was replaced after the recording (build id 001122334455, now "));
	assert_null(names);
}

static void a_deleted_file_without_build_id_is_not_guessed(void **state)
{
	struct scene *scene = *state;
	struct names_options options = {
		.path = arena_format(&scene->arena, "%s (deleted)", built(scene, "inline"))};
	struct names *names = NULL;
	struct err err = {0};

	assert_true(names_open(&options, &names, &err) < 0);
	assert_non_null(strstr(err.text, "deleted or replaced"));
	options.path = "/nowhere/at/all";
	assert_true(names_open(&options, &names, &err) < 0);
	assert_non_null(strstr(err.text, "cannot read /nowhere/at/all"));
	options.path = "/dev/null";
	assert_true(names_open(&options, &names, &err) < 0);
	options.path = getenv("ASSAY_SOURCE");
	assert_true(names_open(&options, &names, &err) < 0);
}

static void files_are_found_below_another_root(void **state)
{
	struct scene *scene = *state;
	const char *path = built(scene, "inline");
	struct names *names;

	assert_true(run(scene, "mkdir -p root/opt && cp '%s' root/opt/prog", path));
	names = open_with(&(struct names_options){.path = "/opt/prog",
		.symfs = arena_format(&scene->arena, "%s/root", scene->folder)});
	check_chain(names, "symfs");
	names_close(names);
	names = open_path(arena_format(&scene->arena, "/proc/%d/root%s", (int)getpid(), path));
	check_chain(names, "container");
	names_close(names);
}

static void the_vdso_is_named_from_memory(void **state)
{
	const uint8_t *vdso = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct names_options options = {.path = "[vdso]"};
	struct names_frame frame, back;
	struct names *names = NULL;
	struct err err = {0};
	Elf64_Ehdr head;
	size_t len;

	(void)state;
	if (!vdso)
		skip_for("this process has no vdso");
	memcpy(&head, vdso, sizeof(head));
	len = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
	if (names_open_bytes(vdso, len, &options, &names, &err) < 0)
		fail_msg("%s", err.text);
#ifdef __x86_64__
	assert_true(names_find_function(names, "__vdso_clock_gettime", &frame));
#else
	assert_true(names_find_function(names, "__kernel_clock_gettime", &frame));
#endif
	assert_int_equal(names_find(names, frame.function_addr, 0, &back, 1), 1);
	assert_non_null(strstr(back.function, "clock_gettime"));
	names_close(names);
}

static void rust_names_have_no_hash(void **state)
{
	struct names *names = open_path(built(*state, "rust"));
	struct names_frame frame;

	assert_true(names_find_function(names, "small::count", &frame));
	assert_string_equal(frame.function, "small::count");
	assert_true(str_ends(frame.file, "small.rs"));
	names_close(names);
}

static void a_stripped_go_program_has_its_function_table(void **state)
{
	struct names *names = open_path(built(*state, "go-stripped"));
	struct names_frame frame, back;

	assert_true(names_find_function(names, "main.main", &frame));
	assert_int_equal(names_find(names, frame.function_addr + 1, 0, &back, 1), 1);
	assert_string_equal(back.function, "main.main");
	assert_non_null(strstr(names_basis(names), "Go's function table"));
	names_close(names);
}

/* One answer of addr2line -a -i -f -C. */
struct said {
	uint64_t addr;
	uint32_t first, count; /* frames */
};

struct said_frame {
	const char *function, *file;
	uint32_t line;
};

struct said_all {
	vec_of(struct said) list;
	vec_of(struct said_frame) frames;
};

static void said_read(struct scene *scene, const char *path, struct said_all *ret_all)
{
	str_auto struct str text = {0};
	struct err err = {0};
	const char *function = NULL;
	char *save = NULL;

	need_program(scene, "addr2line");
	assert_true(run(scene,
		"readelf --debug-dump=decodedline '%s' 2>/dev/null | grep -o '0x[0-9a-f]*' | "
		"sort -u >addrs && test -s addrs && addr2line -a -i -f -C -e '%s' <addrs >said",
		path, path));
	if (io_read(arena_format(&scene->arena, "%s/said", scene->folder), 1 << 30, &text, &err) <
		0)
		fail_msg("%s", err.text);
	for (char *line = strtok_r(text.at, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		char *colon = strrchr(line, ':');

		if (str_starts(line, "0x")) {
			vec_push(&ret_all->list,
				(struct said){strtoull(line, NULL, 16), ret_all->frames.count, 0});
			function = NULL;
		} else if (!function) {
			function = arena_format(&scene->arena, "%s", line);
		} else {
			assert_non_null(colon);
			*colon = '\0';
			vec_push(&ret_all->frames, (struct said_frame){function,
							   arena_format(&scene->arena, "%s", line),
							   (uint32_t)strtoul(colon + 1, NULL, 10)});
			ret_all->list.at[ret_all->list.count - 1].count++;
			function = NULL;
		}
	}
}

/* Names up to their parameters, without .cold and clone marks: addr2line leaves those out where
 * debug information names a function, and where that has no mangled name leaves the class out too.
 */
static bool same_function(const char *ours, const char *theirs)
{
	size_t len = strcspn(theirs, "(<[.");

	if (!ours || strcmp(theirs, "??") == 0)
		return true;
	if (*theirs == '(' || *theirs == '<' || strstr(theirs, "operator"))
		return true; /* where a name ends is not plain to see */
	for (const char *at = ours; at; at = strstr(at, "::")) {
		at += at == ours ? 0 : 2;
		if (strncmp(at, theirs, len) == 0)
			return true;
	}
	return false;
}

static bool same_file(const char *ours, const char *theirs)
{
	const char *a = strrchr(ours, '/'), *b = strrchr(theirs, '/');

	return str_equal(a ? a + 1 : ours, b ? b + 1 : theirs);
}

static bool same_answer(
	struct names *names, const struct said *said, const struct said_frame *said_frames)
{
	struct names_frame frames[CHAIN];
	unsigned count = names_find(names, said->addr, UINT64_MAX, frames, CHAIN);

	if (count != said->count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		const struct said_frame *theirs = &said_frames[i];

		/* binutils 2.40 takes the unit's own file for some functions of a header: it says
		 * inline.cc:229 of a file with 56 lines, where llvm-symbolizer says stl_heap.h. */
		if (!frames[i].file || frames[i].line != theirs->line ||
			!(same_file(frames[i].file, theirs->file) ||
				str_ends(theirs->file, "/inline.cc")))
			return false;
		/* binutils 2.40 calls the innermost by the symbol when it has no mangled name */
		if (!same_function(frames[i].function, theirs->function) &&
			!(i == 0 && same_function(frames[count - 1].function, theirs->function)))
			return false;
	}
	return true;
}

static void check_agreement(struct scene *scene, const char *path, const char *what)
{
	struct names *names = open_path(path);
	struct said_all all = {0};
	uint32_t same = 0, inside = 0;

	said_read(scene, path, &all);
	vec_foreach (const struct said, said, &all.list) {
		struct names_frame frame;

		/* The table also has where code ends; addr2line guesses there. */
		if (!names_find(names, said->addr, 0, &frame, 1) || !frame.function)
			continue;
		inside++;
		same += same_answer(names, said, &all.frames.at[said->first]);
	}
	print_message("# %s: %u of %u addresses agree with addr2line\n", what, same, inside);
	assert_true(inside > 10);
	assert_true(same >= inside * 0.99);
	vec_done(&all.list);
	vec_done(&all.frames);
	names_close(names);
}

static void addr2line_agrees_on_every_row_of_the_line_tables(void **state)
{
	static const char *const kinds[] = {
		"inline", "inline-dwarf4", "inline-compressed", "inline-cxx", "inline-cxx-dwarf4"};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		check_agreement(scene, built(scene, kinds[i]), kinds[i]);
}

/* All of assay is in this program. */
static void addr2line_agrees_on_this_very_program(void **state)
{
#ifdef __clang__
	(void)state;
	skip_for("binutils 2.40 does not read clang's range lists: 69 % agree");
#else
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(len > 0);
	path[len] = '\0';
	check_agreement(*state, path, "this program");
#endif
}

static void a_file_cut_anywhere_gives_names_or_a_sentence(void **state)
{
	str_auto struct str text = {0};
	struct names_options options = {.path = "cut"};
	struct err err = {0};

	if (io_read(built(*state, "inline"), 1 << 26, &text, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t len = 0; len < text.len; len += text.len / 97 + 1) {
		struct names_frame frames[CHAIN];
		struct names *names = NULL;

		if (names_open_bytes(text.at, len, &options, &names, &err) < 0) {
			assert_true(err.text[0] != '\0');
			continue;
		}
		names_find(names, 0x1150, 0, frames, CHAIN);
		names_close(names);
	}
}

#define sentence(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(inlined_functions_come_with_the_lines_that_call_them),
		sentence(clang_writes_it_differently_and_it_reads_the_same),
		sentence(code_of_another_machine_is_named_the_same),
		sentence(a_missing_dwo_file_is_said_and_lines_remain),
		sentence(lines_only_leaves_inlined_functions_out),
		sentence(symbols_only_reads_no_lines),
		sentence(a_chain_that_does_not_fit_keeps_the_physical_function),
		sentence(templates_lambdas_and_hidden_classes_have_full_names),
		sentence(a_function_is_found_by_any_name_that_fits_only_one),
		sentence(lines_of_a_function_come_in_order),
		sentence(stubs_of_library_calls_are_named),
		sentence(a_stripped_file_is_named_through_its_debug_link),
		sentence(a_debug_file_of_another_build_is_not_used),
		sentence(mini_debug_info_names_hidden_functions),
		sentence(debug_information_shared_by_dwz_is_followed),
		sentence(debuginfod_is_asked_only_when_told_to),
		sentence(a_replaced_file_is_refused_by_its_build_id),
		sentence(a_deleted_file_without_build_id_is_not_guessed),
		sentence(files_are_found_below_another_root),
		sentence(the_vdso_is_named_from_memory),
		sentence(rust_names_have_no_hash),
		sentence(a_stripped_go_program_has_its_function_table),
		sentence(addr2line_agrees_on_every_row_of_the_line_tables),
		sentence(addr2line_agrees_on_this_very_program),
		sentence(a_file_cut_anywhere_gives_names_or_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
