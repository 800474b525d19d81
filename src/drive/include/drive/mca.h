/* mca.h - a static look at a loop: llvm-mca's model of a core, started as a program.
 *
 * Does: give it the instructions, read its JSON, bounded in time and size.  Does not: know misses
 * or mispredicts: the model assumes that every load hits and every branch is predicted. A CPU that
 * this LLVM has no model for gets a known one in its place, and that is said. Owns: nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/interrupt.h"

struct mca_options {
	const char *const *lines; /* instructions in AT&T syntax (x86), one each */
	uint32_t count;
	bool intel_cpu; /* x86: which model stands in for an unknown CPU */
	struct interrupt (*interrupted)(void);
};

struct mca_result {
	char cpu[32]; /* the model used */
	bool stand_in;
	double cycles;		  /* of one round */
	double throughput_cycles; /* of one round if nothing waited for a result */
	double ipc;
	bool waits; /* the rounds are longer than the units need: dependencies, not ports */
};

/* -ENOENT (ERR_UNAVAILABLE) when it is not installed, -EINVAL when it does not understand the loop,
 * -ETIME when it takes more than ten seconds. */
int mca_run(const struct mca_options *options, struct mca_result *ret_result, struct err *err);

/* What it printed with --json.  -EINVAL when it is not that. */
int mca_parse(const char *text, size_t len, struct mca_result *ret_result);
