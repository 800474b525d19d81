/* audit_book.c - data/audit.rules: blocks of `word  text`, where a line that begins with a blank
 * goes on.  A unit test checks that every line that is compiled in is one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/audit.h"
#include "base/str.h"
#include "data/texts.h"

static const char *compiled_in(const char *name)
{
	for (const struct data_text *text = data_texts; text->name; text++)
		if (str_equal(text->name, name))
			return text->text;
	return "";
}

static bool severity_parse(const char *word, enum audit_severity *ret_severity)
{
	for (enum audit_severity s = AUDIT_LOW; s < AUDIT_SEVERITIES; s++)
		if (str_equal(word, audit_severity_name(s))) {
			*ret_severity = s;
			return true;
		}
	return false;
}

static bool limit_parse(const char *word, double *ret_limit)
{
	char *end;

	*ret_limit = strtod(word, &end);
	return end != word && !*end;
}

/* One `word  text` of a finding. */
static bool rule_take(struct audit_rule *rule, const char *word, const char *text)
{
	if (str_equal(word, "severity"))
		return severity_parse(text, &rule->severity);
	if (str_equal(word, "limit"))
		return limit_parse(text, &rule->limit);
	if (str_equal(word, "means"))
		rule->means = text;
	else if (str_equal(word, "do"))
		rule->fix = text;
	else if (str_equal(word, "denies"))
		rule->denies = text;
	else
		return false;
	return true;
}

static bool level_take(struct audit_level *level, const char *word, const char *text)
{
	if (str_equal(word, "needs"))
		level->needs = text;
	else if (str_equal(word, "claim"))
		level->claim = text;
	else
		return false;
	return true;
}

/* One line, continued ones joined: "word  text".  False when it is none. */
static bool line_take(struct audit_book *book, char *line, bool *in_level)
{
	size_t len = strcspn(line, " \t");
	char *text = str_trim(line + len + (line[len] != '\0'));

	if (!line[len] || !*text)
		return false;
	line[len] = '\0';
	if (str_equal(line, "finding")) {
		*in_level = false;
		vec_push(&book->rules, (struct audit_rule){.code = text,
					       .means = "",
					       .fix = "",
					       .denies = "",
					       .limit = (double)NAN});
		return true;
	}
	if (str_equal(line, "level")) {
		*in_level = true;
		vec_push(&book->levels,
			(struct audit_level){.name = text, .needs = "", .claim = ""});
		return true;
	}
	if (*in_level)
		return level_take(&book->levels.at[book->levels.count - 1], line, text);
	return book->rules.count && rule_take(&book->rules.at[book->rules.count - 1], line, text);
}

static void lines_flush(struct audit_book *book, struct str *line, bool *in_level)
{
	if (line->len && !line_take(book, arena_text(&book->texts, line->at, line->len), in_level))
		book->malformed++;
	str_clear(line);
}

void audit_book_init(struct audit_book *book, const char *text)
{
	str_auto struct str copy = {0}, line = {0};
	bool in_level = false;
	char *rest, *next;

	*book = (struct audit_book){0};
	str_add(&copy, text ? text : compiled_in("audit.rules"));
	rest = copy.at;
	while ((next = strsep(&rest, "\n"))) {
		bool goes_on = *next == ' ' || *next == '\t';

		if (*next == '#' || !*str_trim(next))
			continue;
		if (!goes_on)
			lines_flush(book, &line, &in_level);
		else if (line.len)
			str_add_char(&line, ' ');
		str_add(&line, str_trim(next));
	}
	lines_flush(book, &line, &in_level);
}

void audit_book_done(struct audit_book *book)
{
	arena_done(&book->texts);
	vec_done(&book->rules);
	vec_done(&book->levels);
}

const struct audit_rule *audit_book_find(const struct audit_book *book, const char *code)
{
	vec_foreach (const struct audit_rule, rule, &book->rules)
		if (str_equal(rule->code, code))
			return rule;
	return NULL;
}

const char *audit_severity_name(enum audit_severity severity)
{
	static const char *const names[AUDIT_SEVERITIES] = {
		[AUDIT_LOW] = "LOW", [AUDIT_MEDIUM] = "MEDIUM", [AUDIT_HIGH] = "HIGH"};

	return names[severity];
}

const char *audit_answer_name(enum audit_answer answer)
{
	static const char *const names[] = {
		[AUDIT_UNKNOWN] = "unknown", [AUDIT_NO] = "no", [AUDIT_YES] = "yes"};

	return names[answer];
}
