/* callgrind_text.h - the text that callgrind and cachegrind write, one cost line at a time.
 *
 * Cost lines ("12 340 5": line, then one number per event) belong to the fn=, fl= (or fi=, fe=
 * inside it) and ob= above them.  Names are written once as "(3) name" and then as "(3)", per kind;
 * numbers of lines and addresses may be relative to the line before ("+4", "-2", "*").  The line
 * behind calls= is where the call stands and what the callee cost, which is in the callee's own
 * lines too; the line behind jump= or jcnd= (--collect-jumps=yes) is where the jump stands.
 * Does: names, positions, numbers.  Does not: sum, emit.
 * Owns: its texts, which live until callgrind_text_done(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "import_format.h"

enum { CALLGRIND_EVENTS = 64 };

enum callgrind_name { CALLGRIND_OBJECT, CALLGRIND_FILE, CALLGRIND_FUNCTION, CALLGRIND_NAMES };

struct callgrind_cost {
	const char *names[CALLGRIND_NAMES]; /* NULL: not known */
	uint64_t addr;			    /* 0: not known */
	uint32_t line;			    /* 0: not known */
	const uint64_t *values;		    /* one per event */
};

/* `count` calls from a place, whose values are what the callee cost with all that it called. */
struct callgrind_call {
	const struct callgrind_cost *from;
	const char *callee; /* NULL: not known */
	uint64_t count;
};

/* A jump that was followed `count` times; its place has no values. */
struct callgrind_jump {
	const struct callgrind_cost *from;
	uint64_t addr, line; /* where it goes */
	const char *file;
	uint64_t count, reached; /* reached: also when it was not followed */
	bool leaves;		 /* for another function */
};

struct callgrind_text {
	/* Set by the caller.  A negative return stops the reading and is passed on. */
	int (*take_events)(void *context, const char *const *names, unsigned count);
	int (*take_cost)(void *context, const struct callgrind_cost *cost);
	int (*take_call)(void *context, const struct callgrind_call *call); /* may be NULL */
	int (*take_jump)(void *context, const struct callgrind_jump *jump); /* may be NULL */
	void *context;
	struct import_report *report; /* counts lines and what was skipped */
	/* Its own. */
	struct arena arena;
	struct map interned;		 /* text -> index of `texts` */
	struct map ids[CALLGRIND_NAMES]; /* "(3)" -> index of `by_id` */
	vec_of(const char *) texts;
	vec_of(const char *) by_id;
	const char *current[CALLGRIND_NAMES];
	unsigned event_count;
	bool has_addr, has_line;
	uint64_t addr, line;
	enum { CALLGRIND_COST, CALLGRIND_CALL, CALLGRIND_JUMP } next; /* what the next line is of */
	struct callgrind_call call;
	struct callgrind_jump jump;
	const char *callee, *jump_file, *jump_function; /* cfn=, jfi= and jfn=; NULL: none */
};

/* Read all of it.  0, or what a callback returned. */
int callgrind_text_read(struct callgrind_text *c, struct import_text text);

/* "events:" stands in the head, and a first name or cost soon after. */
bool callgrind_text_is(struct import_text text, struct quota *quota);

void callgrind_text_done(struct callgrind_text *c);
