/* confidence.c - see confidence.h; data/confidence.rules has the weights and their reasons. */
#include "analyze/confidence.h"

#include <errno.h>
#include <math.h>

#include "analyze/text_block.h"
#include "base/str.h"

const char *confidence_feature_name(enum confidence_feature feature)
{
	static const char *const names[CONFIDENCE_FEATURES] = {
		[CONFIDENCE_SECOND_METHOD] = "second_method",
		[CONFIDENCE_THIRD_METHOD] = "third_method",
		[CONFIDENCE_OBJECTIONS] = "objections",
		[CONFIDENCE_PROVEN] = "proven",
		[CONFIDENCE_LEVEL_IS_OPINION] = "level_is_opinion",
		[CONFIDENCE_DOUBTED] = "doubted",
		[CONFIDENCE_TOLD_APART] = "told_apart",
		[CONFIDENCE_COUNTED] = "counted",
		[CONFIDENCE_EXPLAINED] = "explained",
		[CONFIDENCE_SHARE] = "share",
		[CONFIDENCE_NOISE] = "noise",
		[CONFIDENCE_RIVAL] = "rival",
		[CONFIDENCE_GAP] = "gap",
		[CONFIDENCE_SAMPLES] = "samples",
		[CONFIDENCE_OTHERS_SHARE] = "others_share",
		[CONFIDENCE_WALL_SPREAD] = "wall_spread",
		[CONFIDENCE_SHORT_RUN] = "short_run",
	};

	return names[feature];
}

/* Where a line of that name goes; NULL: there is no such line. */
static double *value_of(struct confidence_rules *rules, const char *name, double **ret_most)
{
	const struct {
		const char *name;
		double *value;
	} others[] = {{"intercept", &rules->intercept}, {"high", &rules->high},
		{"medium", &rules->medium}};

	*ret_most = NULL;
	for (unsigned i = 0; i < CONFIDENCE_FEATURES; i++)
		if (str_equal(confidence_feature_name(i), name)) {
			*ret_most = &rules->most[i];
			return &rules->weight[i];
		}
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (str_equal(others[i].name, name))
			return others[i].value;
	return NULL;
}

static int row_take(struct text_reader *reader, char *row, struct confidence_rules *rules)
{
	const char *name = text_word_next(&row), *weight = text_word_next(&row);
	struct text_pair pair = {name, weight, reader->line}, limit;
	double *most, *value = value_of(rules, name, &most);

	limit = (struct text_pair){name, str_trim(row), reader->line};
	if (!value)
		return text_refuse(reader, pair.line, "unknown feature", name);
	if (!isnan(*value))
		return text_refuse(reader, pair.line, "duplicate feature", name);
	if (!weight)
		return text_refuse(reader, pair.line, "needs a weight:", name);
	if (text_number(reader, &pair, value) < 0)
		return -EINVAL;
	if (!*limit.value)
		return 0;
	if (!most)
		return text_refuse(reader, pair.line, "has no limit:", name);
	if (text_number(reader, &limit, most) < 0)
		return -EINVAL;
	return *most > 0 && *most <= 1
		       ? 0
		       : text_refuse(reader, pair.line, "not a probability:", limit.value);
}

/* A line that is not there; NULL: all are. */
static const char *missing_of(const struct confidence_rules *rules)
{
	if (isnan(rules->intercept))
		return "intercept";
	if (isnan(rules->high) || isnan(rules->medium))
		return isnan(rules->high) ? "high" : "medium";
	for (unsigned i = 0; i < CONFIDENCE_FEATURES; i++)
		if (isnan(rules->weight[i]))
			return confidence_feature_name(i);
	return NULL;
}

static int rules_check(const struct text_reader *reader, const struct confidence_rules *rules)
{
	const char *missing = missing_of(rules);

	if (missing)
		return text_refuse(reader, reader->line, "missing line", missing);
	if (!(rules->medium > 0 && rules->medium < rules->high && rules->high < 1))
		return text_refuse(
			reader, reader->line, "needs 0 < medium < high < 1 in", reader->name);
	return 0;
}

int confidence_rules_parse(
	const char *name, const char *text, struct confidence_rules *ret_rules, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct text_reader reader = {&arena, name, text, 0, err};
	struct confidence_rules rules = {(double)NAN, (double)NAN, (double)NAN, {0}, {0}};
	char *row;
	int r = 0;

	for (unsigned i = 0; i < CONFIDENCE_FEATURES; i++) {
		rules.weight[i] = (double)NAN;
		rules.most[i] = 1;
	}
	while (r == 0 && (row = text_row_next(&reader)))
		r = row_take(&reader, row, &rules);
	if (r == 0)
		r = rules_check(&reader, &rules);
	if (r == 0)
		*ret_rules = rules;
	return r;
}

void confidence_rules_load(struct confidence_rules *ret_rules)
{
	struct err err = {0}; /* a unit test reads every line of it */

	(void)confidence_rules_parse(
		"confidence.rules", data_text("confidence.rules"), ret_rules, &err);
}

double confidence_probability(
	const struct confidence_rules *rules, const struct confidence_features *features)
{
	double sum = rules->intercept, most = 1;

	for (unsigned i = 0; i < CONFIDENCE_FEATURES; i++) {
		double value = features->value[i];

		if (isnan(value) || value == 0)
			continue;
		sum += rules->weight[i] * value;
		most = fmin(most, rules->most[i]);
	}
	return fmin(most, 1 / (1 + exp(-sum)));
}

const char *confidence_word(const struct confidence_rules *rules, double probability)
{
	return probability >= rules->high     ? "high"
	       : probability >= rules->medium ? "medium"
					      : "low";
}
