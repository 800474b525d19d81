/* bench_parameters.c - see bench_parameters.h.
 *
 * Numbers are counted as whole multiples of their last decimal place: 0.1 0.3 in steps of 0.1 gives
 * 0.1, 0.2 and 0.3, as written and without rounding. */
#include "bench_parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 9 };

/* A decimal number: -12.50 is -1250 with two places. */
struct decimal {
	int64_t units;
	unsigned places;
};

static bool decimal_read(const char *text, struct decimal *ret_number)
{
	bool negative = *text == '-', point = false;
	struct decimal number = {0};
	const char *at = text + negative;

	if (!*at || *at == '.')
		return false;
	for (; *at; at++) {
		if (*at == '.' && !point) {
			point = true;
			continue;
		}
		if (*at < '0' || *at > '9' || number.units > INT64_MAX / 10 - 10 ||
			number.places == PLACES_MAX)
			return false;
		number.units = number.units * 10 + (*at - '0');
		number.places += point;
	}
	if (negative)
		number.units = -number.units;
	*ret_number = number;
	return true;
}

static bool decimal_widen(struct decimal *number, unsigned places)
{
	for (; number->places < places; number->places++)
		if (__builtin_mul_overflow(number->units, 10, &number->units))
			return false;
	return true;
}

static const char *decimal_text(const struct decimal *number, struct arena *arena)
{
	uint64_t whole = (uint64_t)(number->units < 0 ? -number->units : number->units), scale = 1;

	for (unsigned i = 0; i < number->places; i++)
		scale *= 10;
	if (!number->places)
		return arena_format(
			arena, "%s%llu", number->units < 0 ? "-" : "", (unsigned long long)whole);
	return arena_format(arena, "%s%llu.%0*llu", number->units < 0 ? "-" : "",
		(unsigned long long)(whole / scale), (int)number->places,
		(unsigned long long)(whole % scale));
}

static int refused(struct err *err, const char *option, const char *text, const char *hint)
{
	err_set(err, ERR_USAGE, EINVAL, "--%s cannot be '%s'", option, text);
	err_hint(err, "%s", hint);
	return -EINVAL;
}

static int parameter_add(struct parameters *parameters, const char *option,
	const struct parameter *parameter, struct err *err)
{
	if (!*parameter->name || strpbrk(parameter->name, "{}"))
		return refused(err, option, parameter->name,
			"its first word is the NAME that stands as {NAME} in the commands");
	for (uint32_t i = 0; i < parameters->count; i++)
		if (str_equal(parameters->at[i].name, parameter->name))
			return refused(err, option, parameter->name, "it is given twice");
	if (parameters->count == PARAMETERS_MAX ||
		(uint64_t)parameters->combinations * parameter->count > COMBINATIONS_MAX) {
		err_set(err, ERR_USAGE, E2BIG,
			"the parameters give more than %d commands, or are more than %d",
			COMBINATIONS_MAX, PARAMETERS_MAX);
		err_hint(err, "take a larger --parameter-step, or fewer values");
		return -E2BIG;
	}
	parameters->at[parameters->count++] = *parameter;
	parameters->combinations *= parameter->count;
	return 0;
}

static int scan_read(const struct cli *cli, unsigned index, struct arena *arena,
	struct parameters *parameters, struct err *err)
{
	static const char option[] = "parameter-scan";
	static const char hint[] = "write it as -P NAME MIN MAX, with -D STEP above 0";
	const char *name = cli_value_at(cli, option, 3 * index);
	const char *low_text = cli_value_at(cli, option, 3 * index + 1);
	const char *high_text = cli_value_at(cli, option, 3 * index + 2);
	const char *step_text = cli_value(cli, "parameter-step");
	struct decimal low, high, step;
	struct parameter scan = {.name = name};
	unsigned places;

	if (!decimal_read(low_text, &low))
		return refused(err, option, low_text, hint);
	if (!decimal_read(high_text, &high))
		return refused(err, option, high_text, hint);
	if (!decimal_read(step_text ? step_text : "1", &step) || step.units <= 0)
		return refused(err, "parameter-step", step_text ? step_text : "1", hint);
	places = low.places > step.places ? low.places : step.places;
	places = high.places > places ? high.places : places;
	if (!decimal_widen(&low, places) || !decimal_widen(&high, places) ||
		!decimal_widen(&step, places) || low.units > high.units)
		return refused(err, option, high_text, "MAX must not be below MIN");
	scan.values = arena_take(arena, COMBINATIONS_MAX * sizeof(*scan.values));
	for (struct decimal at = low; at.units <= high.units; at.units += step.units) {
		if (scan.count == COMBINATIONS_MAX)
			return refused(err, option, high_text,
				"that are more than 1000 values; take a larger --parameter-step");
		scan.values[scan.count++] = decimal_text(&at, arena);
	}
	return parameter_add(parameters, option, &scan, err);
}

static int list_read(const struct cli *cli, unsigned index, struct arena *arena,
	struct parameters *parameters, struct err *err)
{
	static const char option[] = "parameter-list";
	const char *at = cli_value_at(cli, option, 2 * index + 1);
	struct parameter list = {.name = cli_value_at(cli, option, 2 * index)};

	list.values = arena_take(arena, (strlen(at) + 1) * sizeof(*list.values));
	for (;;) {
		size_t len = strcspn(at, ",");

		list.values[list.count++] = arena_text(arena, at, len);
		if (!at[len])
			break;
		at += len + 1;
	}
	return parameter_add(parameters, option, &list, err);
}

int parameters_read(const struct cli *cli, struct arena *arena, struct parameters *ret_parameters,
	struct err *err)
{
	struct parameters parameters = {.combinations = 1};
	int r = 0;

	for (unsigned i = 0; r >= 0 && cli_value_at(cli, "parameter-scan", 3 * i); i++)
		r = scan_read(cli, i, arena, &parameters, err);
	for (unsigned i = 0; r >= 0 && cli_value_at(cli, "parameter-list", 2 * i); i++)
		r = list_read(cli, i, arena, &parameters, err);
	if (r >= 0 && cli_has(cli, "parameter-step") && !cli_has(cli, "parameter-scan")) {
		err_set(err, ERR_USAGE, EINVAL, "--parameter-step is the step of nothing");
		err_hint(err, "write it with -P NAME MIN MAX");
		r = -EINVAL;
	}
	if (r >= 0)
		*ret_parameters = parameters;
	return r;
}

const char *parameters_value(
	const struct parameters *parameters, uint32_t combination, uint32_t parameter)
{
	for (uint32_t i = parameters->count; i-- > parameter + 1;)
		combination /= parameters->at[i].count;
	return parameters->at[parameter].values[combination % parameters->at[parameter].count];
}

/* The parameter whose {NAME} stands at `text`; its index, or -1. */
static int name_find(const struct parameters *parameters, const char *text)
{
	for (uint32_t i = 0; i < parameters->count; i++) {
		size_t len = strlen(parameters->at[i].name);

		if (!strncmp(text + 1, parameters->at[i].name, len) && text[len + 1] == '}')
			return (int)i;
	}
	return -1;
}

char *parameters_apply(const struct parameters *parameters, uint32_t combination, const char *text,
	struct arena *arena)
{
	str_auto struct str out = {0};

	while (*text) {
		int found = *text == '{' ? name_find(parameters, text) : -1;

		if (found < 0) {
			str_add_char(&out, *text++);
			continue;
		}
		str_add(&out, parameters_value(parameters, combination, (uint32_t)found));
		text += strlen(parameters->at[found].name) + 2;
	}
	return arena_text(arena, str_text(&out), out.len);
}
