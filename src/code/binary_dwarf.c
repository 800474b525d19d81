/* binary_dwarf.c - which compiler made each unit, in which language, with which switches.
 *
 * Only the first entry of each unit is read.  Opening unpacks every compressed debug section, so a
 * file with much of that is left alone. */
#include <dwarf.h>
#include <string.h>

#include "binary_parts.h"

#ifndef DW_LANG_Rust
#define DW_LANG_Rust 0x1c
#endif

enum {
	PRODUCER_LIMIT = 256,	   /* distinct ones that are kept apart */
	UNPACKED_LIMIT = 64 << 20, /* bytes of compressed sections, unpacked */
};

struct producer {
	const char *text; /* the debug information's */
	enum binary_language language;
	uint32_t units;
};

struct producers {
	vec_of(struct producer) list;
};

static enum binary_language language_of(uint64_t code)
{
	switch (code) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* C17 */
		return LANGUAGE_C;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* C++17 */
	case 0x2d: /* C++20 */
		return LANGUAGE_CXX;
	case DW_LANG_Rust:
		return LANGUAGE_RUST;
	case DW_LANG_Go:
		return LANGUAGE_GO;
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return LANGUAGE_FORTRAN;
	case DW_LANG_Mips_Assembler:
		return LANGUAGE_ASSEMBLER;
	default:
		return LANGUAGE_OTHER;
	}
}

/* Bytes the compressed debug sections say they become, or that many that it is too much. */
static uint64_t unpacked_bytes(const struct image *image)
{
	uint64_t sum = 0;

	vec_foreach (const struct image_section, section, &image->sections) {
		Elf64_Chdr head;

		if (str_starts(section->name, ".zdebug_"))
			sum += section->head.sh_size * 8; /* the old form: taken as 8:1 */
		if (!(section->head.sh_flags & SHF_COMPRESSED) || !section->data ||
			section->head.sh_size < sizeof(head))
			continue;
		memcpy(&head, section->data, sizeof(head));
		sum = head.ch_size > UNPACKED_LIMIT ? UINT32_MAX : sum + head.ch_size;
	}
	return sum;
}

static void add_producer(
	struct producers *producers, const char *text, enum binary_language language)
{
	vec_foreach (struct producer, known, &producers->list) {
		if (known->language != language ||
			(known->text != text && strcmp(known->text, text) != 0))
			continue;
		known->units++;
		return;
	}
	if (producers->list.count < PRODUCER_LIMIT)
		vec_push(&producers->list, (struct producer){text, language, 1});
}

static void take_unit(
	struct binary_facts *facts, struct producers *producers, struct debug_unit *unit)
{
	enum binary_language language;

	debug_unit_head(unit);
	if (!facts->dwarf_low || unit->version < facts->dwarf_low)
		facts->dwarf_low = unit->version;
	if (unit->version > facts->dwarf_high)
		facts->dwarf_high = unit->version;
	facts->debug_split |= unit->split_name != NULL;
	if (unit->tag != DW_TAG_compile_unit || !unit->language)
		return;
	language = language_of(unit->language);
	facts->unit_count[language]++;
	if (language == LANGUAGE_ASSEMBLER)
		return;
	facts->units++;
	if (unit->producer)
		add_producer(producers, unit->producer, language);
}

/* The version number behind `mark`: digits and dots. */
static const char *version_behind(struct arena *arena, const char *tool, const char *at)
{
	size_t len = strspn(at, "0123456789.");

	return len ? arena_format(arena, "%s %.*s", tool, (int)len, at) : NULL;
}

static const char *compiler_of(struct arena *arena, const char *producer)
{
	static const struct {
		const char *mark, *tool;
	} marks[] = {{"rustc version ", "rustc"}, {"Go cmd/compile go", "go"},
		{"clang version ", "clang"}, {"flang version ", "flang"}};
	const char *at = NULL, *found = NULL;

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks) && !found; i++) {
		at = strstr(producer, marks[i].mark);
		if (at)
			found = version_behind(arena, marks[i].tool, at + strlen(marks[i].mark));
	}
	if (!found && str_starts(producer, "GNU ")) {
		at = strchr(producer + 4, ' ');
		found = at ? version_behind(arena, "gcc", at + 1) : NULL;
	}
	return found ? found : arena_text(arena, producer, strcspn(producer, "-("));
}

/* The switches worth keeping, in the order they are shown.  `last`: a later one replaces it. */
static const struct {
	const char *prefix;
	bool last;
} switches[] = {{"-O", true}, {"-g", true}, {"-march=", true}, {"-mcpu=", true}, {"-mtune=", true},
	{"-flto", true}, {"-fomit-frame-pointer", true}, {"-fno-omit-frame-pointer", true},
	{"-fsanitize", false}, {"-fprofile-", false}, {"-fbranch-probabilities", true},
	{"-pg", true}, {"-ffast-math", true}, {"-funroll", false}, {"-fno-inline", true},
	{"-fstack-protector", true}, {"-fcf-protection", true}, {"-fno-plt", true}};

/* The last word of `producer` that starts with `prefix`; len 0 when there is none. */
static const char *find_switch(const char *producer, const char *prefix, size_t *ret_len)
{
	const char *found = NULL, *at = producer;
	size_t len = strlen(prefix);

	*ret_len = 0;
	while ((at = strchr(at, ' ')) != NULL) {
		at++;
		if (strncmp(at, prefix, len) != 0)
			continue;
		found = at;
		*ret_len = strcspn(at, " ");
	}
	return found;
}

static bool is_kept_machine_switch(const char *at)
{
	return str_starts(at, "-march=") || str_starts(at, "-mcpu=") || str_starts(at, "-mtune=");
}

/* -march=native is recorded as some seventy -m switches: they are counted, not listed. */
static const char *flags_of(struct arena *arena, const char *producer)
{
	str_auto struct str text = {0};
	unsigned machine = 0;

	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		const char *at = producer;
		size_t len;

		if (switches[i].last) {
			at = find_switch(producer, switches[i].prefix, &len);
			if (at)
				str_addf(&text, "%s%.*s", text.len ? " " : "", (int)len, at);
			continue;
		}
		while ((at = strchr(at, ' ')) != NULL)
			if (str_starts(++at, switches[i].prefix))
				str_addf(&text, "%s%.*s", text.len ? " " : "",
					(int)strcspn(at, " "), at);
	}
	for (const char *at = producer; (at = strstr(at, " -m")) != NULL; at++)
		machine += !is_kept_machine_switch(at + 1);
	if (machine)
		str_addf(&text, "%s(%u more -m switches)", text.len ? " " : "", machine);
	return text.len ? arena_text(arena, text.at, text.len) : NULL;
}

/* "-O2"; NULL when the producer recorded no switches. */
static const char *optimisation_of(struct arena *arena, const struct producer *producer)
{
	size_t len;
	const char *at = find_switch(producer->text, "-O", &len);

	if (producer->language == LANGUAGE_GO)
		return strstr(producer->text, " -N") ? "-N" : "optimised";
	if (!strstr(producer->text, " -"))
		return NULL;
	if (!at)
		return "-O0";
	return len == 2 ? "-O1" : arena_text(arena, at, len);
}

/* The level most units have, and whether others have another. */
static void weigh_optimisation(struct binary_work *work, const struct producers *producers)
{
	struct binary_facts *facts = work->facts;
	uint32_t best = 0;

	vec_foreach (const struct producer, one, &producers->list) {
		const char *level = optimisation_of(work->arena, one);
		uint32_t units = 0;

		if (!level)
			continue;
		vec_foreach (const struct producer, other, &producers->list) {
			const char *its = optimisation_of(work->arena, other);

			if (its && str_equal(its, level))
				units += other->units;
		}
		facts->optimisation_mixed |=
			facts->optimisation && !str_equal(facts->optimisation, level);
		if (units > best) {
			best = units;
			facts->optimisation = level;
			facts->optimisation_evidence = EVIDENCE_PRODUCER;
		}
	}
}

static void weigh_producers(struct binary_work *work, const struct producers *producers)
{
	struct binary_facts *facts = work->facts;
	const struct producer *most = NULL;
	const char *march;
	size_t len;

	vec_foreach (const struct producer, one, &producers->list) {
		if (!most || one->units > most->units)
			most = one;
		if (strstr(one->text, " -flto") || str_starts(one->text, "GNU GIMPLE"))
			facts->lto = BINARY_YES;
		if (strstr(one->text, " -fprofile-use") || strstr(one->text, " -fauto-profile"))
			facts->pgo = BINARY_YES;
	}
	if (!most)
		return;
	weigh_optimisation(work, producers);
	facts->compiler = compiler_of(work->arena, most->text);
	if (!strstr(most->text, " -")) {
		facts->flags_reason = "its compiler does not record its flags";
		facts->producer = arena_copy(work->arena, most->text);
		return;
	}
	facts->producer = arena_text(
		work->arena, most->text, (size_t)(strstr(most->text, " -") - most->text));
	facts->flags = flags_of(work->arena, most->text);
	facts->lto = facts->lto == BINARY_YES ? BINARY_YES : BINARY_NO;
	facts->pgo = facts->pgo == BINARY_YES ? BINARY_YES : BINARY_NO;
	march = find_switch(most->text, "-march=", &len);
	if (!march)
		march = find_switch(most->text, "-mcpu=", &len);
	if (march)
		facts->march = arena_text(work->arena, strchr(march, '=') + 1,
			len - (size_t)(strchr(march, '=') + 1 - march));
}

void binary_read_dwarf(struct binary_work *work)
{
	struct binary_facts *facts = work->facts;
	struct producers producers = {0};

	if (!facts->has_debug_info && !facts->has_separate_info) {
		facts->flags_reason = "no debug information, where compilers record their flags";
		return;
	}
	if (unpacked_bytes(work->debug.image) > UNPACKED_LIMIT) {
		facts->flags_reason =
			"its debug information is compressed and too large to unpack here";
		return;
	}
	debug_set_open(&work->debug);
	if (work->debug.file) {
		vec_foreach (struct debug_unit, unit, &work->debug.file->units)
			take_unit(facts, &producers, unit);
		weigh_producers(work, &producers);
	}
	if (!facts->units)
		facts->flags_reason = "its debug information has no readable units";
	vec_done(&producers.list);
}
