/* fingerprint.h - the facts of a machine that decide whether two measurements may be compared.
 *
 * Does: read /proc, /sys and a few system calls and emit one WIRE_FIELD per fact, each a value,
 * absent (this machine has no such thing) or denied (it is there, we may not read it); read the
 * same facts back from a document of `assay env --json`.  Does not: judge them (analyze does).
 * Secrets: the kernel command line passes only by an allow-list, the environment only as names and
 * hashes but for the variables that change performance, the host name only as a hash.
 * Owns nothing.  Threads: any, each with its own sink. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct wire_sink;

struct fingerprint_options {
	const char *root; /* folder with the proc/ and sys/ of a recorded machine; NULL: / */
	const char *storage_path; /* which file system to describe; NULL: the working directory */
};

/* Emit every field.  With a root, what only a system call can tell (CPUID, clocks, free space) is
 * absent, so that nothing of this machine mixes with the recorded one.  `options` may be NULL. */
int fingerprint_take(
	const struct fingerprint_options *options, const struct wire_sink *sink, struct err *err);

/* Emit the fields of a JSON document that assay wrote (any command with data.fields).  `name` is
 * used in sentences. */
int fingerprint_read(const char *bytes, size_t len, const char *name, const struct wire_sink *sink,
	struct err *err);
