/* json_lines.h - files of one JSON document a line, which assay keeps for itself: private to model.
 *
 * A line that is none, that has another schema, or that `take` refuses, is counted and skipped: one
 * torn line must not cost those before it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/err.h"
#include "base/jsonw.h"

struct json_lines {
	const char *schema;
	bool (*take)(void *context, const json_t *line);
	void *context;
	uint32_t *skipped;
	const char *what; /* "history": what begins anew when the file is moved away */
};

void json_lines_read(const struct json_lines *lines, const char *text, size_t len);

/* A file that is not there has no lines. */
int json_lines_load(const struct json_lines *lines, const char *path, struct err *err);

/* The members "time", for people and for tools that take no nanoseconds, and "time_ns". */
void json_lines_put_time(struct jsonw *w, uint64_t time_ns);
