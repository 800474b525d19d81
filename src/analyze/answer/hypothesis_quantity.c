/* hypothesis_quantity.c - one thing that several mechanisms tell of the same run: do they agree?
 *
 * The numbers are compared as they are, so a quantity is only worth naming when its signals mean
 * the same thing and come from one run file: two executions of a program are two quantities.  Which
 * those are, how far apart is still agreement, and below what size nothing is said, is text
 * (data/hypotheses/quantities.txt).  A number that is not known contradicts nobody. */
#include <math.h>
#include <string.h>

#include "hypothesis_parts.h"

/* ---- reading ---- */

static int number_parse(struct text_reader *reader, const struct text_block *block, const char *key,
	double *ret_number)
{
	const struct text_pair *pair = text_block_find(block, key);
	int r = text_number(reader, pair, ret_number);

	return r == 0 && *ret_number < 0
		       ? text_refuse(reader, pair->line, "must not be negative:", pair->value)
		       : r;
}

/* "sampled_cpu_ns profile_cpu_ns" */
static int signals_parse(
	struct text_reader *reader, const struct text_pair *pair, struct quantity *quantity)
{
	char *at = arena_copy(reader->arena, pair->value), *word;

	while ((word = text_word_next(&at))) {
		for (unsigned i = 0; i < quantity->signal_count; i++)
			if (str_equal(quantity->signals[i], word))
				return text_refuse(reader, pair->line, "a second signal", word);
		if (quantity->signal_count == QUANTITY_SIGNALS)
			return text_refuse(reader, pair->line, "too many signals at", word);
		quantity->signals[quantity->signal_count++] = word;
	}
	if (quantity->signal_count < 2)
		return text_refuse(
			reader, pair->line, "compare two or more signals, not", pair->value);
	return 0;
}

static int unless_add(
	struct text_reader *reader, const struct text_pair *pair, struct quantity *quantity)
{
	if (quantity->unless_count == WITNESS_CONDITIONS)
		return text_refuse(reader, pair->line, "too many rules at", pair->value);
	return condition_parse(reader, pair, &quantity->unless[quantity->unless_count++]);
}

int quantity_parse(
	struct text_reader *reader, const struct text_block *block, struct quantity *ret_quantity)
{
	static const char *const keys[] = {
		"quantity", "title", "signals", "apart", "floor", "next", "unless", NULL};
	struct quantity quantity = {0};
	int r = text_block_check(reader, block, keys, 6, "unless");

	if (r < 0)
		return r;
	quantity.name = text_block_value(block, "quantity");
	quantity.title = text_block_value(block, "title");
	quantity.next = text_block_value(block, "next");
	r = signals_parse(reader, text_block_find(block, "signals"), &quantity);
	if (r == 0)
		r = number_parse(reader, block, "apart", &quantity.apart);
	if (r == 0 && (quantity.apart <= 0 || quantity.apart >= 1))
		r = text_refuse(reader, text_block_find(block, "apart")->line,
			"expected a share between 0 and 1, not", text_block_value(block, "apart"));
	if (r == 0)
		r = number_parse(reader, block, "floor", &quantity.floor);
	for (unsigned i = 0; r == 0 && i < block->count; i++)
		if (str_equal(block->pairs[i].key, "unless"))
			r = unless_add(reader, &block->pairs[i], &quantity);
	if (r == 0)
		*ret_quantity = quantity;
	return r;
}

const struct quantity *quantity_find(const struct hypothesis_book *book, const char *name)
{
	vec_foreach (const struct quantity, quantity, &book->quantities)
		if (str_equal(quantity->name, name))
			return quantity;
	return NULL;
}

/* ---- judging ---- */

/* The smallest and the largest of those that are known and of the same run as the first. */
static void extremes_find(const struct quantity *quantity, const struct signals *signals,
	struct ledger_dispute *dispute)
{
	for (unsigned i = 0; i < quantity->signal_count; i++) {
		const struct signal *signal = signals_find(signals, quantity->signals[i]);

		if (!signal || !isfinite(signal->value) || signal->value < 0)
			continue;
		if (!dispute->low)
			dispute->low = dispute->high = signal;
		if (!str_equal(signal->path, dispute->low->path))
			continue;
		if (signal->value < dispute->low->value)
			dispute->low = signal;
		if (signal->value > dispute->high->value)
			dispute->high = signal;
	}
}

const struct ledger_dispute *quantity_judge(
	const struct quantity *quantity, const struct signals *signals, struct arena *arena)
{
	struct ledger_dispute found = {.limit = quantity->apart}, *dispute;
	bool ignored = false;

	extremes_find(quantity, signals, &found);
	/* 0 on both sides is agreement whatever the floor is. */
	if (!found.high || found.high->value <= 0 || found.high->value < quantity->floor)
		return NULL;
	found.apart = 1 - found.low->value / found.high->value;
	if (found.apart <= quantity->apart ||
		conditions_find(quantity->unless, quantity->unless_count, signals, &ignored))
		return NULL;
	dispute = arena_take(arena, sizeof(*dispute));
	*dispute = found;
	dispute->quantity = arena_copy(arena, quantity->name);
	dispute->title = arena_copy(arena, quantity->title);
	dispute->next = arena_copy(arena, quantity->next);
	return dispute;
}

void dispute_add_words(const struct ledger_dispute *dispute, struct str *out)
{
	str_addf(out, "%s: ", dispute->title);
	words_add_value(dispute->high->value, dispute->high->unit, out);
	str_addf(out, " by %s and ", dispute->high->witness);
	words_add_value(dispute->low->value, dispute->low->unit, out);
	str_addf(out, " by %s cannot both be right (%.0f %% apart)", dispute->low->witness,
		100 * dispute->apart);
}
