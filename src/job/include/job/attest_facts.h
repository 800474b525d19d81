/* attest_facts.h - what `assay attest` knows besides the runs: digests of files, git, the user.
 *
 * Owns nothing: texts are in the caller's arena. */
#pragma once

#include "analyze/attest.h"
#include "base/arena.h"
#include "base/err.h"

/* SHA-256 of a whole file as hex, NULL with a sentence when it cannot be read. */
const char *attest_file_hash(const char *path, struct arena *arena, struct err *err);

/* The plain files that the commands of the run name, hashed. */
uint32_t attest_fixtures(const struct audit_view *audit, const struct run *run, struct arena *arena,
	const struct attest_fixture **ret_fixtures);

/* Fill in commit and whether the tree has changes. */
void attest_git(struct attest_facts *facts, struct arena *arena);

/* Who signs off: git's user.name, else the name of the user. */
const char *attest_user(struct arena *arena);

/* Now, "2026-01-31T12:00:00Z". */
const char *attest_time(struct arena *arena);
