/* pattern_book.c - data/patterns as rules.
 *
 * A pattern that can never be true, or that names what does not exist, would be silent for ever; so
 * what is doubtful is refused: an unknown key, a rule that belongs to no stacks, stacks without a
 * rule, a name that is neither a signal nor a number of the block's own stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pattern_parts.h"
#include "signal_parts.h"

static const char *const rule_words[STACK_RULES] = {
	[STACK_LEAF] = "leaf",
	[STACK_IN] = "in",
	[STACK_ALSO] = "also",
	[STACK_CALL] = "call",
	[STACK_ANY] = "any",
	[STACK_OWN] = "own",
	[STACK_NOT] = "not",
	[STACK_NOT_OWN] = "not_own",
};

static void names_add(struct text_reader *reader, const char *text, struct name_list *list)
{
	char *rest = arena_copy(reader->arena, text), *word;
	const char **names = arena_take(reader->arena, (strlen(text) / 2 + 1) * sizeof(*names));

	list->names = names;
	while ((word = text_word_next(&rest)))
		names[list->count++] = word;
}

static int stacks_begin(
	struct text_reader *reader, const struct text_pair *pair, struct pattern *pattern)
{
	for (unsigned i = 0; i < pattern->stacks_count; i++)
		if (str_equal(pattern->stacks[i].name, pair->value))
			return text_refuse(reader, pair->line, "second stacks", pair->value);
	if (pattern->stacks_count == PATTERN_STACKS)
		return text_refuse(reader, pair->line, "too many stacks at", pair->value);
	pattern->stacks[pattern->stacks_count++] = (struct pattern_stacks){.name = pair->value};
	return 0;
}

static int rule_take(struct text_reader *reader, const struct text_pair *pair, unsigned rule,
	struct pattern *pattern)
{
	struct name_list *list;

	if (!pattern->stacks_count)
		return text_refuse(reader, pair->line, "no stacks are given above", pair->key);
	list = &pattern->stacks[pattern->stacks_count - 1].lists[rule];
	if (list->count)
		return text_refuse(reader, pair->line, "a second key", pair->key);
	names_add(reader, pair->value, list);
	return 0;
}

static int place_take(
	struct text_reader *reader, const struct text_pair *pair, struct pattern *pattern)
{
	if (!pattern->stacks_count)
		return text_refuse(reader, pair->line, "no stacks are given above", pair->key);
	if (!str_equal(pair->value, "caller"))
		return text_refuse(reader, pair->line, "unknown place", pair->value);
	pattern->stacks[pattern->stacks_count - 1].of_caller = true;
	return 0;
}

static int about_take(
	struct text_reader *reader, const struct text_pair *pair, struct pattern *pattern)
{
	if (!str_equal(pair->value, "setting"))
		return text_refuse(reader, pair->line, "unknown subject", pair->value);
	pattern->of_setting = true;
	return 0;
}

static int when_take(
	struct text_reader *reader, const struct text_pair *pair, struct pattern *pattern)
{
	if (pattern->when_count == PATTERN_WHENS)
		return text_refuse(reader, pair->line, "too many rules at", pair->value);
	return condition_parse(reader, pair, &pattern->whens[pattern->when_count++]);
}

/* "TEXT", or "[CONDITION] TEXT". */
static int advice_take(
	struct text_reader *reader, const struct text_pair *pair, struct pattern *pattern)
{
	struct pattern_advice *advice = &pattern->advices[pattern->advice_count];
	const char *end = strchr(pair->value, ']');
	struct text_pair condition = *pair;

	if (pattern->advice_count++ == PATTERN_ADVICES)
		return text_refuse(reader, pair->line, "too many rules at", pair->value);
	advice->text = pair->value;
	if (*pair->value != '[')
		return 0;
	if (!end)
		return text_refuse(reader, pair->line, "missing ] in", pair->value);
	condition.value =
		arena_text(reader->arena, pair->value + 1, (size_t)(end - pair->value) - 1);
	advice->text = end + 1 + strspn(end + 1, " ");
	return condition_parse(reader, &condition, &advice->when);
}

static int pair_take(
	struct text_reader *reader, const struct text_pair *pair, struct pattern *pattern)
{
	unsigned rule = str_index(rule_words, STACK_RULES, pair->key);

	if (rule < STACK_RULES)
		return rule_take(reader, pair, rule, pattern);
	if (str_equal(pair->key, "stacks"))
		return stacks_begin(reader, pair, pattern);
	if (str_equal(pair->key, "place"))
		return place_take(reader, pair, pattern);
	if (str_equal(pair->key, "about"))
		return about_take(reader, pair, pattern);
	if (str_equal(pair->key, "when"))
		return when_take(reader, pair, pattern);
	return str_equal(pair->key, "advice") ? advice_take(reader, pair, pattern) : 0;
}

/* "copied" or "copied.site" of the pattern's own stacks. */
static bool is_of_stacks(const struct pattern *pattern, const char *name, size_t len)
{
	static const char *const numbers[] = {
		"", ".site", ".callers", ".bursts", ".late", ".classes"};

	for (unsigned i = 0; i < pattern->stacks_count; i++) {
		size_t head = strlen(pattern->stacks[i].name);

		for (unsigned k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
			if (len == head + strlen(numbers[k]) &&
				memcmp(name, pattern->stacks[i].name, head) == 0 &&
				memcmp(name + head, numbers[k], len - head) == 0)
				return true;
	}
	return false;
}

static bool name_is_known(const struct pattern *pattern, const struct signal_book *signals,
	const char *name, size_t len)
{
	vec_foreach (const struct signal_rule, rule, &signals->rules)
		if (strlen(rule->name) == len && memcmp(rule->name, name, len) == 0)
			return true;
	return is_of_stacks(pattern, name, len);
}

static int condition_check(const struct text_reader *reader, const struct pattern *pattern,
	const struct signal_book *signals, const struct condition *condition)
{
	for (unsigned i = 0; i < condition->count; i++)
		for (uint32_t k = 0; k < condition->parts[i].left.names_count; k++) {
			const char *name = condition->parts[i].left.names[k];

			if (!name_is_known(pattern, signals, name, strlen(name)))
				return text_refuse(
					reader, pattern->line, "unknown name in a rule:", name);
		}
	return 0;
}

/* Every {NAME} of a text is known. */
static int words_check(const struct text_reader *reader, const struct pattern *pattern,
	const struct signal_book *signals, const char *text)
{
	static const char *const words[] = {"{place}", "{callee}", "{where}"};

	for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
		size_t len = strcspn(at, "}");
		bool known = false;

		for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
			known |= str_starts(at, words[i]);
		if (!at[len] || (!known && !name_is_known(pattern, signals, at + 1, len - 1)))
			return text_refuse(reader, pattern->line, "unknown name in", text);
	}
	return 0;
}

static int pattern_check(const struct text_reader *reader, const struct pattern *pattern,
	const struct signal_book *signals)
{
	int r = words_check(reader, pattern, signals, pattern->means);

	for (unsigned i = 0; i < pattern->stacks_count; i++) {
		unsigned names = 0;

		for (unsigned k = 0; k < STACK_NOT; k++)
			names += pattern->stacks[i].lists[k].count;
		if (!names)
			return text_refuse(reader, pattern->line,
				"no frame is named for the stacks", pattern->stacks[i].name);
	}
	for (unsigned i = 0; r == 0 && i < pattern->when_count; i++)
		r = condition_check(reader, pattern, signals, &pattern->whens[i]);
	for (unsigned i = 0; r == 0 && i < pattern->advice_count; i++) {
		r = condition_check(reader, pattern, signals, &pattern->advices[i].when);
		if (r == 0)
			r = words_check(reader, pattern, signals, pattern->advices[i].text);
	}
	if (r == 0 && pattern->advices[pattern->advice_count - 1].when.count)
		return text_refuse(reader, pattern->line,
			"the last advice must hold without a condition:", pattern->name);
	return r == 0 ? words_check(reader, pattern, signals, pattern->refute) : r;
}

static int pattern_add(
	struct pattern_book *book, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"pattern", "title", "stacks", "when", "means", "advice",
		"refute", "plant", "leaf", "in", "also", "call", "any", "own", "not", "not_own",
		"place", "about", NULL};
	struct pattern pattern = {
		.file = arena_copy(reader->arena, reader->name), .line = block->pairs[0].line};
	int r = text_block_check(reader, block, keys, 8,
		"stacks when advice leaf in also call any own not not_own place about");

	if (r < 0)
		return r;
	pattern.name = text_block_value(block, "pattern");
	pattern.title = text_block_value(block, "title");
	pattern.means = text_block_value(block, "means");
	pattern.refute = text_block_value(block, "refute");
	pattern.plant = text_block_value(block, "plant");
	for (unsigned i = 0; r == 0 && i < block->count; i++)
		r = pair_take(reader, &block->pairs[i], &pattern);
	if (r < 0)
		return r;
	vec_foreach (const struct pattern, other, &book->rows)
		if (str_equal(other->name, pattern.name))
			return text_refuse(reader, pattern.line, "a second pattern", pattern.name);
	vec_push(&book->rows, pattern);
	return 0;
}

/* The names that are nobody's own code: one block of its own. */
static int names_take(
	struct pattern_book *book, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"library", "wrappers", NULL};
	int r = text_block_check(reader, block, keys, 2, NULL);

	if (r < 0)
		return r;
	if (book->library.count)
		return text_refuse(reader, block->pairs[0].line, "a second key", "library");
	names_add(reader, text_block_value(block, "library"), &book->library);
	names_add(reader, text_block_value(block, "wrappers"), &book->wrappers);
	return 0;
}

static int block_take(void *to, struct text_reader *reader, const struct text_block *block)
{
	return str_equal(block->pairs[0].key, "library") ? names_take(to, reader, block)
							 : pattern_add(to, reader, block);
}

static int book_finish(
	struct pattern_book *book, int r, struct pattern_book **ret_book, struct err *err)
{
	signal_book_auto struct signal_book signals = {0};

	if (r == 0)
		r = signal_book_load(&signals, err);
	for (uint32_t i = 0; r == 0 && i < book->rows.count; i++) {
		const struct text_reader reader = {.name = book->rows.at[i].file, .err = err};

		r = pattern_check(&reader, &book->rows.at[i], &signals);
	}
	if (r == 0) {
		*ret_book = book;
		return 0;
	}
	err_hint(err, "docs/patterns.md has the format");
	pattern_book_close(book);
	return r;
}

int pattern_book_parse(
	const char *name, const char *text, struct pattern_book **ret_book, struct err *err)
{
	struct pattern_book *book = mem_new(1, sizeof(*book));
	struct text_reader reader = {&book->arena, name, text, 0, err};

	return book_finish(book, text_read(&reader, block_take, book), ret_book, err);
}

int pattern_book_load(struct pattern_book **ret_book, struct err *err)
{
	struct pattern_book *book = mem_new(1, sizeof(*book));
	int r = data_read("patterns/", &book->arena, block_take, book, err);

	return book_finish(book, r, ret_book, err);
}

void pattern_book_close(struct pattern_book *book)
{
	if (!book)
		return;
	vec_done(&book->rows);
	arena_done(&book->arena);
	free(book);
}

void pattern_book_close_pointer(struct pattern_book **book)
{
	pattern_book_close(*book);
}
