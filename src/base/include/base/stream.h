/* stream.h - a long text, given away in pieces.
 *
 * What is written gathers in `text`; stream_pace(), called between items, hands it on when there is
 * a piece of it.  So a result of gigabytes takes 64 KiB of memory.  The first failure is kept and
 * everything after it is dropped: look once, at the end.
 * Owns: the text not yet given away.  Threads: one at a time. */
#pragma once

#include <stdint.h>

#include "base/str.h"

struct stream {
	struct str text; /* add to it freely */
	/* Takes the bytes; 0 or negative errno. */
	int (*write)(void *context, const void *bytes, size_t len);
	void *context;
	uint64_t given_bytes;
	int error;
};

enum { STREAM_PIECE = 64 << 10 };

/* Give the text away when there is enough of it. */
void stream_pace(struct stream *stream);

/* Give the rest away and free the memory.  0, or the first failure. */
int stream_end(struct stream *stream);
