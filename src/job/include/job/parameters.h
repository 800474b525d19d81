/* parameters.h - `-P threads 1 8 -L mode fast,slow`: one command becomes many.
 *
 * Every {NAME} in a text is replaced by a value of the parameter; several parameters give all
 * combinations, the last one changing fastest.  Owns nothing: everything is in the caller's arena.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { PARAMETERS_MAX = 8, COMBINATIONS_MAX = 1000 };

struct parameter {
	const char *name;
	const char **values;
	uint32_t count;
};

struct parameters {
	struct parameter at[PARAMETERS_MAX];
	uint32_t count;
	uint32_t combinations; /* 0: there are no parameters */
};

/* Numbers as they are typed. */
struct parameter_scan {
	const char *name, *low, *high;
	const char *step; /* NULL: 1 */
};

/* One more parameter: the numbers from low to high, or the values of "a,b,c". */
int parameters_add_scan(struct parameters *parameters, const struct parameter_scan *scan,
	struct arena *arena, struct err *err);
int parameters_add_list(struct parameters *parameters, const char *name, const char *values,
	struct arena *arena, struct err *err);

/* The value of a parameter in a combination, from 0. */
const char *parameters_value(
	const struct parameters *parameters, uint32_t combination, uint32_t parameter);

/* `text` with every {NAME} replaced. */
char *parameters_apply(const struct parameters *parameters, uint32_t combination, const char *text,
	struct arena *arena);
