/* signal_book.c - data/signals.txt as rules.  What is doubtful is refused: docs/hypotheses.md. */
#include <ctype.h>

#include "analyze/text_block.h"
#include "base/str.h"
#include "signal_parts.h"

static bool name_is_good(const char *name)
{
	if (!isalpha((unsigned char)*name))
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

/* EVIDENCE_KINDS: there is none of that name. */
static enum evidence_kind kind_of(const char *word)
{
	enum evidence_kind kind = 0;

	while (kind < EVIDENCE_KINDS && !str_equal(evidence_kind_word(kind), word))
		kind++;
	return kind;
}

static int rule_add(void *to, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {
		"signal", "from", "witness", "formula", "unit", "meaning", "else", NULL};
	struct signal_book *book = to;
	struct signal_rule rule = {0};
	const char *from, *otherwise;
	int r = text_block_check(reader, block, keys, 6, NULL);

	if (r < 0)
		return r;
	rule.name = text_block_value(block, "signal");
	rule.witness = text_block_value(block, "witness");
	rule.unit = text_block_value(block, "unit");
	rule.meaning = text_block_value(block, "meaning");
	from = text_block_value(block, "from");
	if (!name_is_good(rule.name))
		return text_refuse(reader, block->pairs[0].line, "not a name:", rule.name);
	otherwise = text_block_value(block, "else");
	rule.from = kind_of(from);
	if (rule.from == EVIDENCE_KINDS)
		return text_refuse(reader, block->pairs[0].line, "unknown evidence", from);
	rule.otherwise = otherwise && *otherwise ? kind_of(otherwise) : rule.from;
	if (rule.otherwise == EVIDENCE_KINDS)
		return text_refuse(reader, block->pairs[0].line, "unknown evidence", otherwise);
	vec_foreach (const struct signal_rule, other, &book->rules)
		if (str_equal(other->name, rule.name))
			return text_refuse(
				reader, block->pairs[0].line, "a second signal", rule.name);
	r = formula_parse(
		&book->arena, text_block_value(block, "formula"), &rule.formula, reader->err);
	if (r == 0)
		vec_push(&book->rules, rule);
	return r;
}

int signal_book_add(struct signal_book *book, const char *name, const char *text, struct err *err)
{
	struct text_reader reader = {&book->arena, name, text, 0, err};

	return text_read(&reader, rule_add, book);
}

int signal_book_load(struct signal_book *book, struct err *err)
{
	return signal_book_add(book, "signals.txt", data_text("signals.txt"), err);
}

void signal_book_done(struct signal_book *book)
{
	vec_done(&book->rules);
	arena_done(&book->arena);
}
