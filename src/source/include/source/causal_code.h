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

/* Whole stacks of the samples from begin to end, the first thousand; innermost frame first, from
 * the second on inside the call.  A frame without a path is in no file (`offset` is its address).
 * None with the fallback.  Valid until the next end. */
struct causal_stack {
	const struct causal_place *frames;
	uint32_t count;
	uint32_t own; /* which frame is the innermost of the user's own */
	uint32_t thread;
	uint64_t ns; /* CPU time that it stands for */
};
void causal_stacks_begin(struct causal *causal);
int causal_stacks_end(struct causal *causal, const struct causal_stack **ret_stacks,
	uint32_t *ret_count, struct err *err);
