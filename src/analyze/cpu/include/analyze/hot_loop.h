/* hot_loop.h - the loop of a function in which the samples are, for a static look at it.
 *
 * Does: find the smallest piece of code between a backward jump and its target that holds at least
 * half of the function's samples.  Does not: read files (code/listing.h does), run llvm-mca
 * (drive/mca.h does).
 * Pure.  Owns: texts are the listing's, the rest is in the caller's arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct run;
struct listing;

struct hot_loop {
	const char *function;
	uint64_t addr; /* of its first instruction, in the module */
	const char *const *lines;
	uint32_t count;	     /* instructions */
	double share;	     /* of the function's samples */
	bool calls;	     /* it calls something, which a static look cannot follow */
	const char *missing; /* why there is no loop, NULL when there is */
	/* By the caller, beside each other: what a model of the core says, and what was seen. */
	const char *model;	  /* "znver3"; NULL: not asked or not known */
	bool stand_in;		  /* the model is of another CPU, because this one has none */
	double predicted_cycles;  /* of one round of the loop */
	double throughput_cycles; /* the same if nothing waited for a result */
	double measured_cycles;	  /* NAN: not known */
	const char *bottleneck;	  /* "data dependencies", "busy units" */
	const char *no_model;	  /* why there is no prediction, NULL when there is */
};

/* The function's samples are those of `clock` in the module and range of its row. */
void hot_loop_find(const struct run *clock, uint32_t function, const struct listing *listing,
	struct arena *arena, struct hot_loop *ret_loop);
