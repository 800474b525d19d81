/* stat_line.h - one line that perf stat wrote, as -j (JSON) or -x SEPARATOR (fields).
 *
 * Does: take the line apart.  Does not: add lines up.  Texts live in the caller's arena. */
#pragma once

#include "base/arena.h"
#include "import_format.h"

enum stat_value { STAT_NUMBER, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED };

struct stat_line {
	uint64_t at_ns;	    /* end of the interval (-I), 0: none */
	const char *label;  /* what it was counted on: "CPU0", "S0-D0-C0", "bash-123", or "" */
	const char *event;  /* as perf prints it */
	const char *cgroup; /* or "" */
	const char *unit;   /* or "" */
	const char *number; /* digits with an optional fraction; "" unless STAT_NUMBER */
	const char *spread; /* -r: standard error of the mean in percent as text, or NULL */
	enum stat_value value;
	uint64_t runtime_ns;
	double running_share; /* 0..1, cut to what perf prints */
};

enum { STAT_SEPARATOR = 9 }; /* room for a separator of up to eight characters */

/* A line of -j.  0, or -(enum import_skip) - 1 with the reason to skip it. */
int stat_line_json(struct import_text text, struct arena *arena, struct stat_line *ret_line);

/* A line of -x, the same way. */
int stat_line_csv(struct import_text text, const char *separator, struct arena *arena,
	struct stat_line *ret_line);

/* The separator of a line of -x; false when it is no such line. */
bool stat_separator_find(struct import_text text, char ret_separator[STAT_SEPARATOR]);
