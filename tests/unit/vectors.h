/* vectors.h - reference values of tests/golden/statistics, read case by case.
 *
 * A case is `case KIND` and lines `name value...` up to an empty line.  A file that is not there,
 * or a field that a case lacks, fails the test. */
#pragma once

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/io.h"
#include "base/str.h"

struct vector {
	const char *name;
	double *at;
	size_t count;
};

struct vector_case {
	struct arena arena;
	const char *kind;
	struct vector fields[16];
	size_t field_count;
};

/* One line of numbers behind its name. */
static inline void vector_read(struct vector_case *which, const char *line)
{
	size_t name_len = strcspn(line, " "), capacity = strlen(line) / 2 + 1;
	struct vector *field = &which->fields[which->field_count++];
	char *end;

	assert_true(which->field_count <= 16);
	field->name = arena_text(&which->arena, line, name_len);
	field->at = arena_take(&which->arena, capacity * sizeof(double));
	for (line += name_len;; line = end) {
		double value = strtod(line, &end);

		if (end == line)
			break;
		field->at[field->count++] = value;
	}
}

/* The next case of `*text`, which is moved behind it; false at the end. */
static inline bool vector_next(const char **text, struct vector_case *ret_case)
{
	const char *at = strstr(*text, "case ");

	*ret_case = (struct vector_case){.kind = ""};
	if (!at)
		return false;
	while (*at && *at != '\n') {
		size_t len = strcspn(at, "\n");
		char *line = arena_text(&ret_case->arena, at, len);

		if (!strncmp(line, "case ", 5))
			ret_case->kind = line + 5;
		else
			vector_read(ret_case, line);
		at += len + (at[len] == '\n');
	}
	*text = at;
	return true;
}

/* Call `check` for each case of `kind` in `file`; returns how many there were. */
static inline size_t vectors_check(
	const char *file, const char *kind, void (*check)(const struct vector_case *))
{
	char path[512];
	str_auto struct str text = {0};
	struct err err = {0};
	struct vector_case one;
	size_t found = 0;

	snprintf(path, sizeof(path), "%s/statistics/%s", TEST_GOLDEN, file);
	if (io_read(path, 1 << 20, &text, &err) < 0)
		fail_msg("%s", err.text);
	for (const char *at = text.at; vector_next(&at, &one); arena_done(&one.arena))
		if (!strcmp(one.kind, kind)) {
			check(&one);
			found++;
		}
	arena_done(&one.arena);
	return found;
}

/* A field, or one without values when the case has none of this name. */
static inline struct vector vector_find(const struct vector_case *which, const char *name)
{
	for (size_t i = 0; i < which->field_count; i++)
		if (!strcmp(which->fields[i].name, name))
			return which->fields[i];
	return (struct vector){.name = name};
}

static inline struct vector vector_of(const struct vector_case *which, const char *name)
{
	struct vector field = vector_find(which, name);

	if (!field.count)
		fail_msg("a case '%s' has no field '%s'", which->kind, name);
	return field;
}

static inline double vector_at(const struct vector_case *which, const char *name, size_t index)
{
	struct vector field = vector_find(which, name);

	if (index < field.count)
		return field.at[index];
	fail_msg("a case '%s' has no value %zu in field '%s'", which->kind, index, name);
	return (double)NAN;
}

static inline double vector_value(const struct vector_case *which, const char *name)
{
	return vector_at(which, name, 0);
}

/* Equal to 1e-9, absolute below 1 and relative above; what is infinite must be so. */
static inline void near_enough(double found, double expected, const char *what)
{
	double scale = fmax(1, fabs(expected));

	if (found == expected)
		return;
	if (!(fabs(found - expected) <= 1e-9 * scale))
		fail_msg("%s is %.17g, not %.17g", what, found, expected);
}

/* The same for tiny chances: 1e-9 of the value itself. */
static inline void near_relative(double found, double expected, const char *what)
{
	if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%s is %.17g, not %.17g", what, found, expected);
}

/* Check a field when the case has it. */
static inline void expect(const struct vector_case *which, const char *name, double found)
{
	struct vector field = vector_find(which, name);

	if (field.count)
		near_enough(found, field.at[0], name);
}
