/* target.c - judge a program file row by row.
 *
 * Each row is one small function: it says what was found and, when that costs something, names the
 * finding; cost and fix are then looked up in the advice for the program's language. */
#include "analyze/target.h"

#include <string.h>

#include "analyze/text_block.h"
#include "base/str.h"
#include "code/binary.h"
#include "target_parts.h"

/* The block of data/target.advice for a finding; an empty one: it has none. */
static void advice_find(struct arena *arena, const char *finding, struct text_block *ret_block)
{
	struct err err = {0};
	struct text_reader reader = {arena, "target.advice", data_text("target.advice"), 0, &err};

	do
		ret_block->count = text_block_next(&reader, ret_block) < 0 ? 0 : ret_block->count;
	while (ret_block->count && !str_equal(ret_block->pairs[0].value, finding));
}

static const char *replace_path(struct arena *arena, const char *text, const char *path)
{
	const char *mark = strstr(text, "{path}");

	if (!mark)
		return text;
	return arena_format(arena, "%.*s%s%s", (int)(mark - text), text, path, mark + 6);
}

/* The fix for the language, C++ falling back to C, anything to the general one. */
static const char *advice_fix(struct target_work *work, const struct text_block *advice)
{
	const char *language = work->view->language;
	const char *fix = text_block_value(advice, arena_format(work->arena, "fix.%s", language));

	if (!fix && str_equal(language, "c++"))
		fix = text_block_value(advice, "fix.c");
	if (!fix)
		fix = text_block_value(advice, "fix");
	/* a language without advice of its own gets C's: its flags are the nearest */
	if (!fix)
		fix = text_block_value(advice, "fix.c");
	return fix ? replace_path(work->arena, fix, work->view->path) : NULL;
}

static struct target_row *add_row(struct target_work *work, const char *name, const char *value)
{
	struct target_row *row = &work->view->rows[work->view->row_count];

	if (work->view->row_count + 1 < TARGET_ROWS)
		work->view->row_count++;
	*row = (struct target_row){.name = name, .value = value};
	return row;
}

/* A row whose fact may not be known: `value` NULL. */
static struct target_row *add_row_or_reason(
	struct target_work *work, const char *name, const char *value, const char *reason)
{
	struct target_row *row;

	if (value)
		return add_row(work, name, value);
	row = add_row(work, name, arena_format(work->arena, "not known: %s", reason));
	row->unknown = true;
	return row;
}

static void set_finding(struct target_work *work, struct target_row *row, enum target_status status,
	const char *finding)
{
	struct text_block advice;

	advice_find(work->arena, finding, &advice);
	row->status = status;
	row->unknown = false;
	row->finding = finding;
	row->cost = text_block_value(&advice, "cost");
	row->fix = advice_fix(work, &advice);
	if (status > work->view->worst)
		work->view->worst = status;
}

static void row_kind(struct target_work *work)
{
	static const char *const words[BINARY_KINDS] = {
		[BINARY_EXEC] = "dynamic executable at a fixed address",
		[BINARY_PIE] = "dynamic executable (PIE)",
		[BINARY_STATIC] = "static executable",
		[BINARY_STATIC_PIE] = "static executable (PIE)",
		[BINARY_LIBRARY] = "shared library",
	};
	const struct binary_facts *facts = work->facts;
	struct target_row *row;

	if (facts->script)
		set_finding(work, add_row(work, "script", facts->script), TARGET_LIMITED, "script");
	row = add_row(work, "kind",
		arena_format(work->arena, "%s, %s", words[facts->kind], facts->machine));
	if (binary_is_static(facts))
		set_finding(work, row, TARGET_LIMITED, "static");
	else if (facts->kind == BINARY_LIBRARY)
		set_finding(work, row, TARGET_NO, "library");
}

static void row_libraries(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	str_auto struct str missing = {0};

	if (!facts->library_count)
		return;
	for (uint32_t i = 0; i < facts->library_count; i++)
		if (!facts->libraries[i].path)
			str_addf(&missing, "%s%s", missing.len ? ", " : "",
				facts->libraries[i].name);
	if (missing.len)
		set_finding(work,
			add_row(work, "libraries",
				arena_format(work->arena, "not found: %s", missing.at)),
			TARGET_NO, "libraries-missing");
	else
		add_row(work, "libraries",
			arena_format(work->arena, "%u, all found", facts->library_count));
}

static void row_privileges(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;

	if (facts->setuid || facts->setgid || facts->file_capabilities)
		set_finding(work,
			add_row(work, "privileges",
				arena_format(work->arena, "%s%s%s", facts->setuid ? "setuid " : "",
					facts->setgid ? "setgid " : "",
					facts->file_capabilities ? "file capabilities" : "")),
			TARGET_LIMITED, "privileged");
	else
		add_row(work, "privileges", "none");
}

static void row_symbols(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;

	if (facts->has_symbols)
		add_row(work, "symbols", "in the file");
	else if (facts->debug_file)
		add_row(work, "symbols", arena_format(work->arena, "in %s", facts->debug_file));
	else if (facts->has_mini_symbols)
		set_finding(work, add_row(work, "symbols", "mini symbol table only"),
			TARGET_LIMITED, "mini-symbols");
	else
		set_finding(work, add_row(work, "symbols", "stripped"), TARGET_LIMITED, "stripped");
}

static const char *dwarf_words(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;

	if (!facts->dwarf_low)
		return "DWARF of unknown version";
	if (facts->dwarf_low != facts->dwarf_high)
		return arena_format(
			work->arena, "DWARF %u to %u", facts->dwarf_low, facts->dwarf_high);
	return arena_format(work->arena, "DWARF %u", facts->dwarf_low);
}

static void row_lines(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	bool own = facts->has_debug_lines;
	struct target_row *row;

	if (!own && !facts->has_separate_lines) {
		bool info = facts->has_debug_info || facts->has_separate_info;

		set_finding(work, add_row(work, "line tables", info ? "none, but types" : "none"),
			TARGET_NO, info ? "no-lines-info" : "no-lines");
		return;
	}
	row = add_row(work, "line tables",
		arena_format(work->arena, "%s, in %s%s%s", dwarf_words(work),
			own ? "the file" : facts->debug_file,
			facts->debug_compressed ? ", compressed" : "",
			facts->debug_split ? ", split (.dwo)" : ""));
	if (facts->debug_alternate && !facts->debug_alternate_found)
		set_finding(work, row, TARGET_LIMITED, "shared-debug");
	else if (facts->debug_split)
		set_finding(work, row, TARGET_LIMITED, "split-debug");
}

static void row_frames(struct target_work *work)
{
	static const char *const words[] = {[BINARY_UNKNOWN] = "",
		[BINARY_NO] = "no",
		[BINARY_YES] = "yes",
		[BINARY_MIXED] = "in parts"};
	const struct binary_facts *facts = work->facts;
	const char *value = arena_format(work->arena, "%s (%u of %u functions that call)",
		words[facts->frame_pointers], facts->functions_framed, facts->functions_seen);
	struct target_row *row = add_row_or_reason(work, "frame pointers",
		facts->functions_seen ? value : NULL, facts->frame_pointers_reason);

	if (facts->frame_pointers == BINARY_YES || facts->frame_pointers == BINARY_UNKNOWN)
		return;
	if (!facts->has_eh_frame)
		set_finding(work, row, TARGET_NO, "no-unwind");
	else if (facts->frame_pointers == BINARY_MIXED)
		set_finding(work, row, TARGET_LIMITED, "mixed-frame-pointers");
	else if (facts->frame_pointers == BINARY_NO)
		set_finding(work, row, TARGET_LIMITED, "no-frame-pointers");
}

static void row_unwind(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	const char *value =
		facts->has_eh_frame_header ? ".eh_frame with search table" : ".eh_frame";
	struct target_row *row =
		add_row(work, "unwind tables", facts->has_eh_frame ? value : "none");

	/* With frame pointers they are not needed; without, the row above has said it. */
	if (!facts->has_eh_frame && facts->frame_pointers == BINARY_UNKNOWN)
		set_finding(work, row, TARGET_LIMITED, "no-unwind-tables");
}

static void row_build(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	struct target_row *row;

	row = add_row(work, "build-id", facts->build_id ? facts->build_id : "none");
	if (!facts->build_id)
		set_finding(work, row, TARGET_LIMITED, "no-build-id");
	add_row_or_reason(work, "language",
		facts->language == LANGUAGE_UNKNOWN
			? NULL
			: arena_format(work->arena, "%s%s (%s)", work->view->language,
				  facts->language_mixed ? " and others" : "",
				  facts->language_evidence),
		"no sign of one");
	add_row_or_reason(work, "compiler", facts->compiler, "it left no mark");
	add_row_or_reason(work, "switches", facts->flags,
		facts->flags_reason ? facts->flags_reason : "none that matter are recorded");
}

bool target_is_unoptimised(const char *level)
{
	return level &&
	       (str_starts(level, "-O0") || str_starts(level, "-Og") || str_equal(level, "-N"));
}

static void row_optimisation(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	const char *reason = facts->optimisation_reason;
	struct target_row *row;

	if (!facts->optimisation) {
		add_row_or_reason(work, "optimisation", NULL, reason);
		return;
	}
	row = add_row(work, "optimisation",
		reason ? arena_format(work->arena, "%s (%s)", facts->optimisation, reason)
		       : arena_format(work->arena, "%s%s", facts->optimisation,
				 facts->optimisation_mixed ? " in most units, others differ" : ""));
	if (target_is_unoptimised(facts->optimisation))
		set_finding(work, row, TARGET_LIMITED, "unoptimised");
	else if (facts->optimisation_mixed)
		set_finding(work, row, TARGET_LIMITED, "optimisation-mixed");
}

static void row_instruments(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	const char *reason = facts->signs_reason ? facts->signs_reason : "no names to look at";
	const char *allocator = NULL;
	struct target_row *row = add_row_or_reason(work, "sanitizers", facts->sanitizers, reason);

	if (facts->sanitizers && !str_equal(facts->sanitizers, "none"))
		set_finding(work, row, TARGET_LIMITED, "sanitizers");
	if (facts->instruments && !str_equal(facts->instruments, "none"))
		set_finding(work, add_row(work, "instrumentation", facts->instruments),
			TARGET_LIMITED, "instrumented");
	if (facts->allocator)
		allocator = arena_format(
			work->arena, "%s (%s)", facts->allocator, facts->allocator_evidence);
	add_row_or_reason(work, "allocator", allocator, reason);
	if (facts->coz_points)
		add_row(work, "progress points", "yes, coz macros");
	if (facts->usdt_probes)
		add_row(work, "USDT probes", arena_format(work->arena, "%u", facts->usdt_probes));
}

static void copy_libraries(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	struct target_view *view = work->view;

	view->library_count = facts->library_count;
	view->libraries = arena_take(work->arena, facts->library_count * sizeof(*view->libraries));
	for (uint32_t i = 0; i < facts->library_count; i++)
		view->libraries[i] = (struct target_library){
			.name = facts->libraries[i].name,
			.path = facts->libraries[i].path,
			.build_id = facts->libraries[i].build_id,
			.direct = facts->libraries[i].direct,
		};
}

void target_view_make(
	const struct binary_facts *facts, struct arena *arena, struct target_view *ret_view)
{
	struct target_work work = {.facts = facts, .arena = arena, .view = ret_view};

	*ret_view = (struct target_view){
		.path = facts->path ? facts->path : facts->name,
		.language = binary_language_name(facts->language),
	};
	row_kind(&work);
	row_libraries(&work);
	row_privileges(&work);
	row_symbols(&work);
	row_lines(&work);
	row_frames(&work);
	row_unwind(&work);
	row_build(&work);
	row_optimisation(&work);
	row_instruments(&work);
	target_list_facts(&work);
	copy_libraries(&work);
}
