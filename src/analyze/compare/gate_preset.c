/* gate_preset.c - see gate_preset.h. */
#include "analyze/gate_preset.h"

#include <errno.h>
#include <math.h>

#include "analyze/text_block.h"
#include "base/str.h"

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
	unsigned severity = str_index(severity_names, GATE_SEVERITIES, name);

	return severity < GATE_SEVERITIES ? severity : GATE_NONE;
}

static int preset_read(const struct text_reader *reader, const struct text_block *block,
	struct gate_preset *ret_preset)
{
	static const char *const keys[] = {"preset", "fail-on", "minor", "moderate", "major", NULL};
	struct gate_preset preset = {.name = block->pairs[0].value};
	int r = text_block_check(reader, block, keys, 2, NULL);

	for (enum gate_severity s = GATE_NONE; r == 0 && s < GATE_SEVERITIES; s++) {
		const struct text_pair *pair = text_block_find(block, severity_names[s]);

		preset.above[s] = HUGE_VAL;
		if (pair)
			r = text_number(reader, pair, &preset.above[s]);
		preset.above[s] /= 100;
	}
	if (r < 0)
		return r;
	preset.fail_on = gate_severity_named(text_block_value(block, "fail-on"));
	*ret_preset = preset;
	return 0;
}

static int preset_unknown(const char *name, const char *known, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "unknown preset '%s'", name);
	err_hint(err, "presets:%s", known);
	return -EINVAL;
}

int gate_preset_find(
	const char *name, struct arena *arena, struct gate_preset *ret_preset, struct err *err)
{
	struct text_reader reader = {arena, "gate.presets", data_text("gate.presets"), 0, err};
	str_auto struct str known = {0};
	struct text_block block;
	int r;

	while ((r = text_block_next(&reader, &block)) == 0 && block.count) {
		if (!name || str_equal(name, block.pairs[0].value))
			return preset_read(&reader, &block, ret_preset);
		str_addf(&known, " %s", block.pairs[0].value);
	}
	return r < 0 ? r : preset_unknown(name ? name : "", str_text(&known), err);
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
