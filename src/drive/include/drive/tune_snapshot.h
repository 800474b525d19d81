/* tune_snapshot.h - what every knob said once, from a document of `assay tune status --snapshot`.
 *
 * Does: read the document.  Does not: look at the machine (tune_expect() does).
 * Owns: its rows and their texts.  The document is outside data: any bytes are harmless. */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct tune_expected {
	const char *knob, *path;
	const char *value; /* NULL: the machine had no such file */
};

struct tune_snapshot {
	vec_of(struct tune_expected) rows;
	struct arena texts;
};

/* `name` is used in sentences.  What is not understood is refused, as wrong usage. */
int tune_snapshot_read(struct tune_snapshot *ret_snapshot, const char *bytes, size_t len,
	const char *name, struct err *err);
void tune_snapshot_done(struct tune_snapshot *snapshot);
#define tune_snapshot_auto __attribute__((cleanup(tune_snapshot_done)))
