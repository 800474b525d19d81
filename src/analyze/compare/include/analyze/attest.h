/* attest.h - fourteen questions to a benchmark, asked before its numbers are published.
 *
 * Does: answer those that the runs and the machine can answer, each with its evidence; read the
 * answers of a person to the rest.  Does not: read files or clocks (the caller gives the facts).
 * A person may waive what the tool failed, with a reason, and never turn it into a pass.
 * Pure.  Owns: everything is in the caller's arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/audit.h"
#include "base/sha256.h"

enum { ATTEST_QUESTIONS = 14 };

enum attest_answer { ATTEST_OPEN, ATTEST_PASS, ATTEST_FAIL, ATTEST_WAIVE };

struct attest_item {
	const char *key;      /* "same-build" */
	const char *question; /* in words */
	enum attest_answer answer;
	bool by_tool;	      /* who answered; a waived failure of the tool is the attester's */
	const char *evidence; /* what the tool found, "" for a person's answer without one */
	const char *reason;   /* of a waiver, NULL */
};

/* A file that the commands read. */
struct attest_fixture {
	const char *path, *sha256;
	uint32_t command;   /* index */
	bool changed_since; /* it was written after the runs began */
};

struct attest_facts {
	const struct audit_view *audit;	  /* of the first file alone */
	const struct audit_input *input;  /* the first file */
	const struct audit_file *repeats; /* all files, the first one too: same-host repeats */
	uint32_t repeat_count;
	const struct attest_fixture *fixtures;
	uint32_t fixture_count;
	bool started_known;	/* the run says when it began, so fixtures can be judged */
	const char *git_commit; /* of the working tree, NULL: none */
	bool git_known, git_dirty;
	bool git_is_foreign; /* the repository is another user's: git was not asked */
	uint32_t git_owner;
};

struct attest_view {
	struct attest_item items[ATTEST_QUESTIONS];
	uint32_t passes, fails, waived, open;
};

/* All fourteen, the tool's answers filled in, the others open. */
void attest_view_make(
	const struct attest_facts *facts, struct arena *arena, struct attest_view *ret_view);

/* The word of an answer: "pass", "fail", "waive", "open". */
const char *attest_answer_name(enum attest_answer answer);

/* One answer of a person: "pass", "fail" or "waive:REASON".  -EINVAL with a sentence when it is
 * none of these, or would turn a failure that the tool found into a pass. */
int attest_take(struct attest_view *view, const char *key, const char *text, struct arena *arena,
	struct err *err);

/* A file of answers: `key=value` lines, blank ones and those with # skipped.  -EINVAL names the
 * line that is wrong, a key that does not exist, and all keys that are still open. */
int attest_take_all(struct attest_view *view, const char *text, size_t len, const char *name,
	struct arena *arena, struct err *err);

/* SHA-256 over every field of the run's fingerprint, as taken. */
void attest_fingerprint_hash(const struct run *run, char ret_hash[SHA256_TEXT]);

/* The keys that are still open, joined by ", ". */
const char *attest_open_keys(const struct attest_view *view, struct arena *arena);
