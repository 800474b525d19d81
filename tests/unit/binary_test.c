/* binary_test.c - programs built with known switches give the facts of those switches; broken ones
 * give a sentence. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/target.h"
#include "base/io.h"
#include "base/str.h"
#include "code/binary.h"
#include "code/prologue.h"
#include "ingest/build.h"
#include "model/run.h"
#include "render/machine_json.h"
#include "render/target.h"

static const char *built(struct arena *arena, const char *name)
{
	const char *folder = getenv("ASSAY_TEST_BINARIES");

	return arena_format(arena, "%s/%s", folder ? folder : "tests/workloads/binaries", name);
}

/* Skips the test, with a word, when the program was not built for want of its compiler. */
static struct binary_facts facts_of(struct arena *arena, const char *name)
{
	const char *path = built(arena, name);
	struct binary_facts facts = {0};
	struct err err = {0};

	if (access(path, F_OK) < 0) {
		print_message("# skip: %s was not built, its compiler is not installed\n", name);
		arena_done(arena); /* skip() jumps over the caller's clean-up */
		skip();
	}
	if (binary_inspect(path, NULL, arena, &facts, &err) < 0)
		fail_msg("%s", err.text);
	return facts;
}

static void the_kind_is_told_from_the_segments(void **state)
{
	static const struct {
		const char *name;
		enum binary_kind kind;
	} cases[] = {{"c-O2", BINARY_PIE}, {"c-no-pie", BINARY_EXEC}, {"c-static", BINARY_STATIC},
		{"c-static-pie", BINARY_STATIC_PIE}, {"c-library", BINARY_LIBRARY}};
	arena_auto struct arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct binary_facts facts = facts_of(&arena, cases[i].name);

		assert_int_equal(facts.kind, cases[i].kind);
		assert_int_equal(facts.loader != NULL,
			cases[i].kind == BINARY_PIE || cases[i].kind == BINARY_EXEC);
		assert_non_null(facts.build_id);
		assert_int_equal(strlen(facts.build_id), 40);
	}
}

static void recorded_switches_are_read(void **state)
{
	static const struct {
		const char *name, *level;
		unsigned dwarf;
	} cases[] = {{"c-O0", "-O0", 5}, {"c-O2", "-O2", 5}, {"c-O2-fp", "-O2", 5},
		{"c-dwarf4", "-O2", 4}, {"c-compressed", "-O2", 5}};
	arena_auto struct arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct binary_facts facts = facts_of(&arena, cases[i].name);

		assert_true(facts.has_debug_info && facts.has_debug_lines);
		assert_string_equal(facts.optimisation, cases[i].level);
		assert_int_equal(facts.optimisation_evidence, EVIDENCE_PRODUCER);
		assert_true(str_starts(facts.compiler, "gcc "));
		assert_int_equal(facts.dwarf_high, cases[i].dwarf);
		assert_int_equal(facts.language, LANGUAGE_C);
		assert_int_equal(facts.lto, BINARY_NO);
		assert_int_equal(facts.debug_compressed, str_equal(cases[i].name, "c-compressed"));
	}
	assert_non_null(strstr(facts_of(&arena, "c-O2-fp").flags, "-fno-omit-frame-pointer"));
	assert_int_equal(facts_of(&arena, "c-lto").lto, BINARY_YES);
}

static void a_native_build_keeps_its_switches_short(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts facts = facts_of(&arena, "c-native");

	(void)state;
	assert_non_null(facts.march);
	assert_true(strlen(facts.flags) < 160);
}

static void without_debug_information_the_level_is_a_guess(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts none = facts_of(&arena, "c-O0-bare");
	struct binary_facts some = facts_of(&arena, "c-O2-bare");

	(void)state;
	assert_int_equal(none.optimisation_evidence, EVIDENCE_CODE);
	assert_string_equal(none.optimisation, "-O0");
	assert_int_equal(some.optimisation_evidence, EVIDENCE_CODE);
	assert_string_equal(some.optimisation, "optimised");
	assert_non_null(strstr(some.optimisation_reason, "guess"));
	assert_null(some.flags);
	assert_non_null(some.flags_reason);
	assert_int_equal(some.lto, BINARY_UNKNOWN);
}

static void clang_is_known_and_its_level_guessed(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts none = facts_of(&arena, "clang-O0");
	struct binary_facts some = facts_of(&arena, "clang-O2");

	(void)state;
	assert_true(str_starts(none.compiler, "clang "));
	assert_string_equal(none.optimisation, "-O0");
	assert_int_equal(none.optimisation_evidence, EVIDENCE_CODE);
	assert_string_equal(some.optimisation, "optimised");
	assert_int_equal(some.optimisation_evidence, EVIDENCE_CODE);
}

static void frame_pointers_are_seen_also_when_stripped(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	assert_int_equal(facts_of(&arena, "c-O0").frame_pointers, BINARY_YES);
	assert_int_equal(facts_of(&arena, "c-O2").frame_pointers, BINARY_NO);
	assert_int_equal(facts_of(&arena, "c-O2-fp").frame_pointers, BINARY_YES);
	assert_int_equal(facts_of(&arena, "c-stripped").frame_pointers, BINARY_NO);
	assert_int_equal(facts_of(&arena, "c-stripped-fp").frame_pointers, BINARY_YES);
	assert_true(facts_of(&arena, "c-stripped-fp").functions_seen >= 4);
}

static void stripping_is_seen(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	assert_true(facts_of(&arena, "c-O2").has_symbols);
	assert_false(facts_of(&arena, "c-stripped").has_symbols);
	assert_false(facts_of(&arena, "c-stripped").has_debug_lines);
	assert_true(facts_of(&arena, "c-stripped").has_eh_frame_header);
	assert_null(facts_of(&arena, "c-no-build-id").build_id);
	assert_true(facts_of(&arena, "c-split").debug_split);
	assert_false(facts_of(&arena, "c-O2").debug_split);
}

static void sanitizers_and_instruments_are_named(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts hidden = facts_of(&arena, "c-static-stripped");

	(void)state;
	assert_string_equal(facts_of(&arena, "c-O2").sanitizers, "none");
	assert_string_equal(facts_of(&arena, "c-asan").sanitizers, "address,undefined");
	assert_string_equal(facts_of(&arena, "c-asan").allocator, "sanitizer");
	assert_string_equal(facts_of(&arena, "c-tsan").sanitizers, "thread");
	assert_string_equal(facts_of(&arena, "c-gcov").instruments, "gcov");
	assert_string_equal(facts_of(&arena, "c-pg").instruments, "pg");
	assert_string_equal(facts_of(&arena, "c-static").allocator, "libc");
	assert_null(hidden.sanitizers);
	assert_null(hidden.allocator);
	assert_non_null(hidden.signs_reason);
	assert_int_equal(hidden.threads, BINARY_UNKNOWN);
}

static void threads_probes_and_progress_points_are_seen(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	assert_int_equal(facts_of(&arena, "c-threads").threads, BINARY_YES);
	assert_int_equal(facts_of(&arena, "c-O2").threads, BINARY_NO);
	assert_int_equal(facts_of(&arena, "c-probe").usdt_probes, 1);
	assert_int_equal(facts_of(&arena, "c-O2").usdt_probes, 0);
	assert_true(facts_of(&arena, "c-coz").coz_points);
	assert_false(facts_of(&arena, "c-O2").coz_points);
}

static void cxx_is_told_from_units_or_names(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts both = facts_of(&arena, "cxx-and-c");

	(void)state;
	assert_int_equal(facts_of(&arena, "cxx").language, LANGUAGE_CXX);
	assert_false(facts_of(&arena, "cxx").language_mixed);
	assert_int_equal(facts_of(&arena, "cxx-stripped").language, LANGUAGE_CXX);
	assert_true(both.language_mixed);
	assert_int_equal(both.unit_count[LANGUAGE_C], 1);
	assert_int_equal(both.unit_count[LANGUAGE_CXX], 1);
}

/* Skip where the programs were built by an older rustc 1.x: the marks it leaves came over the
 * years, and Debian 12 has 1.63. */
static void need_rustc(int minor)
{
	arena_auto struct arena arena = {0};
	const char *compiler = facts_of(&arena, "rust").compiler;

	if (!compiler || !str_starts(compiler, "rustc 1.") ||
		atoi(compiler + strlen("rustc 1.")) < minor) {
		print_message("# skip: rustc older than 1.%d\n", minor);
		skip();
	}
}

static void rust_is_told_from_its_marks(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts whole = facts_of(&arena, "rust");

	(void)state;
	assert_int_equal(whole.language, LANGUAGE_RUST);
	assert_true(str_starts(whole.compiler, "rustc "));
	assert_true(whole.unit_count[LANGUAGE_RUST] > 0);
	assert_string_equal(whole.optimisation, "optimised");
	assert_false(facts_of(&arena, "rust-stripped").has_symbols);
}

static void go_is_told_from_its_sections_even_stripped(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts whole = facts_of(&arena, "go");
	struct binary_facts stripped = facts_of(&arena, "go-stripped");

	(void)state;
	assert_int_equal(whole.language, LANGUAGE_GO);
	assert_int_equal(stripped.language, LANGUAGE_GO);
	assert_true(str_starts(stripped.compiler, "go 1."));
	assert_int_equal(stripped.frame_pointers, BINARY_YES);
}

static void libraries_are_found_with_their_build_ids(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts facts = facts_of(&arena, "cxx");
	bool libc = false;

	(void)state;
	for (uint32_t i = 0; i < facts.library_count; i++)
		libc |= str_starts(facts.libraries[i].name, "libc.so") &&
			facts.libraries[i].path != NULL;
	assert_true(libc);
	assert_int_equal(facts.libraries_missing, 0);
	assert_int_equal(facts_of(&arena, "c-static").library_count, 0);
}

static void a_separate_debug_file_is_found_and_read(void **state)
{
	arena_auto struct arena arena = {0};
	const char *whole = built(&arena, "c-O2");
	char folder[] = "/tmp/assay-binary-XXXXXX";
	struct binary_facts facts = {0};
	struct err err = {0};
	const char *command, *path;

	(void)state;
	if (access(whole, F_OK) < 0 || system("command -v objcopy >/dev/null") != 0) {
		print_message("# skip: objcopy or gcc is not installed\n");
		arena_done(&arena);
		skip();
	}
	assert_non_null(mkdtemp(folder));
	command = arena_format(&arena,
		"cd %s && objcopy --only-keep-debug '%s' p.debug && objcopy -g '%s' p && "
		"strip p && objcopy --add-gnu-debuglink=p.debug p",
		folder, whole, whole);
	assert_int_equal(system(command), 0);
	path = arena_format(&arena, "%s/p", folder);
	assert_int_equal(binary_inspect(path, NULL, &arena, &facts, &err), 0);
	assert_int_equal(system(arena_format(&arena, "rm -r %s", folder)), 0);
	assert_false(facts.has_debug_info);
	assert_string_equal(facts.debug_link, "p.debug");
	assert_non_null(facts.debug_file);
	assert_true(facts.has_separate_lines);
	assert_string_equal(facts.optimisation, "-O2");
}

/* Write a file for one test; returns its path. */
static const char *write_file(struct arena *arena, const char *name, const void *bytes, size_t len)
{
	const char *path = arena_format(arena, "/tmp/assay-binary-%d-%s", (int)getpid(), name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	close(fd);
	return path;
}

static void a_script_gives_the_facts_of_its_interpreter(void **state)
{
	static const char *const lines[] = {"#!/bin/sh\n", "#! /bin/sh -e\r\n",
		"#!/usr/bin/env sh\n", "#!/usr/bin/env -S A=1 sh -e\n"};
	arena_auto struct arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const char *path = write_file(&arena, "script", lines[i], strlen(lines[i]));
		struct binary_facts facts = {0};
		struct err err = {0};
		int r = binary_inspect(path, NULL, &arena, &facts, &err);

		unlink(path);
		if (r < 0)
			fail_msg("%s", err.text);
		assert_string_equal(facts.script, path);
		assert_true(str_ends(facts.path, "/sh") || facts.path[0] == '/');
	}
}

static void expect_refusal(const char *name, const char *words)
{
	arena_auto struct arena arena = {0};
	struct binary_facts facts = {.units = 7};
	struct err err = {0};

	assert_true(binary_inspect(name, NULL, &arena, &facts, &err) < 0);
	assert_int_equal(err.kind, ERR_TARGET);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
	assert_int_equal(facts.units, 7); /* untouched on failure */
}

static void what_cannot_be_run_is_refused_with_a_sentence(void **state)
{
	arena_auto struct arena arena = {0};
	const char *path;

	(void)state;
	expect_refusal("", "empty");
	expect_refusal("/tmp", "is a directory");
	expect_refusal("/tmp/assay-no-such-program", "cannot find the program");
	expect_refusal("assay-no-such-program-at-all", "no program");
	expect_refusal("/etc/passwd", "is not executable");
	expect_refusal("/dev/null", "not a regular file");
	path = write_file(&arena, "text", "hello\n", 6);
	expect_refusal(path, "neither an ELF program nor a script");
	path = write_file(&arena, "text", "#!\n", 3);
	expect_refusal(path, "names no interpreter");
	path = write_file(&arena, "text", "#!/no/such\n", 11);
	expect_refusal(path, "/no/such, cannot be run");
	path = write_file(&arena, "text", "", 0);
	expect_refusal(path, "neither");
	path = write_file(&arena, "text", "\177ELF", 4);
	expect_refusal(path, "not an ELF program");
	unlink(path);
}

static void a_misspelt_name_gets_a_suggestion(void **state)
{
	arena_auto struct arena arena = {0};
	struct err err = {0};
	const char *path;

	(void)state;
	assert_int_equal(binary_find("mkdri", &arena, &path, &err), -ENOENT);
	assert_non_null(strstr(err.hint, "did you mean 'mkdir'?"));
}

static void a_program_for_another_machine_is_refused(void **state)
{
	static const struct {
		unsigned char class, order;
		unsigned short machine;
		const char *words;
	} cases[] = {
		{ELFCLASS32, ELFDATA2LSB, EM_386, "is a program for i386, but this machine is"},
		{ELFCLASS64, ELFDATA2MSB, EM_PPC64, "is a program for PowerPC 64"},
		{ELFCLASS64, ELFDATA2LSB, EM_RISCV, "is a program for RISC-V"},
#ifdef __x86_64__
		{ELFCLASS64, ELFDATA2LSB, EM_AARCH64,
			"is a program for aarch64, but this machine is x86-64"},
		{ELFCLASS32, ELFDATA2LSB, EM_X86_64, "is a 32-bit program"},
#endif
	};
	arena_auto struct arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned char head[64] = {0x7f, 'E', 'L', 'F', cases[i].class, cases[i].order, 1};
		bool big = cases[i].order == ELFDATA2MSB;
		const char *path;

		head[18 + big] = (unsigned char)cases[i].machine;
		head[19 - big] = (unsigned char)(cases[i].machine >> 8);
		path = write_file(&arena, "foreign", head, sizeof(head));
		expect_refusal(path, cases[i].words);
		unlink(path);
	}
}

/* A copy of exactly `len` bytes, so that the sanitizer sees a read past its end. */
static void inspect_copy(const char *bytes, size_t len)
{
	arena_auto struct arena arena = {0};
	struct binary_facts facts = {0};
	struct err err = {0};
	mem_auto char *copy = mem_new(len, 1);

	memcpy(copy, bytes, len);
	if (binary_inspect_bytes(copy, len, "copy", &arena, &facts, &err) < 0)
		assert_true(err.text[0] != '\0');
}

static void read_built(const char *name, struct str *text)
{
	arena_auto struct arena arena = {0};
	struct err err = {0};

	facts_of(&arena, name);
	assert_int_equal(io_read(built(&arena, name), 64 << 20, text, &err), 0);
}

static void a_program_cut_anywhere_never_crashes(void **state)
{
	static const char *const names[] = {"c-O2", "c-stripped", "c-compressed", "cxx"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		str_auto struct str text = {0};

		read_built(names[i], &text);
		for (size_t len = 1; len < text.len; len += len < 1024 ? 61 : 1024)
			inspect_copy(text.at, len);
	}
}

static void flipped_bytes_never_crash(void **state)
{
	str_auto struct str text = {0};
	uint64_t seed = 42;

	(void)state;
	read_built("c-O2", &text);
	for (int round = 0; round < 3000; round++) {
		size_t where[8];
		char before[8];

		for (int i = 0; i < 8; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			/* half of the flips hit the headers, which steer everything */
			where[i] = (seed >> 20) % (seed >> 63 ? text.len : 1024);
			before[i] = text.at[where[i]];
			text.at[where[i]] ^= (char)(seed >> 12);
		}
		inspect_copy(text.at, text.len);
		for (int i = 7; i >= 0; i--)
			text.at[where[i]] = before[i];
	}
}

static void system_programs_give_plausible_facts(void **state)
{
	static const char *const names[] = {"ls", "perl", "bash", "sh", "cat", "sort", "find"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		arena_auto struct arena arena = {0};
		struct binary_options options = {.sha256 = true};
		struct binary_facts facts = {0};
		struct err err = {0};

		if (binary_inspect(names[i], &options, &arena, &facts, &err) < 0)
			continue; /* not installed here */
		assert_non_null(facts.machine);
		assert_true(facts.size_bytes > 1000);
		assert_int_equal(strlen(facts.sha256), 64);
		assert_true(facts.functions_framed <= facts.functions_seen);
	}
}

static struct prologue look(enum prologue_machine machine, const uint8_t *code, size_t len)
{
	struct prologue_code function = {.machine = machine,
		.code = code,
		.len = len,
		.addr = 0x1000,
		.low = 0x1000,
		.high = 0x2000};

	return prologue_look(&function);
}

static void prologues_of_x86_are_told_apart(void **state)
{
	/* endbr64; push %rbp; mov %rsp,%rbp; call +0 */
	static const uint8_t framed[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3, 0x90};
	/* push %r13; mov %rsp,%rbp after sub: %rbp is a buffer; call */
	static const uint8_t buffer[] = {
		0x55, 0x53, 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0xc3, 0x90};
	/* test; je; push %rbp; mov %rsp,%rbp; call: the prologue behind an early exit */
	static const uint8_t wrapped[] = {
		0x85, 0xff, 0x74, 0x0b, 0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3, 0xc3};
	/* call first, frame later: it is another function's */
	static const uint8_t late[] = {
		0xe8, 0, 0, 0, 0, 0xc3, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
	/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov %rdi,-8(%rbp); call */
	static const uint8_t stores[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89,
		0x7d, 0xf8, 0xe8, 0, 0, 0, 0, 0xc9, 0xc3, 0x90};
	/* Go 1.20: sub $24,%rsp; mov %rbp,16(%rsp); lea 16(%rsp),%rbp; call */
	static const uint8_t go[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x48,
		0x8d, 0x6c, 0x24, 0x10, 0xe8, 0, 0, 0, 0, 0xc3};
	struct prologue seen;

	(void)state;
	seen = look(PROLOGUE_X86_64, framed, sizeof(framed));
	assert_true(seen.calls && seen.frames && !seen.spills);
	seen = look(PROLOGUE_X86_64, buffer, sizeof(buffer));
	assert_true(seen.calls && !seen.frames);
	seen = look(PROLOGUE_X86_64, wrapped, sizeof(wrapped));
	assert_true(seen.calls && seen.frames);
	seen = look(PROLOGUE_X86_64, late, sizeof(late));
	assert_true(seen.calls && !seen.frames);
	seen = look(PROLOGUE_X86_64, stores, sizeof(stores));
	assert_true(seen.calls && seen.frames && seen.spills);
	seen = look(PROLOGUE_X86_64, go, sizeof(go));
	assert_true(seen.calls && seen.frames);
	for (size_t len = 0; len < sizeof(stores); len++)
		look(PROLOGUE_X86_64, stores, len);
}

static void prologues_of_aarch64_are_told_apart(void **state)
{
	/* paciasp; stp x29,x30,[sp,#-32]!; mov x29,sp; bl */
	static const uint32_t framed[] = {0xd503233f, 0xa9be7bfd, 0x910003fd, 0x94000001};
	/* sub sp,sp,#48; stp x29,x30,[sp,#32]; add x29,sp,#32; str x0,[sp,#8]; bl */
	static const uint32_t stores[] = {
		0xd100c3ff, 0xa9027bfd, 0x910083fd, 0xf90007e0, 0x94000001};
	/* str x30,[sp,#-16]!; bl */
	static const uint32_t bare[] = {0xf81f0ffe, 0x94000001, 0xf84107fe, 0xd65f03c0};
	struct prologue seen;

	(void)state;
	seen = look(PROLOGUE_AARCH64, (const uint8_t *)framed, sizeof(framed));
	assert_true(seen.calls && seen.frames && !seen.spills);
	seen = look(PROLOGUE_AARCH64, (const uint8_t *)stores, sizeof(stores));
	assert_true(seen.calls && seen.frames && seen.spills);
	seen = look(PROLOGUE_AARCH64, (const uint8_t *)bare, sizeof(bare));
	assert_true(seen.calls && !seen.frames);
}

static const struct target_row *row_of(const struct target_view *view, const char *name)
{
	for (unsigned i = 0; i < view->row_count; i++)
		if (str_equal(view->rows[i].name, name))
			return &view->rows[i];
	fail_msg("no row %s", name);
	abort();
}

static void each_finding_has_a_cost_and_a_fix_for_its_language(void **state)
{
	static const struct {
		const char *program, *row, *finding, *fix;
	} cases[] = {{"c-stripped", "symbols", "stripped", "do not strip"},
		{"c-stripped", "line tables", "no-lines", "-g"},
		{"c-stripped", "frame pointers", "no-frame-pointers", "-fno-omit-frame-pointer"},
		{"c-static", "kind", "static", "-static"},
		{"c-O0", "optimisation", "unoptimised", "-O2"},
		{"c-asan", "sanitizers", "sanitizers", "-fsanitize"},
		{"c-gcov", "instrumentation", "instrumented", "--coverage"},
		{"c-no-build-id", "build-id", "no-build-id", "--build-id"},
		{"c-split", "line tables", "split-debug", "dwp"},
		{"c-library", "kind", "library", "program that loads it"}};
	arena_auto struct arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct binary_facts facts = facts_of(&arena, cases[i].program);
		const struct target_row *row;
		struct target_view view;

		target_view_make(&facts, &arena, &view);
		row = row_of(&view, cases[i].row);
		assert_true(row->status != TARGET_OK);
		assert_string_equal(row->finding, cases[i].finding);
		assert_true(row->cost && *row->cost);
		assert_non_null(strstr(row->fix, cases[i].fix));
	}
}

static void stripped_rust_is_known_and_told_not_to_strip(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts stripped = facts_of(&arena, "rust-stripped");
	struct target_view view;

	(void)state;
	need_rustc(78);
	assert_string_equal(facts_of(&arena, "rust-debug").optimisation, "-O0");
	assert_int_equal(stripped.language, LANGUAGE_RUST);
	assert_true(str_starts(stripped.compiler, "rustc "));
	target_view_make(&stripped, &arena, &view);
	assert_string_equal(row_of(&view, "symbols")->finding, "stripped");
	assert_non_null(strstr(row_of(&view, "symbols")->fix, "[profile.release]"));
}

static void a_good_build_has_nothing_to_complain_about(void **state)
{
	arena_auto struct arena arena = {0};
	struct binary_facts facts = facts_of(&arena, "c-O2-fp");
	str_auto struct str text = {0};
	struct paper paper = {.out = &text, .ascii = true};
	struct target_view view;

	(void)state;
	target_view_make(&facts, &arena, &view);
	for (unsigned i = 0; i < view.row_count; i++)
		if (view.rows[i].status != TARGET_OK)
			fail_msg("%s: %s", view.rows[i].name, view.rows[i].value);
	target_agent(&paper, &view);
	assert_non_null(strstr(text.at, "target ok"));
}

static void every_fact_is_in_the_document_or_says_why_not(void **state)
{
	static const char *const programs[] = {"c-O2", "c-static-stripped", "cxx"};
	arena_auto struct arena arena = {0};

	(void)state;
	for (size_t p = 0; p < sizeof(programs) / sizeof(*programs); p++) {
		struct binary_facts facts = facts_of(&arena, programs[p]);
		str_auto struct str text = {0}, shown = {0};
		struct jsonw w = {.out = &text};
		struct paper paper = {.out = &shown};
		struct target_view view;

		target_view_make(&facts, &arena, &view);
		assert_true(view.fact_count < TARGET_FACTS - 1);
		assert_true(view.row_count < TARGET_ROWS - 1);
		target_json(&w, &view);
		target_text(&paper, &view);
		for (unsigned i = 0; i < view.fact_count; i++) {
			const struct target_fact *fact = &view.facts[i];

			assert_non_null(
				strstr(text.at, arena_format(&arena, "\"%s\":", fact->key)));
			if (fact->type == TARGET_MISSING)
				assert_non_null(strstr(text.at,
					arena_format(&arena, "\"%s_reason\":", fact->key)));
		}
		assert_non_null(strstr(shown.at, "frame pointers"));
	}
}

static void build_fields_are_values_or_absent_never_empty(void **state)
{
	static const char *const programs[] = {"c-O2", "c-stripped", "c-static-stripped"};
	arena_auto struct arena arena = {0};

	(void)state;
	for (size_t p = 0; p < sizeof(programs) / sizeof(*programs); p++) {
		struct binary_facts facts = facts_of(&arena, programs[p]);
		run_auto struct run *run = run_open();
		bool level = false;

		ingest_build_fields(run, &facts);
		assert_true(run->fields.count > 15);
		vec_foreach (const struct field_row, field, &run->fields) {
			assert_string_equal(run_text(run, field->group), "build");
			assert_int_equal(field->state, field->value ? FIELD_VALUE : FIELD_ABSENT);
			level |= str_equal(run_text(run, field->name), "optimisation") &&
				 str_equal(run_text(run, field->value), "-O2");
		}
		assert_int_equal(level, p == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kind_is_told_from_the_segments),
		cmocka_unit_test(recorded_switches_are_read),
		cmocka_unit_test(a_native_build_keeps_its_switches_short),
		cmocka_unit_test(without_debug_information_the_level_is_a_guess),
		cmocka_unit_test(clang_is_known_and_its_level_guessed),
		cmocka_unit_test(frame_pointers_are_seen_also_when_stripped),
		cmocka_unit_test(stripping_is_seen),
		cmocka_unit_test(sanitizers_and_instruments_are_named),
		cmocka_unit_test(threads_probes_and_progress_points_are_seen),
		cmocka_unit_test(cxx_is_told_from_units_or_names),
		cmocka_unit_test(rust_is_told_from_its_marks),
		cmocka_unit_test(go_is_told_from_its_sections_even_stripped),
		cmocka_unit_test(libraries_are_found_with_their_build_ids),
		cmocka_unit_test(a_separate_debug_file_is_found_and_read),
		cmocka_unit_test(a_script_gives_the_facts_of_its_interpreter),
		cmocka_unit_test(what_cannot_be_run_is_refused_with_a_sentence),
		cmocka_unit_test(a_misspelt_name_gets_a_suggestion),
		cmocka_unit_test(a_program_for_another_machine_is_refused),
		cmocka_unit_test(a_program_cut_anywhere_never_crashes),
		cmocka_unit_test(flipped_bytes_never_crash),
		cmocka_unit_test(system_programs_give_plausible_facts),
		cmocka_unit_test(prologues_of_x86_are_told_apart),
		cmocka_unit_test(prologues_of_aarch64_are_told_apart),
		cmocka_unit_test(each_finding_has_a_cost_and_a_fix_for_its_language),
		cmocka_unit_test(stripped_rust_is_known_and_told_not_to_strip),
		cmocka_unit_test(a_good_build_has_nothing_to_complain_about),
		cmocka_unit_test(every_fact_is_in_the_document_or_says_why_not),
		cmocka_unit_test(build_fields_are_values_or_absent_never_empty),
	};

	return cmocka_run_group_tests_name("binary", tests, NULL, NULL);
}
