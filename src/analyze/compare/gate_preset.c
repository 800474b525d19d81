/* gate_preset.c - see gate_preset.h.
 *
 * The text is compiled in and a unit test reads every preset of it, so a line that is none is
 * skipped instead of giving every caller an error path. */
#include "analyze/gate_preset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "data/texts.h"

static const char *const severity_names[GATE_SEVERITIES] = {
	[GATE_NONE] = "none",
	[GATE_MINOR] = "minor",
	[GATE_MODERATE] = "moderate",
	[GATE_MAJOR] = "major",
};

const char *gate_severity_name(enum gate_severity severity)
{
	return severity_names[severity];
}

enum gate_severity gate_severity_named(const char *name)
{
	for (enum gate_severity s = GATE_MINOR; s < GATE_SEVERITIES; s++)
		if (str_equal(name, severity_names[s]))
			return s;
	return GATE_NONE;
}

static const char *compiled_in(void)
{
	for (const struct data_text *text = data_texts; text->name; text++)
		if (str_equal(text->name, "gate.presets"))
			return text->text;
	return "";
}

static struct gate_preset preset_begin(const char *name)
{
	struct gate_preset preset = {.name = name, .fail_on = GATE_MINOR};

	for (unsigned i = 0; i < GATE_SEVERITIES; i++)
		preset.above[i] = HUGE_VAL;
	return preset;
}

static void preset_take(struct gate_preset *preset, const char *key, const char *value)
{
	enum gate_severity severity = gate_severity_named(key);

	if (severity != GATE_NONE)
		preset->above[severity] = strtod(value, NULL) / 100;
	else if (str_equal(key, "fail-on"))
		preset->fail_on = gate_severity_named(value);
}

static int preset_unknown(const char *name, const char *known, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "there is no preset '%s'", name);
	err_hint(err, "--preset takes one of:%s", known);
	return -EINVAL;
}

int gate_preset_find(
	const char *name, struct arena *arena, struct gate_preset *ret_preset, struct err *err)
{
	const char *text = compiled_in();
	char *rest = arena_text(arena, text, strlen(text)), *line;
	str_auto struct str known = {0};
	bool inside = false, found = false;

	while ((line = strsep(&rest, "\n"))) {
		char *value = str_trim(line), *key = strsep(&value, " \t");

		if (!value || *key == '#')
			continue;
		value = str_trim(value);
		if (str_equal(key, "preset")) {
			str_addf(&known, " %s", value);
			inside = !found && (!name || str_equal(name, value));
			found |= inside;
			if (inside)
				*ret_preset = preset_begin(value);
		} else if (inside) {
			preset_take(ret_preset, key, value);
		}
	}
	return found ? 0 : preset_unknown(name ? name : "", str_text(&known), err);
}

enum gate_severity gate_severity_of(const struct gate_preset *preset, double change)
{
	for (enum gate_severity s = GATE_MAJOR; s > GATE_NONE; s--)
		if (change > preset->above[s])
			return s;
	return GATE_NONE;
}

static double least_from(const struct gate_preset *preset, enum gate_severity severity)
{
	double least = HUGE_VAL;

	for (; severity < GATE_SEVERITIES; severity++)
		least = fmin(least, preset->above[severity]);
	return least;
}

double gate_preset_least(const struct gate_preset *preset)
{
	return least_from(preset, GATE_MINOR);
}

double gate_preset_limit(const struct gate_preset *preset)
{
	return least_from(preset, preset->fail_on);
}
