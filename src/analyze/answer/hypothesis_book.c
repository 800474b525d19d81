/* hypothesis_book.c - data/hypotheses as rules.
 *
 * A wrong rule would give a wrong verdict with confidence, so everything doubtful is refused: an
 * unknown key or category, a rule that belongs to no witness, a witness that says nothing, a number
 * that is none. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/text_block.h"
#include "base/mem.h"
#include "hypothesis_parts.h"

static const char *const categories[] = {"cpu", "memory", "branch", "lock", "io", "off_cpu",
	"allocation", "syscall", "fault", "starvation", "noise"};
enum { CATEGORIES = sizeof(categories) / sizeof(*categories), NUMBER_MOST = 3 };

/* "FORMULA >= NUMBER": the last < or > is the comparison. */
static int comparison_parse(struct text_reader *reader, const struct text_pair *pair, char *text,
	struct condition_part *ret)
{
	char *sign = text + strlen(text), *number, *end;

	while (sign > text && *sign != '<' && *sign != '>')
		sign--;
	if (sign == text)
		return text_refuse(reader, pair->line,
			"expected a rule like \"FORMULA >= NUMBER\", not", text);
	ret->sign = *sign;
	ret->or_equal = sign[1] == '=';
	*sign = '\0';
	number = sign + 1 + ret->or_equal;
	ret->number = strtod(number, &end);
	if (end == number || *str_trim(end) || !isfinite(ret->number))
		return text_refuse(reader, pair->line, "not a number:", number);
	ret->words = str_trim(text);
	return formula_parse(reader->arena, ret->words, &ret->left, reader->err);
}

int condition_parse(struct text_reader *reader, const struct text_pair *pair, struct condition *ret)
{
	char *at = arena_copy(reader->arena, pair->value);
	int r = 0;

	*ret = (struct condition){0};
	while (r == 0 && at) {
		char *and = strstr(at, " and ");

		if (and)
			*and = '\0';
		if (ret->count == CONDITION_PARTS)
			return text_refuse(
				reader, pair->line, "too many parts in the rule", pair->value);
		r = comparison_parse(reader, pair, at, &ret->parts[ret->count++]);
		at = and? and+5 : NULL;
	}
	return r;
}

static int witness_begin(
	struct text_reader *reader, const struct text_pair *pair, struct hypothesis *h)
{
	for (unsigned i = 0; i < h->witness_count; i++)
		if (str_equal(h->witnesses[i].name, pair->value))
			return text_refuse(reader, pair->line, "a second witness", pair->value);
	if (h->witness_count == HYPOTHESIS_WITNESSES)
		return text_refuse(reader, pair->line, "too many witnesses at", pair->value);
	h->witnesses[h->witness_count++] = (struct witness_rule){.name = pair->value, .says = ""};
	return 0;
}

static int says_take(
	struct text_reader *reader, const struct text_pair *pair, struct witness_rule *witness)
{
	const struct signals none = {0};

	if (*witness->says)
		return text_refuse(reader, pair->line, "a second key", pair->key);
	witness->says = pair->value;
	if (words_expand(pair->value, &none, reader->arena))
		return 0;
	return text_refuse(reader, pair->line, "missing } in", pair->value);
}

static int agree_add(
	struct text_reader *reader, const struct text_pair *pair, struct witness_rule *witness)
{
	for (unsigned i = 0; i < witness->agrees_count; i++)
		if (str_equal(witness->agrees[i].value, pair->value))
			return text_refuse(reader, pair->line, "a second time", pair->value);
	if (witness->agrees_count == WITNESS_QUANTITIES)
		return text_refuse(reader, pair->line, "too many quantities at", pair->value);
	witness->agrees[witness->agrees_count++] = *pair;
	return 0;
}

/* supports, rejects, says and agree belong to the witness above them. */
static int witness_take(
	struct text_reader *reader, const struct text_pair *pair, struct hypothesis *h)
{
	bool supports = str_equal(pair->key, "supports");
	struct witness_rule *witness;
	struct condition *at;
	unsigned *count;

	if (!h->witness_count)
		return text_refuse(reader, pair->line, "no witness is given above", pair->key);
	witness = &h->witnesses[h->witness_count - 1];
	if (str_equal(pair->key, "says"))
		return says_take(reader, pair, witness);
	if (str_equal(pair->key, "agree"))
		return agree_add(reader, pair, witness);
	count = supports ? &witness->supports_count : &witness->rejects_count;
	at = supports ? witness->supports : witness->rejects;
	if (*count == WITNESS_CONDITIONS)
		return text_refuse(reader, pair->line, "too many rules at", pair->value);
	return condition_parse(reader, pair, &at[(*count)++]);
}

static int share_add(struct text_reader *reader, const struct text_pair *pair, struct hypothesis *h)
{
	if (h->shares_count == HYPOTHESIS_SHARES)
		return text_refuse(reader, pair->line, "too many shares at", pair->value);
	return formula_parse(
		reader->arena, pair->value, &h->shares[h->shares_count++], reader->err);
}

static int pair_take(struct text_reader *reader, const struct text_pair *pair, struct hypothesis *h)
{
	if (str_equal(pair->key, "witness"))
		return witness_begin(reader, pair, h);
	if (str_equal(pair->key, "supports") || str_equal(pair->key, "rejects") ||
		str_equal(pair->key, "says") || str_equal(pair->key, "agree"))
		return witness_take(reader, pair, h);
	if (str_equal(pair->key, "share"))
		return share_add(reader, pair, h);
	if (str_equal(pair->key, "needs"))
		return condition_parse(reader, pair, &h->needs);
	return 0;
}

static int number_take(struct text_reader *reader, const struct text_block *block, const char *key,
	unsigned fallback, unsigned *ret_number)
{
	const char *text = text_block_value(block, key);
	uint64_t number;

	*ret_number = fallback;
	if (!text)
		return 0;
	if (str_to_u64(text, &number) < 0 || number < 1 || number > NUMBER_MOST)
		return text_refuse(reader, block->pairs[0].line, "expected 1 to 3, not", text);
	*ret_number = (unsigned)number;
	return 0;
}

static int head_take(
	struct text_reader *reader, const struct text_block *block, struct hypothesis *h)
{
	const char *missing = text_block_value(block, "missing");
	const char *role = text_block_value(block, "role");
	unsigned effort;
	int r;

	h->name = text_block_value(block, "hypothesis");
	h->title = text_block_value(block, "title");
	h->category = text_block_value(block, "category");
	h->advice = text_block_value(block, "advice");
	h->falsifier = text_block_value(block, "falsifier");
	h->next = text_block_value(block, "next");
	h->missing = missing ? missing : "";
	h->is_place = role != NULL;
	h->is_aside = role && str_equal(role, "aside");
	if (role && !h->is_aside && !str_equal(role, "place"))
		return text_refuse(reader, block->pairs[0].line, "unknown role", role);
	if (str_index(categories, CATEGORIES, h->category) == CATEGORIES)
		return text_refuse(reader, block->pairs[0].line, "unknown category", h->category);
	r = number_take(reader, block, "effort", 2, &effort);
	h->effort = effort;
	return r < 0 ? r : number_take(reader, block, "enough", 2, &h->enough);
}

static int hypothesis_add(
	struct hypothesis_book *book, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"hypothesis", "title", "category", "effort", "advice",
		"falsifier", "next", "witness", "share", "enough", "role", "missing", "supports",
		"rejects", "says", "agree", "needs", NULL};
	struct hypothesis h = {.file = arena_format(reader->arena, "%s", reader->name)};
	int r = text_block_check(
		reader, block, keys, 8, "witness share supports rejects says agree");

	if (r == 0)
		r = head_take(reader, block, &h);
	for (unsigned i = 0; r == 0 && i < block->count; i++)
		r = pair_take(reader, &block->pairs[i], &h);
	if (r < 0)
		return r;
	vec_foreach (const struct hypothesis, other, &book->rows)
		if (str_equal(other->name, h.name))
			return text_refuse(
				reader, block->pairs[0].line, "a second hypothesis", h.name);
	for (unsigned i = 0; i < h.witness_count; i++)
		if (!(h.witnesses[i].supports_count + h.witnesses[i].rejects_count) ||
			!*h.witnesses[i].says)
			return text_refuse(reader, block->pairs[0].line,
				"no rule, or nothing to say, for the witness", h.witnesses[i].name);
	vec_push(&book->rows, h);
	return 0;
}

static int quantity_add(
	struct hypothesis_book *book, struct text_reader *reader, const struct text_block *block)
{
	struct quantity quantity;
	int r = quantity_parse(reader, block, &quantity);

	if (r < 0)
		return r;
	if (quantity_find(book, quantity.name))
		return text_refuse(
			reader, block->pairs[0].line, "a second quantity", quantity.name);
	vec_push(&book->quantities, quantity);
	return 0;
}

/* Quantities may stand behind the rules that name them, or in another file. */
static int book_check(const struct hypothesis_book *book, struct err *err)
{
	vec_foreach (const struct hypothesis, h, &book->rows) {
		const struct text_reader reader = {.name = h->file, .err = err};

		for (unsigned i = 0; i < h->witness_count; i++)
			for (unsigned j = 0; j < h->witnesses[i].agrees_count; j++) {
				const struct text_pair *pair = &h->witnesses[i].agrees[j];

				if (!quantity_find(book, pair->value))
					return text_refuse(&reader, pair->line, "unknown quantity",
						pair->value);
			}
	}
	return 0;
}

static int block_take(void *to, struct text_reader *reader, const struct text_block *block)
{
	return str_equal(block->pairs[0].key, "quantity") ? quantity_add(to, reader, block)
							  : hypothesis_add(to, reader, block);
}

/* The book, checked, when reading it gave `r`. */
static int book_finish(
	struct hypothesis_book *book, int r, struct hypothesis_book **ret_book, struct err *err)
{
	if (r == 0)
		r = book_check(book, err);
	if (r == 0) {
		*ret_book = book;
		return 0;
	}
	err_hint(err, "docs/hypotheses.md has the format");
	hypothesis_book_close(book);
	return r;
}

int hypothesis_book_parse(
	const char *name, const char *text, struct hypothesis_book **ret_book, struct err *err)
{
	struct hypothesis_book *book = mem_new(1, sizeof(*book));
	struct text_reader reader = {&book->arena, name, text, 0, err};

	return book_finish(book, text_read(&reader, block_take, book), ret_book, err);
}

int hypothesis_book_load(struct hypothesis_book **ret_book, struct err *err)
{
	struct hypothesis_book *book = mem_new(1, sizeof(*book));
	int r = data_read("hypotheses/", &book->arena, block_take, book, err);

	return book_finish(book, r, ret_book, err);
}

void hypothesis_book_close(struct hypothesis_book *book)
{
	if (!book)
		return;
	vec_done(&book->rows);
	vec_done(&book->quantities);
	arena_done(&book->arena);
	free(book);
}

void hypothesis_book_close_pointer(struct hypothesis_book **book)
{
	hypothesis_book_close(*book);
}
