/* audit_book.c - data/audit.rules: findings, and levels of fairness. */
#include <math.h>

#include "analyze/audit.h"
#include "analyze/text_block.h"
#include "base/str.h"

static const char *const severities[AUDIT_SEVERITIES] = {
	[AUDIT_LOW] = "LOW", [AUDIT_MEDIUM] = "MEDIUM", [AUDIT_HIGH] = "HIGH"};

static int rule_take(
	struct audit_book *book, const struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {
		"finding", "severity", "means", "do", "denies", "limit", NULL};
	const struct text_pair *limit = text_block_find(block, "limit");
	struct audit_rule rule = {.limit = (double)NAN};
	int r = text_block_check(reader, block, keys, 5, NULL);

	if (r < 0)
		return r;
	rule.code = text_block_value(block, "finding");
	rule.means = text_block_value(block, "means");
	rule.fix = text_block_value(block, "do");
	rule.denies = text_block_value(block, "denies");
	rule.severity =
		str_index(severities, AUDIT_SEVERITIES, text_block_value(block, "severity"));
	if (rule.severity == AUDIT_SEVERITIES)
		return text_refuse(reader, block->pairs[0].line, "unknown severity",
			text_block_value(block, "severity"));
	if (limit)
		r = text_number(reader, limit, &rule.limit);
	vec_push(&book->rules, rule);
	return r;
}

static int block_take(void *to, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"level", "needs", "claim", NULL};
	struct audit_book *book = to;
	int r;

	if (!str_equal(block->pairs[0].key, "level"))
		return rule_take(book, reader, block);
	r = text_block_check(reader, block, keys, 3, NULL);
	if (r == 0)
		vec_push(&book->levels, (struct audit_level){text_block_value(block, "level"),
						text_block_value(block, "needs"),
						text_block_value(block, "claim")});
	return r;
}

int audit_book_add(struct audit_book *book, const char *name, const char *text, struct err *err)
{
	struct text_reader reader = {&book->texts, name, text, 0, err};

	return text_read(&reader, block_take, book);
}

int audit_book_load(struct audit_book *book, struct err *err)
{
	return audit_book_add(book, "audit.rules", data_text("audit.rules"), err);
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
	return severities[severity];
}

const char *audit_answer_name(enum audit_answer answer)
{
	static const char *const names[] = {
		[AUDIT_UNKNOWN] = "unknown", [AUDIT_NO] = "no", [AUDIT_YES] = "yes"};

	return names[answer];
}
