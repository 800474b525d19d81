/* build.c - see build.h.
 *
 * Names stand for what two runs are compared by: `optimisation`, `lto` and `sanitizers` decide
 * whether they may be compared at all; `build_id` is what an A/B test is about.  A level that is
 * only a guess from the code has a field of its own, so that it never equals a recorded one. */
#include "ingest/build.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "code/binary.h"
#include "model/run.h"

/* NULL and "" are absent. */
static void add_text(struct run *run, const char *name, const char *value)
{
	bool there = value && *value;

	run_add_field(run, &(struct field_row){
				   .group = run_intern(run, "build"),
				   .name = run_intern(run, name),
				   .value = run_intern(run, there ? value : ""),
				   .state = there ? FIELD_VALUE : FIELD_ABSENT,
			   });
}

static void add_answer(struct run *run, const char *name, enum binary_answer answer)
{
	static const char *const words[] = {[BINARY_UNKNOWN] = "",
		[BINARY_NO] = "no",
		[BINARY_YES] = "yes",
		[BINARY_MIXED] = "mixed"};

	add_text(run, name, words[answer]);
}

static void add_bool(struct run *run, const char *name, bool value)
{
	add_text(run, name, value ? "yes" : "no");
}

/* One hash over the names and build-ids of all libraries, in the order the loader takes them. */
static void add_libraries(struct run *run, const struct binary_facts *facts)
{
	char hash[SHA256_TEXT], count[16];
	struct sha256 sha;

	snprintf(count, sizeof(count), "%u", facts->library_count);
	add_text(run, "libraries", facts->library_count || binary_is_static(facts) ? count : NULL);
	sha256_init(&sha);
	for (uint32_t i = 0; i < facts->library_count; i++) {
		const char *id = facts->libraries[i].build_id;

		sha256_add(&sha, facts->libraries[i].name, strlen(facts->libraries[i].name) + 1);
		sha256_add(&sha, id ? id : "", id ? strlen(id) + 1 : 1);
	}
	sha256_text(&sha, hash);
	hash[16] = '\0';
	add_text(run, "libraries_hash", facts->library_count ? hash : NULL);
}

static void add_debug(struct run *run, const struct binary_facts *facts)
{
	bool info = facts->has_debug_info || facts->has_separate_info;
	char words[32];

	if (info && facts->dwarf_high)
		snprintf(words, sizeof(words), "DWARF %u", facts->dwarf_high);
	else
		snprintf(words, sizeof(words), "%s", info ? "yes" : "none");
	add_text(run, "debug_info", words);
}

static void add_optimisation(struct run *run, const struct binary_facts *facts)
{
	bool recorded = facts->optimisation_evidence == EVIDENCE_PRODUCER;
	char words[64];

	snprintf(words, sizeof(words), "%s%s", facts->optimisation ? facts->optimisation : "",
		facts->optimisation_mixed ? " (mixed)" : "");
	add_text(run, "optimisation", recorded ? words : NULL);
	add_text(run, "optimisation_guess", recorded ? NULL : facts->optimisation);
}

void ingest_build_fields(struct run *run, const struct binary_facts *facts)
{
	char size[24];

	snprintf(size, sizeof(size), "%llu", (unsigned long long)facts->size_bytes);
	add_text(run, "program", facts->name);
	add_bool(run, "script", facts->script);
	add_text(run, "build_id", facts->build_id);
	add_text(run, "sha256", facts->sha256);
	add_text(run, "size_bytes", size);
	add_text(run, "kind", binary_kind_name(facts->kind));
	add_bool(run, "pie", facts->kind == BINARY_PIE || facts->kind == BINARY_STATIC_PIE);
	add_bool(run, "stripped", !facts->has_symbols);
	add_answer(run, "frame_pointers", facts->frame_pointers);
	add_debug(run, facts);
	add_text(run, "language",
		facts->language == LANGUAGE_UNKNOWN ? NULL : binary_language_name(facts->language));
	add_text(run, "compiler", facts->compiler);
	add_text(run, "flags", facts->flags);
	add_optimisation(run, facts);
	add_text(run, "march", facts->march);
	add_answer(run, "lto", facts->lto);
	add_answer(run, "pgo", facts->pgo);
	add_text(run, "sanitizers", facts->sanitizers);
	add_text(run, "instrumentation", facts->instruments);
	add_text(run, "allocator", facts->allocator);
	add_libraries(run, facts);
}
