/* binary_conclude.c - what follows from the signs: language, compiler, level, allocator.
 *
 * Recorded facts win.  What is only a guess from the look of the code is marked as one, and what
 * cannot be seen in a stripped static program is left unknown with the reason. */
#include <string.h>

#include "binary_parts.h"

enum { GUESS_FUNCTIONS = 3 }; /* fewer functions than this allow no guess */

/* Names are there to be read when the file has symbols, or imports what it uses. */
static bool names_are_visible(const struct binary_work *work)
{
	return work->facts->has_symbols || !binary_is_static(work->facts);
}

static void conclude_language_of_units(struct binary_work *work)
{
	struct binary_facts *facts = work->facts;
	str_auto struct str text = {0};
	unsigned languages = 0;

	facts->language = LANGUAGE_UNKNOWN;
	for (unsigned i = 0; i < LANGUAGES; i++) {
		if (i == LANGUAGE_ASSEMBLER || !facts->unit_count[i])
			continue;
		languages++;
		str_addf(&text, "%s%u %s", text.len ? ", " : "", facts->unit_count[i],
			binary_language_name((enum binary_language)i));
		if (facts->unit_count[i] > facts->unit_count[facts->language])
			facts->language = (enum binary_language)i;
	}
	facts->language_mixed = languages > 1;
	facts->language_evidence =
		arena_format(work->arena, "languages in its debug information: %s", text.at);
	/* node: debug information of its C libraries only, while nearly all of it is C++ */
	if (work->names_cxx > facts->units && !facts->unit_count[LANGUAGE_CXX] &&
		facts->language != LANGUAGE_RUST) {
		facts->language = LANGUAGE_CXX;
		facts->language_mixed = true;
		facts->language_evidence = arena_format(
			work->arena, "C++ names; its debug information has only: %s", text.at);
	}
}

static void conclude_language(struct binary_work *work)
{
	struct binary_facts *facts = work->facts;

	if (facts->language == LANGUAGE_GO) {
		facts->language_evidence = "Go's own sections";
	} else if (facts->units) {
		conclude_language_of_units(work);
	} else if (work->names_rust > work->names_cxx || work->signs & SIGN_RUST ||
		   (facts->comment && strstr(facts->comment, "rustc version"))) {
		facts->language = LANGUAGE_RUST;
		facts->language_evidence = "Rust names or a mark of rustc";
	} else if (work->names_cxx || work->signs & SIGN_CXX) {
		facts->language = LANGUAGE_CXX;
		facts->language_evidence = "C++ names or the C++ library";
	} else if (facts->comment || names_are_visible(work)) {
		facts->language = LANGUAGE_C;
		facts->language_evidence = "a guess: no sign of another language";
	}
}

/* Compiler marks in .comment, the strongest first: start files of gcc are in every program. */
static void conclude_compiler(struct binary_work *work)
{
	static const struct {
		const char *mark, *tool;
	} marks[] = {{"rustc version ", "rustc"}, {"clang version ", "clang"}, {"GCC: (", "gcc"}};
	struct binary_facts *facts = work->facts;

	for (size_t i = 0; !facts->compiler && facts->comment && i < 3; i++) {
		const char *at = strstr(facts->comment, marks[i].mark);

		if (!at)
			continue;
		at += strlen(marks[i].mark);
		if (str_equal(marks[i].tool, "gcc")) {
			at = strstr(at, ") ");
			at = at ? at + 2 : "";
		}
		if (strspn(at, "0123456789."))
			facts->compiler = arena_format(work->arena, "%s %.*s", marks[i].tool,
				(int)strspn(at, "0123456789."), at);
	}
}

static void conclude_go(struct binary_work *work)
{
	struct binary_facts *facts = work->facts;
	const char *flags = binary_go_setting(work, "-gcflags");
	const char *pgo = binary_go_setting(work, "-pgo"), *race = binary_go_setting(work, "-race");

	if (facts->language != LANGUAGE_GO || !work->go_settings)
		return;
	facts->flags = flags ? arena_format(work->arena, "-gcflags=%s", flags) : NULL;
	facts->flags_reason = flags ? NULL : "built without -gcflags";
	facts->optimisation = flags && strstr(flags, "-N") ? "-N" : "optimised";
	facts->optimisation_evidence = EVIDENCE_PRODUCER;
	facts->march = binary_go_setting(work, "GOAMD64");
	facts->march = facts->march ? facts->march : binary_go_setting(work, "GOARM64");
	facts->pgo = pgo ? BINARY_YES : BINARY_NO;
	facts->lto = BINARY_NO;
	if (race && str_equal(race, "true"))
		work->signs |= SIGN_TSAN;
}

/* Nothing recorded: look at the code.  At -O0 nearly every function that takes arguments begins by
 * storing them: 93-99 % of the functions of assay's own rooms with gcc 12 and clang 14, 1-3 % of
 * them with -O1 and -O2.  A debug build of Rust is different: most of it is Rust's optimised
 * library. */
static void guess_optimisation(struct binary_work *work)
{
	struct binary_facts *facts = work->facts;
	uint64_t all = work->functions_all, spilling = work->functions_spilling;

	if (facts->optimisation)
		return;
	facts->optimisation_evidence = EVIDENCE_CODE;
	if (work->signs & SIGN_RUST_CHECKS) {
		facts->optimisation = "-O0";
		facts->optimisation_reason =
			"a guess: it has the checks of rustc debug builds (since 1.78)";
	} else if (work->signs & SIGN_CLONE) {
		facts->optimisation = "optimised";
		facts->optimisation_reason =
			"a guess: it has function clones that only gcc -O2 and above creates";
	} else if (all >= GUESS_FUNCTIONS && spilling * 10 >= all * 4) {
		facts->optimisation = "-O0";
		facts->optimisation_reason = arena_format(work->arena,
			"a guess: %llu of %llu functions start by storing their arguments",
			(unsigned long long)spilling, (unsigned long long)all);
	} else if (all >= GUESS_FUNCTIONS && spilling * 10 <= all) {
		facts->optimisation = "optimised";
		facts->optimisation_reason = arena_format(work->arena,
			"a guess: only %llu of %llu functions start by storing their arguments",
			(unsigned long long)spilling, (unsigned long long)all);
	} else {
		facts->optimisation_evidence = EVIDENCE_NONE;
		facts->optimisation_reason =
			"no compiler flags are recorded, and the code is not clearly either";
		if (all < GUESS_FUNCTIONS)
			facts->optimisation_reason =
				"no compiler flags are recorded, and there are too few functions "
				"to guess";
	}
}

static const char *join_signs(const struct binary_work *work, const char *const *names,
	const uint32_t *signs, unsigned count)
{
	str_auto struct str text = {0};

	for (unsigned i = 0; i < count; i++)
		if (work->signs & signs[i])
			str_addf(&text, "%s%s", text.len ? "," : "", names[i]);
	return text.len ? arena_text(work->arena, text.at, text.len) : NULL;
}

static void conclude_instruments(struct binary_work *work)
{
	static const char *const sanitizers[] = {
		"address", "thread", "memory", "undefined", "leak", "hwaddress"};
	static const uint32_t sanitizer_signs[] = {
		SIGN_ASAN, SIGN_TSAN, SIGN_MSAN, SIGN_UBSAN, SIGN_LSAN, SIGN_HWASAN};
	static const char *const instruments[] = {"gcov", "profile-generate", "pg"};
	static const uint32_t instrument_signs[] = {SIGN_GCOV, SIGN_PROFILE, SIGN_MCOUNT};
	struct binary_facts *facts = work->facts;

	facts->sanitizers = join_signs(work, sanitizers, sanitizer_signs, 6);
	facts->instruments = join_signs(work, instruments, instrument_signs, 3);
	if (names_are_visible(work) || work->go_settings) {
		facts->sanitizers = facts->sanitizers ? facts->sanitizers : "none";
		facts->instruments = facts->instruments ? facts->instruments : "none";
	} else {
		facts->signs_reason = "it is static and stripped: no names to look at";
	}
	if (work->signs & SIGN_LTO)
		facts->lto = BINARY_YES;
}

static void set_allocator(struct binary_facts *facts, const char *name, const char *evidence)
{
	facts->allocator = name;
	facts->allocator_evidence = evidence;
}

static void conclude_allocator(struct binary_work *work)
{
	static const struct {
		const char *name, *library;
		uint32_t sign;
	} known[] = {{"jemalloc", "libjemalloc", SIGN_JEMALLOC},
		{"tcmalloc", "libtcmalloc", SIGN_TCMALLOC},
		{"mimalloc", "libmimalloc", SIGN_MIMALLOC}};
	struct binary_facts *facts = work->facts;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		for (uint32_t l = 0; l < facts->library_count; l++)
			if (str_starts(facts->libraries[l].name, known[i].library)) {
				set_allocator(facts, known[i].name, facts->libraries[l].name);
				return;
			}
		vec_foreach (const char *, needed, &work->dynamic.needed)
			if (str_starts(*needed, known[i].library))
				work->signs |= known[i].sign;
		if (work->signs & known[i].sign) {
			set_allocator(facts, known[i].name, "its names are in the program");
			return;
		}
	}
	if (facts->language == LANGUAGE_GO)
		set_allocator(facts, "go", "the Go runtime has its own");
	else if (work->signs & (SIGN_ASAN | SIGN_TSAN | SIGN_MSAN | SIGN_HWASAN))
		set_allocator(facts, "sanitizer", "a sanitizer replaces malloc");
	else if (work->signs & SIGN_MALLOC && !(work->signs & SIGN_LIBC_MALLOC))
		set_allocator(facts, "own", "the program defines malloc itself");
	else if (names_are_visible(work))
		set_allocator(facts, "libc", "no other malloc is linked");
}

void binary_conclude(struct binary_work *work)
{
	struct binary_facts *facts = work->facts;

	conclude_language(work);
	conclude_compiler(work);
	conclude_go(work);
	guess_optimisation(work);
	conclude_instruments(work);
	conclude_allocator(work);
	if (facts->language == LANGUAGE_GO || work->signs & SIGN_THREADS)
		facts->threads = BINARY_YES;
	else if (names_are_visible(work))
		facts->threads = BINARY_NO;
}
