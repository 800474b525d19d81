/* parameters.c - see parameters.h.
 *
 * Numbers are counted as whole multiples of their last decimal place: 0.1 0.3 in steps of 0.1 gives
 * 0.1, 0.2 and 0.3, as written and without rounding. */
#include "job/parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

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
	err_set(err, ERR_USAGE, EINVAL, "invalid --%s '%s'", option, text);
	return err_hint(err, "%s", hint);
}

static int parameter_add(struct parameters *parameters, const char *option,
	const struct parameter *parameter, struct err *err)
{
	uint32_t before = parameters->combinations ? parameters->combinations : 1;

	if (!*parameter->name || strpbrk(parameter->name, "{}"))
		return refused(err, option, parameter->name,
			"its first word is the NAME used as {NAME} in the commands");
	for (uint32_t i = 0; i < parameters->count; i++)
		if (str_equal(parameters->at[i].name, parameter->name))
			return refused(err, option, parameter->name, "it is given twice");
	if (parameters->count == PARAMETERS_MAX ||
		(uint64_t)before * parameter->count > COMBINATIONS_MAX) {
		err_set(err, ERR_USAGE, E2BIG,
			"the parameters give more than %d commands, or there are more than %d",
			COMBINATIONS_MAX, PARAMETERS_MAX);
		return err_hint(err, "use a larger --parameter-step, or fewer values");
	}
	parameters->at[parameters->count++] = *parameter;
	parameters->combinations = before * parameter->count;
	return 0;
}

int parameters_add_scan(struct parameters *parameters, const struct parameter_scan *scan,
	struct arena *arena, struct err *err)
{
	static const char option[] = "parameter-scan";
	static const char hint[] = "write it as -P NAME MIN MAX, with -D STEP above 0";
	const char *step_text = scan->step ? scan->step : "1";
	struct parameter numbers = {.name = scan->name};
	struct decimal low, high, step;
	unsigned places;

	if (!decimal_read(scan->low, &low))
		return refused(err, option, scan->low, hint);
	if (!decimal_read(scan->high, &high))
		return refused(err, option, scan->high, hint);
	if (!decimal_read(step_text, &step) || step.units <= 0)
		return refused(err, "parameter-step", step_text, hint);
	places = low.places > step.places ? low.places : step.places;
	places = high.places > places ? high.places : places;
	if (!decimal_widen(&low, places) || !decimal_widen(&high, places) ||
		!decimal_widen(&step, places) || low.units > high.units)
		return refused(err, option, scan->high, "MAX must not be below MIN");
	numbers.values = arena_take(arena, COMBINATIONS_MAX * sizeof(*numbers.values));
	do {
		if (numbers.count == COMBINATIONS_MAX)
			return refused(err, option, scan->high,
				"that is more than 1000 values; use a larger --parameter-step");
		numbers.values[numbers.count++] = decimal_text(&low, arena);
	} while (!__builtin_add_overflow(low.units, step.units, &low.units) &&
		 low.units <= high.units);
	return parameter_add(parameters, option, &numbers, err);
}

int parameters_add_list(struct parameters *parameters, const char *name, const char *values,
	struct arena *arena, struct err *err)
{
	struct parameter list = {.name = name};

	list.values = arena_take(arena, (strlen(values) + 1) * sizeof(*list.values));
	for (;;) {
		size_t len = strcspn(values, ",");

		list.values[list.count++] = arena_text(arena, values, len);
		if (!values[len])
			return parameter_add(parameters, "parameter-list", &list, err);
		values += len + 1;
	}
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
