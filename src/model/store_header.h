/* store_header.h - the first 100 bytes of a SQLite file, read before SQLite is let near it.
 * Private to the store. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { STORE_HEADER_BYTES = 100 };

/* A SQLite database that says it is an assay run, of whatever version. */
bool store_header_is_run(const unsigned char header[STORE_HEADER_BYTES]);

/* Refuse what is foreign, newer, truncated or in a form that assay does not write.  `header` has
 * `size` bytes where the file is shorter than a header.  With `has_journal` the size is not looked
 * at: a file killed in the middle of a transaction gets its right size from the rollback. */
int store_header_check(const unsigned char *header, uint64_t size, bool has_journal,
	const char *name, struct err *err);
