/* fingerprint.c - the fields of a run, judged: the key of one machine, the differences of two.
 *
 * A field that one side could not read (denied) is unknown, not different: it warns at most.  A
 * field that is absent, or not in the list at all, differs from a value unless the rule says that
 * absence means that very value ("max" for a quota).  A noisy machine spoils a comparison even when
 * both sides were equally noisy, so the quiet limits look at each side by itself. */
#include "analyze/fingerprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"
#include "model/run.h"

static bool field_is_loud(const struct fingerprint_field *field)
{
	char *end;
	double number;

	if (field->state != FINGERPRINT_VALUE || isinf(field->rule->quiet_limit))
		return false;
	number = strtod(field->value, &end);
	return end != field->value && number > field->rule->quiet_limit;
}

static struct fingerprint_field field_of(
	const struct run *run, const struct field_row *row, const struct fingerprint_rules *rules)
{
	struct fingerprint_field field = {
		.group = run_text(run, row->group),
		.name = run_text(run, row->name),
		.value = row->state == FIELD_VALUE ? run_text(run, row->value) : NULL,
		.state = row->state == FIELD_VALUE    ? FINGERPRINT_VALUE
			 : row->state == FIELD_DENIED ? FINGERPRINT_DENIED
						      : FINGERPRINT_ABSENT,
	};

	field.rule = fingerprint_rules_find(rules, field.group, field.name);
	field.loud = field_is_loud(&field);
	return field;
}

/* A value that says more than "not there". */
static bool field_counts(const struct fingerprint_field *field)
{
	return field->state == FINGERPRINT_VALUE &&
	       !(field->rule->neutral && str_equal(field->rule->neutral, field->value));
}

static int lines_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void key_of(const struct fingerprint_view *view, char ret_key[FINGERPRINT_KEY])
{
	arena_auto struct arena texts = {0};
	vec_of(const char *) lines = {0};
	char hex[SHA256_TEXT];
	struct sha256 sha;

	vec_foreach (const struct fingerprint_field, field, &view->fields)
		if (field->rule->severity == FINGERPRINT_BLOCK && field_counts(field))
			vec_push(&lines, arena_format(&texts, "%s.%s=%s\n", field->group,
						 field->name, field->value));
	vec_sort(&lines, lines_compare);
	sha256_init(&sha);
	vec_foreach (const char *, line, &lines)
		sha256_add(&sha, *line, strlen(*line));
	sha256_text(&sha, hex);
	memcpy(ret_key, hex, FINGERPRINT_KEY - 1);
	ret_key[view->fields.count ? FINGERPRINT_KEY - 1 : 0] = '\0';
	vec_done(&lines);
}

void fingerprint_view_init(struct fingerprint_view *view, const struct run *run)
{
	struct err err = {0}; /* the rules are ours, and a test reads them */

	*view = (struct fingerprint_view){0};
	(void)fingerprint_rules_load(&view->rules, &err);
	vec_foreach (const struct field_row, row, &run->fields) {
		struct fingerprint_field field = field_of(run, row, &view->rules);

		view->absent += field.state == FINGERPRINT_ABSENT;
		view->denied += field.state == FINGERPRINT_DENIED;
		vec_push(&view->fields, field);
	}
	key_of(view, view->key);
}

void fingerprint_view_done(struct fingerprint_view *view)
{
	fingerprint_rules_done(&view->rules);
	vec_done(&view->fields);
}

void fingerprint_key(const struct run *run, char ret_key[FINGERPRINT_KEY])
{
	fingerprint_view_auto struct fingerprint_view view;

	fingerprint_view_init(&view, run);
	memcpy(ret_key, view.key, FINGERPRINT_KEY);
}

/* Fields by name, so that two documents of any size are joined in one pass. */
static void index_fields(const struct fingerprint_view *view, struct map *ret_index)
{
	str_auto struct str name = {0};

	for (uint32_t i = 0; i < view->fields.count; i++) {
		uint32_t known;

		str_clear(&name);
		str_addf(&name, "%s.%s", view->fields.at[i].group, view->fields.at[i].name);
		(void)map_add(ret_index, name.at, name.len, i, &known);
	}
}

static const char *missing_word(const struct fingerprint_field *field)
{
	return !field || field->state == FINGERPRINT_ABSENT  ? "absent"
	       : field && field->state == FINGERPRINT_DENIED ? "denied"
							     : NULL;
}

static bool fields_differ(const struct fingerprint_field *a, const struct fingerprint_field *b)
{
	bool a_counts = a && field_counts(a), b_counts = b && field_counts(b);

	if ((a && a->state == FINGERPRINT_DENIED) || (b && b->state == FINGERPRINT_DENIED))
		return !(a && b && a->state == b->state);
	return a_counts != b_counts || (a_counts && !str_equal(a->value, b->value));
}

/* One of `a` and `b` may be NULL: that side has no such field. */
static void compare_field(struct fingerprint_comparison *comparison,
	const struct fingerprint_field *a, const struct fingerprint_field *b)
{
	const struct fingerprint_rule *rule = a ? a->rule : b->rule;
	bool loud = (a && a->loud) || (b && b->loud);
	bool unknown =
		(a && a->state == FINGERPRINT_DENIED) || (b && b->state == FINGERPRINT_DENIED);
	struct fingerprint_difference difference = {
		.field = arena_format(&comparison->texts, "%s.%s", a ? a->group : b->group,
			a ? a->name : b->name),
		.a = a ? a->value : NULL,
		.b = b ? b->value : NULL,
		.a_missing = missing_word(a),
		.b_missing = missing_word(b),
		.reason = arena_format(&comparison->texts, "%s", rule->reason),
		.severity = rule->severity,
	};

	comparison->compared++;
	if (!loud && !fields_differ(a, b))
		return;
	if (loud) {
		difference.severity = FINGERPRINT_WARN;
		difference.reason = arena_format(
			&comparison->texts, "the machine was not quiet: %s", rule->reason);
	} else if (unknown && rule->severity != FINGERPRINT_INFO) {
		difference.severity = FINGERPRINT_WARN;
		difference.reason = arena_format(&comparison->texts,
			"one side could not be read and may differ: %s", rule->reason);
	}
	comparison->counts[difference.severity]++;
	vec_push(&comparison->differences, difference);
}

/* Worst first; the sort must keep the order of the fields, so it is three passes. */
static void sort_differences(struct fingerprint_comparison *comparison)
{
	struct fingerprint_comparison sorted = {0};

	for (int severity = FINGERPRINT_BLOCK; severity >= FINGERPRINT_INFO; severity--)
		vec_foreach (
			const struct fingerprint_difference, difference, &comparison->differences)
			if ((int)difference->severity == severity)
				vec_push(&sorted.differences, *difference);
	vec_done(&comparison->differences);
	comparison->differences.at = sorted.differences.at;
	comparison->differences.count = sorted.differences.count;
	comparison->differences.capacity = sorted.differences.capacity;
}

void fingerprint_compare(
	struct fingerprint_comparison *comparison, const struct run *a, const struct run *b)
{
	fingerprint_view_auto struct fingerprint_view left, right;
	struct map left_index = {0}, right_index = {0};
	str_auto struct str name = {0};
	uint32_t at;

	*comparison = (struct fingerprint_comparison){0};
	fingerprint_view_init(&left, a);
	fingerprint_view_init(&right, b);
	index_fields(&left, &left_index);
	index_fields(&right, &right_index);
	vec_foreach (const struct fingerprint_field, field, &left.fields) {
		str_clear(&name);
		str_addf(&name, "%s.%s", field->group, field->name);
		compare_field(comparison, field,
			map_get(&right_index, name.at, name.len, &at) ? &right.fields.at[at]
								      : NULL);
	}
	vec_foreach (const struct fingerprint_field, field, &right.fields) {
		str_clear(&name);
		str_addf(&name, "%s.%s", field->group, field->name);
		if (!map_get(&left_index, name.at, name.len, &at))
			compare_field(comparison, NULL, field);
	}
	map_done(&left_index);
	map_done(&right_index);
	sort_differences(comparison);
	comparison->class = comparison->counts[FINGERPRINT_BLOCK]  ? NOT_COMPARABLE
			    : comparison->counts[FINGERPRINT_WARN] ? ADVISORY
								   : FULLY_COMPARABLE;
	memcpy(comparison->a_key, left.key, FINGERPRINT_KEY);
	memcpy(comparison->b_key, right.key, FINGERPRINT_KEY);
}

void fingerprint_comparison_done(struct fingerprint_comparison *comparison)
{
	arena_done(&comparison->texts);
	vec_done(&comparison->differences);
}
