/* quota.h - what reading one file may cost.
 *
 * A file from outside can be small and ask for much: a count that no byte backs, a table that a
 * thousand others share, packed zeros.  Its reader charges each step (about 25 ns of work) and each
 * byte it keeps, and stops when one of the two is spent or the user interrupts: what was read until
 * then is kept, and the caller tells why it ends there.  Both grow with the file and have a floor,
 * so that what people make never comes near.
 * Does not: allocate, count what libraries use by themselves.  A NULL quota never ends.
 * Owns: nothing.  Threads: one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interrupt.h"

struct str;

enum quota_end {
	QUOTA_LEFT,
	QUOTA_STEPS,
	QUOTA_BYTES,
	QUOTA_INTERRUPTED,
};

struct quota {
	uint64_t steps, bytes;		       /* left; of the steps those behind `pace` */
	uint64_t pace;			       /* steps until the user is asked again */
	uint64_t steps_given, bytes_given;     /* at the start */
	uint64_t file_bytes;		       /* what they are in proportion to */
	struct interrupt (*interrupted)(void); /* NULL: nobody interrupts */
	unsigned seen;			       /* interrupts that were for somebody else */
	enum quota_end end;
};

/* Raises all limits so many times; for a file that is large for a good reason. */
#define QUOTA_FACTOR "ASSAY_LIMITS"

/* The quota of a file of this size. */
struct quota quota_of(uint64_t file_bytes, struct interrupt (*interrupted)(void));

/* A second file is read for the first (debug information beside the program): its share without
 * another floor. */
void quota_join(struct quota *quota, uint64_t file_bytes);

bool quota_turn(struct quota *quota, uint64_t steps);	  /* the slow way of quota_step() */
bool quota_stop(struct quota *quota, enum quota_end end); /* false */

static inline bool quota_is_left(const struct quota *quota)
{
	return !quota || quota->end == QUOTA_LEFT;
}

/* Charge steps; false when nothing more may be read. */
static inline bool quota_step(struct quota *quota, uint64_t steps)
{
	if (!quota)
		return true;
	if (steps < quota->pace) {
		quota->pace -= steps;
		return true;
	}
	return quota_turn(quota, steps);
}

/* Charge memory before it is taken; false when it may not be. */
static inline bool quota_take(struct quota *quota, uint64_t bytes)
{
	if (!quota)
		return true;
	if (bytes < quota->bytes) {
		quota->bytes -= bytes;
		return true;
	}
	return quota_stop(quota, QUOTA_BYTES);
}

/* Memory that was charged and is free again. */
static inline void quota_give(struct quota *quota, uint64_t bytes)
{
	if (quota && quota->end == QUOTA_LEFT)
		quota->bytes += bytes;
}

/* "FILE: stopped after 24 MiB of memory, too much for 9 KiB; what was read before is kept". */
void quota_tell(const struct quota *quota, const char *file, struct str *out);
extern const char quota_hint[];
