/* attest.h - the answer of `assay attest`: text, and for agents.  Computes nothing. */
#pragma once

#include "analyze/attest.h"
#include "render/paper.h"

struct attest_file {
	const char *path, *sha256;
};

/* Everything that is signed off. */
struct attest_document {
	const struct attest_view *view;
	const struct audit_view *audit;
	const char *attester, *time_utc;
	const struct attest_file *files; /* the run, then its repeats */
	uint32_t file_count;
	const char *fingerprint_key; /* "" : the run has none */
	const char *fingerprint_sha256;
	const char *git_commit; /* NULL: none */
	bool git_known, git_dirty;
	const char *digest; /* NULL while it is being made */
};

void attest_text(struct paper *paper, const struct attest_document *document);
void attest_agent(struct paper *paper, const struct attest_document *document);

/* A file of answers to fill in: open questions as KEY=, what the tool answered as comments. */
void attest_template(struct str *out, const struct attest_view *view);

/* What `--verify` found. */
struct attest_check {
	const char *path, *attester, *time_utc, *run_path;
	uint64_t fails;
	bool document_intact;
	bool run_found, run_intact; /* the run file beside it */
	const char *recorded, *computed;
};

void attest_check_text(struct paper *paper, const struct attest_check *check);
