/* golden.h - is the output of a run what it should be: private to the bench runner.
 *
 * The expected output is a file, or the first run's, which is then written to a file.  Both sides
 * are read in pieces, outside of the time that is measured. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/sha256.h"

struct golden {
	const char *path;
	int fd; /* -1: not there yet */
	uint64_t bytes;
	char digest[SHA256_TEXT]; /* of the whole file */
};

/* Open the file at `path`, which must stay valid. */
int golden_open(struct golden *golden, const char *path, struct err *err);

/* Write what `output` holds to `path`, whole or not at all, and take it as what is expected. */
int golden_save(struct golden *golden, const char *path, int output, struct err *err);

/* 0: `output` holds the same bytes.  1: it does not, and *ret_line (from 1) is the first that
 * differs, with both sides of it shortened and printable. */
enum { GOLDEN_LINE = 61 };
struct golden_difference {
	uint64_t line;
	char expected[GOLDEN_LINE], found[GOLDEN_LINE]; /* "": the file ends before it */
};
int golden_compare(const struct golden *golden, int output, struct golden_difference *ret_where,
	struct err *err);

void golden_done(struct golden *golden);
