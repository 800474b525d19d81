/* fingerprint_rules.c - the rules as text: one line, one rule, the first match counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fingerprint.h"
#include "analyze/text_block.h"
#include "base/str.h"

static const struct fingerprint_rule rule_none = {
	.field = "*", .reason = "no rule covers this field", .quiet_limit = HUGE_VAL};

static bool parse_severity(const char *word, enum fingerprint_severity *ret_severity)
{
	for (enum fingerprint_severity s = FINGERPRINT_INFO; s <= FINGERPRINT_BLOCK; s++)
		if (word && str_equal(word, fingerprint_severity_name(s))) {
			*ret_severity = s;
			return true;
		}
	return false;
}

/* The words in brackets at the start of `rest`; false when one is unknown. */
static bool parse_options(char **rest, struct fingerprint_rule *rule)
{
	for (;;) {
		char *option, *end;

		*rest += strspn(*rest, " \t");
		if (**rest != '[')
			return true;
		option = *rest + 1;
		end = strchr(option, ']');
		if (!end)
			return false;
		*end = '\0';
		*rest = end + 1;
		if (str_equal(option, "brief")) {
			rule->brief = true;
		} else if (str_starts(option, "absent=")) {
			rule->neutral = option + strlen("absent=");
		} else if (str_starts(option, "quiet<=")) {
			rule->quiet_limit = strtod(option + strlen("quiet<="), &end);
			if (*end)
				return false;
		} else {
			return false;
		}
	}
}

static bool parse_row(char *row, struct fingerprint_rule *ret_rule)
{
	struct fingerprint_rule rule = {.quiet_limit = HUGE_VAL};
	char *rest = row;

	rule.field = text_word_next(&rest);
	if (!strchr(rule.field, '.') || !parse_severity(text_word_next(&rest), &rule.severity) ||
		!parse_options(&rest, &rule))
		return false;
	rule.reason = rest;
	*ret_rule = rule;
	return *rest != '\0';
}

int fingerprint_rules_add(
	struct fingerprint_rules *rules, const char *name, const char *text, struct err *err)
{
	struct text_reader reader = {&rules->texts, name, text, 0, err};
	struct fingerprint_rule rule;
	char *row;

	while ((row = text_row_next(&reader))) {
		const char *whole = arena_copy(reader.arena, row); /* parsing cuts it up */

		if (!parse_row(row, &rule))
			return text_refuse(&reader, reader.line,
				"expected a rule like \"GROUP.NAME BLOCK|WARN|INFO [OPTIONS] "
				"WHY\", not",
				whole);
		vec_push(&rules->rows, rule);
	}
	return 0;
}

int fingerprint_rules_load(struct fingerprint_rules *rules, struct err *err)
{
	return fingerprint_rules_add(
		rules, "fingerprint.rules", data_text("fingerprint.rules"), err);
}

void fingerprint_rules_done(struct fingerprint_rules *rules)
{
	arena_done(&rules->texts);
	vec_done(&rules->rows);
}

static bool rule_matches(const struct fingerprint_rule *rule, const char *group, const char *name)
{
	const char *pattern = rule->field;
	size_t len = strlen(group), rest;

	if (strncmp(pattern, group, len) != 0 || pattern[len] != '.')
		return false;
	pattern += len + 1;
	rest = strlen(pattern);
	if (rest && pattern[rest - 1] == '*')
		return strncmp(pattern, name, rest - 1) == 0;
	return str_equal(pattern, name);
}

const struct fingerprint_rule *fingerprint_rules_find(
	const struct fingerprint_rules *rules, const char *group, const char *name)
{
	vec_foreach (const struct fingerprint_rule, rule, &rules->rows)
		if (rule_matches(rule, group, name))
			return rule;
	return &rule_none;
}

const char *fingerprint_severity_name(enum fingerprint_severity severity)
{
	static const char *const names[] = {[FINGERPRINT_INFO] = "INFO",
		[FINGERPRINT_WARN] = "WARN",
		[FINGERPRINT_BLOCK] = "BLOCK"};

	return names[severity];
}

const char *fingerprint_class_name(enum fingerprint_class class)
{
	static const char *const names[] = {[FULLY_COMPARABLE] = "FULLY_COMPARABLE",
		[ADVISORY] = "ADVISORY",
		[NOT_COMPARABLE] = "NOT_COMPARABLE"};

	return names[class];
}
