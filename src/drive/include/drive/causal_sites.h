/* causal_sites.h - code as targets of causal experiments: lines and functions, named by the user or
 * found where the program spends its time.
 *
 * Does: turn FILE:LINE, FUNCTION, FUNCTION+ and FUNCTION@CALLER into bytes of the files that are
 * mapped; sum up where samples fell by the innermost line in scope (by function where there are no
 * lines), and make the hottest of them sites too.  Does not: run anything.  Owns: all texts and
 * places it hands out, until causal_sites_close(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "code/places.h"
#include "code/scope.h"
#include "drive/causal.h"

struct causal_sites;

struct causal_site {
	const char *name; /* "parse.c:142", or a function's */
	const char *file, *function;
	uint32_t line; /* 0: a function */
	struct causal_target what;
	uint64_t ns;   /* CPU time seen there */
	bool is_fixed; /* the user named it */
};

typedef vec_of(struct causal_point) causal_point_vec;

/* `program` is the file that will be started or runs; `scope` is borrowed. */
int causal_sites_open(const char *program, const struct scope *scope,
	struct causal_sites **ret_sites, struct err *err);
void causal_sites_close(struct causal_sites *sites);

/* Add what the user named; FUNCTION@CALLER: only when called from there; a + behind a function or
 * line: with everything it calls.  With `waits` the time blocked in calls made there, not that on a
 * CPU.  0, or ERR_USAGE with the nearest line. */
int causal_sites_add(struct causal_sites *sites, const char *text, bool waits, struct err *err);

/* The progress points that FILE:LINE or FUNCTION stands for: one for each inlined copy, all of the
 * name `text`.  0 when there are any, -ENOENT (and a sentence) when it names no code. */
int causal_sites_points(struct causal_sites *sites, const char *text, causal_point_vec *ret_points,
	struct err *err);

/* Take in where the program was.  New sites come behind the known ones, hottest first, at most
 * `most` in all. */
void causal_sites_see(
	struct causal_sites *sites, const struct causal_spot *spots, uint32_t count, uint32_t most);

const struct causal_site *causal_sites_list(const struct causal_sites *sites, uint32_t *ret_count);

/* What of a file is the user's own; of a program without lines all is. */
enum causal_own causal_sites_own(
	struct causal_sites *sites, const char *path, const struct place **ret_place);

/* CPU time seen in all, and of that outside the scope or without a name. */
uint64_t causal_sites_ns(const struct causal_sites *sites, uint64_t *ret_outside_ns);

/* Why there may be nothing to choose: "" or what is missing and how to get it. */
const char *causal_sites_missing(const struct causal_sites *sites);
