/* target.h - what the facts of a program file mean for measuring it.
 *
 * Does: judge each fact, add what it costs the later steps and how to rebuild.  Does not: read the
 * file (code/binary.h does).  The advice is text: data/target.advice.
 * Owns nothing: rows, facts and texts live in the caller's arena. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct binary_facts;

enum target_status { TARGET_OK, TARGET_LIMITED, TARGET_NO, TARGET_STATUSES };

/* One line for people. */
struct target_row {
	const char *name;  /* "frame pointers" */
	const char *value; /* "no (3 of 181 functions)" */
	enum target_status status;
	bool unknown;	     /* could not be told, so there is no status; `value` says why */
	const char *finding; /* its block in the advice; NULL when the status is ok */
	const char *cost, *fix;
};

enum target_type {
	TARGET_MISSING, /* `text` is the reason */
	TARGET_TEXT,
	TARGET_BOOL,
	TARGET_NUMBER,
	TARGET_SHARE,
};

/* One fact for programs. */
struct target_fact {
	const char *key;
	enum target_type type;
	const char *text;
	uint64_t number; /* and bool */
	double share;
};

struct target_library {
	const char *name, *path, *build_id; /* path, build_id: NULL when there is none */
	bool direct;
};

enum { TARGET_ROWS = 20, TARGET_FACTS = 64 };

struct target_view {
	const char *path, *language; /* language: "c++" */
	struct target_row rows[TARGET_ROWS];
	unsigned row_count;
	struct target_fact facts[TARGET_FACTS];
	unsigned fact_count;
	struct target_library *libraries;
	uint32_t library_count;
	enum target_status worst;
};

void target_view_make(
	const struct binary_facts *facts, struct arena *arena, struct target_view *ret_view);

/* Built for debugging; `level` as in binary_facts, or NULL. */
bool target_is_unoptimised(const char *level);
