/* bench_parameters.h - `-P threads 1 8 -L mode fast,slow`: one command becomes many.
 *
 * Every {NAME} in a text is replaced by a value of the parameter; several parameters give all
 * combinations, the last one changing fastest.  Owns nothing: everything is in the caller's arena.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "cli.h"

enum { PARAMETERS_MAX = 8, COMBINATIONS_MAX = 1000 };

struct parameter {
	const char *name;
	const char **values;
	uint32_t count;
};

struct parameters {
	struct parameter at[PARAMETERS_MAX];
	uint32_t count;
	uint32_t combinations; /* at least 1 */
};

#define PARAMETER_OPTIONS                                                                          \
	{"parameter-scan", 'P', "NAME MIN MAX", false, NULL,                                       \
		"replace {NAME} in the commands by the numbers from MIN to MAX"},                  \
		{"parameter-step", 'D', "STEP", false, NULL,                                       \
			"the step of the scan before it (default 1)"},                             \
		{"parameter-list", 'L', "NAME VALUES", false, NULL,                                \
			"replace {NAME} by each of these values: a,b,c"},

/* Read the options of a command that has PARAMETER_OPTIONS. */
int parameters_read(const struct cli *cli, struct arena *arena, struct parameters *ret_parameters,
	struct err *err);

/* The value of a parameter in a combination, from 0. */
const char *parameters_value(
	const struct parameters *parameters, uint32_t combination, uint32_t parameter);

/* `text` with every {NAME} replaced. */
char *parameters_apply(const struct parameters *parameters, uint32_t combination, const char *text,
	struct arena *arena);
