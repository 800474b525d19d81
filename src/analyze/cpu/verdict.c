/* verdict.c - see verdict.h.
 *
 * The order of tips is kept: the one that helps most often stands first in its file. */
#include "analyze/verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/text_block.h"
#include "base/str.h"

static const char *const category_words[VERDICT_CATEGORIES] = {
	[VERDICT_UNCLEAR] = "unclear",
	[VERDICT_RETIRING] = "retiring",
	[VERDICT_BAD_SPECULATION] = "bad_speculation",
	[VERDICT_FRONTEND] = "frontend",
	[VERDICT_MEMORY_LATENCY] = "memory_latency",
	[VERDICT_MEMORY_BANDWIDTH] = "memory_bandwidth",
	[VERDICT_MEMORY] = "memory",
	[VERDICT_CORE] = "core",
	[VERDICT_MIXED] = "mixed",
};

static const char *const category_titles[VERDICT_CATEGORIES] = {
	[VERDICT_UNCLEAR] = "unclear",
	[VERDICT_RETIRING] = "useful work",
	[VERDICT_BAD_SPECULATION] = "bad speculation",
	[VERDICT_FRONTEND] = "instruction supply",
	[VERDICT_MEMORY_LATENCY] = "memory latency",
	[VERDICT_MEMORY_BANDWIDTH] = "memory bandwidth",
	[VERDICT_MEMORY] = "memory",
	[VERDICT_CORE] = "execution units and dependencies",
	[VERDICT_MIXED] = "mixed",
};

const char *verdict_category_word(enum verdict_category category)
{
	return category < VERDICT_CATEGORIES ? category_words[category] : "unclear";
}

const char *verdict_category_title(enum verdict_category category)
{
	return category < VERDICT_CATEGORIES ? category_titles[category] : "unclear";
}

bool verdict_category_is_memory(enum verdict_category category)
{
	return category == VERDICT_MEMORY || category == VERDICT_MEMORY_LATENCY ||
	       category == VERDICT_MEMORY_BANDWIDTH;
}

bool verdict_category_find(const char *word, enum verdict_category *ret_category)
{
	unsigned i = str_index(category_words, VERDICT_CATEGORIES, word);

	if (i < VERDICT_CATEGORIES)
		*ret_category = (enum verdict_category)i;
	return i < VERDICT_CATEGORIES;
}

const char *verdict_confidence_word(enum verdict_confidence confidence)
{
	static const char *const words[] = {
		[VERDICT_LOW] = "low", [VERDICT_MEDIUM] = "medium", [VERDICT_HIGH] = "high"};

	return words[confidence];
}

static int block_take(void *to, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"category", "meaning", "effect", "next", "do", "check",
		"do.c", "do.c++", "do.rust", "do.go", NULL};
	const char *word = text_block_value(block, "category");
	struct advice_book *book = to;
	enum verdict_category category;
	struct advice *advice;
	int r = text_block_check(reader, block, keys, 6, "do check do.c do.c++ do.rust do.go");

	if (r < 0)
		return r;
	if (!verdict_category_find(word, &category))
		return text_refuse(reader, block->pairs[0].line, "unknown category", word);
	advice = &book->of[category];
	if (advice->filled)
		return text_refuse(
			reader, block->pairs[0].line, "a second text for the category", word);
	advice->filled = true;
	advice->category = category;
	advice->meaning = text_block_value(block, "meaning");
	advice->effect = text_block_value(block, "effect");
	advice->next = text_block_value(block, "next");
	for (unsigned i = 0; i < block->count; i++) {
		const struct text_pair *pair = &block->pairs[i];

		if (str_equal(pair->key, "check"))
			vec_push(&advice->plan, pair->value);
		else if (str_equal(pair->key, "do") || str_starts(pair->key, "do."))
			vec_push(&advice->tips,
				(struct verdict_tip){pair->key + strcspn(pair->key, ".") +
							     str_starts(pair->key, "do."),
					pair->value});
	}
	return 0;
}

/* The way out of a text that was refused. */
static int way_out(int r, struct err *err)
{
	return r < 0 ? err_hint(err, "docs/metrics.md describes the texts of data/advice") : r;
}

int advice_book_add(struct advice_book *book, const char *name, const char *text, struct err *err)
{
	struct text_reader reader = {&book->arena, name, text, 0, err};

	return way_out(text_read(&reader, block_take, book), err);
}

int advice_book_load(struct advice_book *book, struct err *err)
{
	int r = data_read("advice/", &book->arena, block_take, book, err);

	for (unsigned i = 0; r == 0 && i < VERDICT_CATEGORIES; i++)
		if (!book->of[i].filled)
			r = err_set(err, ERR_USAGE, ENOENT,
				"data/advice has no text for the category %s", category_words[i]);
	return way_out(r, err);
}

void advice_book_done(struct advice_book *book)
{
	for (unsigned i = 0; i < VERDICT_CATEGORIES; i++) {
		vec_done(&book->of[i].tips);
		vec_done(&book->of[i].plan);
	}
	arena_done(&book->arena);
}

struct verdict verdict_none(void)
{
	return (struct verdict){
		.category = VERDICT_UNCLEAR,
		.share = (double)NAN,
		.speedup_bound = (double)NAN,
		.share_of = "",
		.share_reason = "",
		.doubt = "",
		.why = "",
		.meaning = "",
		.effect = "",
		.next = "",
	};
}

/* {program} of the text becomes the program as it was typed. */
static const char *fill_in(
	const struct verdict_subject *subject, struct arena *arena, const char *text)
{
	static const char mark[] = "{program}";
	str_auto struct str out = {0};
	const char *found;

	for (; (found = strstr(text, mark)); text = found + sizeof(mark) - 1) {
		str_add_bytes(&out, text, (size_t)(found - text));
		str_add(&out, *subject->program ? subject->program : "PROGRAM");
	}
	str_add(&out, text);
	return arena_str(arena, &out);
}

static bool tip_is_own(const struct verdict_tip *tip, const char *language)
{
	return !*tip->language || !*language || str_equal(tip->language, language) ||
	       (str_equal(tip->language, "c") && str_equal(language, "c++"));
}

/* Append the tips that are (or are not) for this program's language. */
static uint32_t tips_take(const struct advice *advice, const struct verdict_subject *subject,
	bool own, struct arena *arena, struct verdict_tip *ret_tips)
{
	uint32_t count = 0;

	vec_foreach (const struct verdict_tip, tip, &advice->tips)
		if (tip_is_own(tip, subject->language) == own)
			ret_tips[count++] = (struct verdict_tip){
				tip->language, fill_in(subject, arena, tip->text)};
	return count;
}

void verdict_advise(const struct advice_book *book, const struct verdict_subject *subject,
	struct arena *arena, struct verdict *verdict)
{
	const struct advice *advice = &book->of[verdict->category];
	const char **plan = arena_take(arena, sizeof(*plan) * (advice->plan.count + 1));
	struct verdict_tip *tips = arena_take(arena, sizeof(*tips) * (advice->tips.count + 1));
	uint32_t own = tips_take(advice, subject, true, arena, tips);

	for (uint32_t i = 0; i < advice->plan.count; i++)
		plan[i] = fill_in(subject, arena, advice->plan.at[i]);
	if (verdict->category != VERDICT_RETIRING && verdict->share < 1)
		verdict->speedup_bound = 1 / (1 - verdict->share);
	verdict->plan = plan;
	verdict->plan_count = advice->plan.count;
	verdict->meaning = advice->meaning ? advice->meaning : "";
	verdict->effect = advice->effect ? advice->effect : "";
	verdict->next = advice->next ? fill_in(subject, arena, advice->next) : "";
	verdict->advice = tips;
	verdict->advice_own = own;
	verdict->advice_count = own + tips_take(advice, subject, false, arena, tips + own);
}
