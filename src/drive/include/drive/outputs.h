/* outputs.h - do two commands print the same?
 *
 * Runs each once, not measured, and compares their stdout byte by byte.  A program that got faster
 * by not doing its work is found here, before anything is measured.
 * Does not: look at stderr, or at files that a program writes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "drive/spawner.h"

struct outputs_options {
	const struct spawner_command *commands; /* A, B, and others */
	uint32_t prepare_at; /* of what comes before A and before B; 0: nothing does */
	bool ignore_failure;
	const char *input_path;
	uint64_t limit_ns; /* of each run, 0: none */
	struct interrupt (*interrupted)(void);
};

struct outputs {
	uint64_t bytes[2]; /* printed by A and by B */
	bool same;
	uint64_t line;	  /* the first that differs, from 1 */
	char text[2][81]; /* its beginning, from A and from B; "(nothing)" past the end */
};

int outputs_compare(
	const struct outputs_options *options, struct outputs *ret_outputs, struct err *err);
