/* attestation.h - the digest of an attestation, and reading one back.
 *
 * The digest is SHA-256 over `data` without `document_sha256`, written with sorted keys and no
 * blanks: laying the document out anew does not change it, changing any word of it does.  It is a
 * checksum, no signature: it finds an edit, not a forger.  Owns: the texts of an attestation, in
 * the caller's arena. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"

struct attestation {
	const char *attester, *time_utc; /* "" when missing */
	const char *run_path, *run_sha256;
	int64_t fails;
	char recorded[SHA256_TEXT]; /* what the document says about itself */
	char computed[SHA256_TEXT]; /* what it is */
};

/* The digest of a `data` object as JSON text. */
int attestation_digest(const char *data, size_t len, char ret_digest[SHA256_TEXT], struct err *err);

/* Read a document that `assay attest -o` wrote; `name` is for sentences. */
int attestation_read(const char *bytes, size_t len, const char *name, struct arena *arena,
	struct attestation *ret_attestation, struct err *err);
