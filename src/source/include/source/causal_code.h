/* causal_code.h - the code of the process that causal.h experiments on: what is mapped, where its
 * time goes, and which of it is not the user's own. */
#pragma once

#include "source/causal.h"

struct wire_causal_step;

/* The files that the process has mapped as code, each once; valid until the next call. */
int causal_files(
	struct causal *causal, const char *const **ret_paths, uint32_t *ret_count, struct err *err);

/* Whether a file is assay's own library in the target. */
bool causal_is_runtime(const struct causal *causal, const char *path);

/* A file with code of others: from the next experiment on, time in it counts for the place of the
 * user's own that made the call.  `steps` (wire/causal_walk.h) say what is whose and how frames are
 * left, by offset in the file.  False: no room for them. */
bool causal_foreign_add(struct causal *causal, const char *path,
	const struct wire_causal_step *steps, uint32_t count);

/* Where the program was while nothing was sped up, since it was bound: the file, where in it, and
 * the CPU time.  Valid until the next call; in no order. */
struct causal_spot {
	const char *path;
	uint64_t offset, ns;
};
int causal_spots(struct causal *causal, const struct causal_spot **ret_spots, uint32_t *ret_count,
	struct err *err);
