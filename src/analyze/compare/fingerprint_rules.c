/* fingerprint_rules.c - the rules as text: one line, one rule, the first match counts.
 *
 * The text is compiled in and a unit test checks that every line of it is a rule, so a bad line is
 * counted and skipped instead of giving every caller an error path. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fingerprint.h"
#include "base/str.h"
#include "data/texts.h"

static const struct fingerprint_rule rule_none = {
	.field = "*", .reason = "no rule names this field", .quiet_limit = HUGE_VAL};

static const char *compiled_in(const char *name)
{
	for (const struct data_text *text = data_texts; text->name; text++)
		if (str_equal(text->name, name))
			return text->text;
	return "";
}

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

static bool parse_line(char *line, struct fingerprint_rule *ret_rule)
{
	struct fingerprint_rule rule = {.quiet_limit = HUGE_VAL};
	char *rest = line, *word;

	rule.field = strsep(&rest, " \t");
	if (!strchr(rule.field, '.'))
		return false;
	do
		word = strsep(&rest, " \t");
	while (word && !*word);
	if (!parse_severity(word, &rule.severity) || !rest || !parse_options(&rest, &rule))
		return false;
	rule.reason = rest;
	*ret_rule = rule;
	return *rest != '\0';
}

void fingerprint_rules_init(struct fingerprint_rules *rules, const char *text)
{
	char *rest, *line;

	*rules = (struct fingerprint_rules){0};
	text = text ? text : compiled_in("fingerprint.rules");
	rest = arena_text(&rules->texts, text, strlen(text));
	while ((line = strsep(&rest, "\n"))) {
		struct fingerprint_rule rule;

		line = str_trim(line);
		if (!*line || *line == '#')
			continue;
		if (parse_line(line, &rule))
			vec_push(&rules->rows, rule);
		else
			rules->malformed++;
	}
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
