/* target_facts.c - every fact of a program under the name it has in JSON (docs/format.md).
 *
 * A fact that is not known is listed as missing with its reason; none is left out. */
#include <string.h>

#include "base/str.h"
#include "code/binary.h"
#include "target_parts.h"

static struct target_fact *add(struct target_work *work, const char *key, enum target_type type)
{
	struct target_fact *fact = &work->view->facts[work->view->fact_count];

	if (work->view->fact_count + 1 < TARGET_FACTS)
		work->view->fact_count++;
	*fact = (struct target_fact){.key = key, .type = type};
	return fact;
}

static void add_text(
	struct target_work *work, const char *key, const char *text, const char *reason)
{
	struct target_fact *fact = add(work, key, text && *text ? TARGET_TEXT : TARGET_MISSING);

	fact->text = text && *text ? text : reason;
	if (!fact->text)
		fact->text = "there is none";
}

static void add_bool(struct target_work *work, const char *key, bool value)
{
	add(work, key, TARGET_BOOL)->number = value;
}

static void add_number(struct target_work *work, const char *key, uint64_t value)
{
	add(work, key, TARGET_NUMBER)->number = value;
}

static void add_answer(
	struct target_work *work, const char *key, enum binary_answer answer, const char *reason)
{
	if (answer == BINARY_UNKNOWN)
		add_text(work, key, NULL, reason);
	else
		add_bool(work, key, answer == BINARY_YES);
}

static void list_file(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;

	add_text(work, "path", facts->path, "read from memory");
	add_text(work, "script", facts->script, "not a script");
	add_number(work, "size_bytes", facts->size_bytes);
	add_text(work, "sha256", facts->sha256, "not requested");
	add_text(work, "kind", binary_kind_name(facts->kind), NULL);
	add_text(work, "machine", facts->machine, NULL);
	add_bool(work, "static", binary_is_static(facts));
	add_text(work, "loader", facts->loader, "not needed");
	add_text(work, "build_id", facts->build_id, "linked without one");
	add_bool(work, "setuid", facts->setuid);
	add_bool(work, "setgid", facts->setgid);
	add_bool(work, "file_capabilities", facts->file_capabilities);
	add_bool(work, "bind_now", facts->bind_now);
	add_number(work, "libraries_missing", facts->libraries_missing);
}

static void list_debug(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	const char *no_units = "no readable unit of debug information";

	add_bool(work, "section_table", facts->has_sections);
	add_bool(work, "stripped", !facts->has_symbols);
	add_bool(work, "mini_debug_info", facts->has_mini_symbols);
	add_bool(work, "eh_frame", facts->has_eh_frame);
	add_bool(work, "eh_frame_header", facts->has_eh_frame_header);
	add_bool(work, "debug_info", facts->has_debug_info || facts->has_separate_info);
	add_bool(work, "line_tables", facts->has_debug_lines || facts->has_separate_lines);
	add_text(work, "debug_link", facts->debug_link, "no .gnu_debuglink");
	add_text(work, "debug_file", facts->debug_file,
		facts->has_debug_info		       ? "not searched: the file has its own"
		: facts->build_id || facts->debug_link ? "no separate debug file is installed"
						       : "no build id or debug link to search by");
	add_text(work, "debug_alternate", facts->debug_alternate, "not shared by dwz");
	add_bool(work, "debug_alternate_found", facts->debug_alternate_found);
	add_bool(work, "debug_compressed", facts->debug_compressed);
	add_bool(work, "debug_split", facts->debug_split);
	if (facts->dwarf_low) {
		add_number(work, "dwarf_version", facts->dwarf_high);
		add_number(work, "dwarf_version_lowest", facts->dwarf_low);
	} else {
		add_text(work, "dwarf_version", NULL, no_units);
		add_text(work, "dwarf_version_lowest", NULL, no_units);
	}
	add_number(work, "units", facts->units);
	add_number(work, "units_c", facts->unit_count[LANGUAGE_C]);
	add_number(work, "units_cxx", facts->unit_count[LANGUAGE_CXX]);
	add_number(work, "units_rust", facts->unit_count[LANGUAGE_RUST]);
	add_number(work, "units_go", facts->unit_count[LANGUAGE_GO]);
	add_number(work, "units_assembler", facts->unit_count[LANGUAGE_ASSEMBLER]);
}

static void list_compiler(struct target_work *work)
{
	static const char *const evidence[] = {[EVIDENCE_PRODUCER] = "recorded switches",
		[EVIDENCE_CODE] = "guessed from the code"};
	const struct binary_facts *facts = work->facts;
	const char *reason = facts->flags_reason;

	add_text(work, "language",
		facts->language == LANGUAGE_UNKNOWN ? NULL : binary_language_name(facts->language),
		"no sign of one");
	add_bool(work, "language_mixed", facts->language_mixed);
	add_text(work, "language_evidence", facts->language_evidence, "no sign of one");
	add_text(work, "comment", facts->comment, "no .comment section");
	add_text(work, "compiler", facts->compiler, "no compiler identified itself");
	add_text(work, "producer", facts->producer, reason);
	add_text(work, "flags", facts->flags, reason);
	add_text(work, "optimisation", facts->optimisation, facts->optimisation_reason);
	add_text(work, "optimisation_evidence", evidence[facts->optimisation_evidence],
		facts->optimisation_reason);
	add_bool(work, "optimisation_mixed", facts->optimisation_mixed);
	add_text(work, "march", facts->march, reason ? reason : "no -march is recorded");
	add_answer(work, "lto", facts->lto, reason);
	add_answer(work, "pgo", facts->pgo, reason);
}

static void list_content(struct target_work *work)
{
	const struct binary_facts *facts = work->facts;
	static const char *const words[] = {
		[BINARY_NO] = "no", [BINARY_YES] = "yes", [BINARY_MIXED] = "mixed"};

	add_text(work, "sanitizers", facts->sanitizers, facts->signs_reason);
	add_text(work, "instrumentation", facts->instruments, facts->signs_reason);
	add_text(work, "allocator", facts->allocator, facts->signs_reason);
	add_text(work, "allocator_evidence", facts->allocator_evidence, facts->signs_reason);
	add_answer(work, "threads", facts->threads, facts->signs_reason);
	add_bool(work, "coz_progress_points", facts->coz_points);
	add_number(work, "usdt_probes", facts->usdt_probes);
	add_text(
		work, "frame_pointers", words[facts->frame_pointers], facts->frame_pointers_reason);
	add_number(work, "frame_pointers_functions", facts->functions_seen);
	if (facts->functions_seen)
		add(work, "frame_pointers_share", TARGET_SHARE)->share =
			(double)facts->functions_framed / facts->functions_seen;
	else
		add_text(work, "frame_pointers_share", NULL, facts->frame_pointers_reason);
}

void target_list_facts(struct target_work *work)
{
	list_file(work);
	list_debug(work);
	list_compiler(work);
	list_content(work);
}
