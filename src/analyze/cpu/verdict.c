/* verdict.c - see verdict.h.
 *
 * The texts are blocks of "key  value", a line that begins with a blank goes on.  Order is kept:
 * the tip that helps most often stands first in its file. */
#include "analyze/verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "data/texts.h"

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
	[VERDICT_CORE] = "the core's units and dependencies",
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
	for (unsigned i = 0; i < VERDICT_CATEGORIES; i++)
		if (str_equal(category_words[i], word)) {
			*ret_category = (enum verdict_category)i;
			return true;
		}
	return false;
}

const char *verdict_confidence_word(enum verdict_confidence confidence)
{
	static const char *const words[] = {
		[VERDICT_LOW] = "low", [VERDICT_MEDIUM] = "medium", [VERDICT_HIGH] = "high"};

	return words[confidence];
}

struct reader {
	struct advice_book *book;
	const char *name; /* of the file */
	const char *at;
	unsigned line;
	struct advice *advice; /* the block that is being read */
	struct err *err;
};

static int refuse(const struct reader *reader, const char *what, const char *which)
{
	err_set(reader->err, ERR_USAGE, EINVAL, "%s:%u: %s '%.100s'", reader->name, reader->line,
		what, which);
	err_hint(reader->err, "docs/metrics.md describes the texts of data/advice");
	return -EINVAL;
}

static void line_take(struct reader *reader, struct str *out)
{
	size_t len = strcspn(reader->at, "\n");

	str_add_bytes(out, reader->at, len);
	reader->at += len + (reader->at[len] == '\n');
	reader->line++;
}

/* The next line with those that go on behind it, comments and empty lines left out; false at the
 * end of the text. */
static bool entry_next(struct reader *reader, struct str *entry)
{
	str_clear(entry);
	while (*reader->at && (*reader->at == '\n' || *reader->at == '#')) {
		line_take(reader, entry);
		str_clear(entry);
	}
	if (!*reader->at)
		return false;
	line_take(reader, entry);
	while (*reader->at == ' ' || *reader->at == '\t') {
		reader->at += strspn(reader->at, " \t");
		str_add_char(entry, ' ');
		line_take(reader, entry);
	}
	return true;
}

static int block_begin(struct reader *reader, const char *word)
{
	enum verdict_category category;

	if (!verdict_category_find(word, &category))
		return refuse(reader, "there is no category", word);
	reader->advice = &reader->book->of[category];
	if (reader->advice->filled)
		return refuse(reader, "a second text for the category", word);
	reader->advice->filled = true;
	reader->advice->category = category;
	return 0;
}

static int single_put(
	struct reader *reader, const char *key, const char *value, const char **ret_member)
{
	if (*ret_member)
		return refuse(reader, "a second key", key);
	*ret_member = value;
	return 0;
}

static int tip_add(struct reader *reader, const char *language, const char *text)
{
	static const char *const known[] = {"", "c", "c++", "rust", "go", NULL};
	unsigned i = 0;

	while (known[i] && !str_equal(known[i], language))
		i++;
	if (!known[i])
		return refuse(reader, "there is no language", language);
	vec_push(&reader->advice->tips, (struct verdict_tip){known[i], text});
	return 0;
}

static int entry_put(struct reader *reader, const char *key, const char *value)
{
	struct advice *advice = reader->advice;

	if (str_equal(key, "category"))
		return block_begin(reader, value);
	if (!advice)
		return refuse(reader, "a text begins with its category, not with", key);
	if (str_equal(key, "meaning"))
		return single_put(reader, key, value, &advice->meaning);
	if (str_equal(key, "effect"))
		return single_put(reader, key, value, &advice->effect);
	if (str_equal(key, "next"))
		return single_put(reader, key, value, &advice->next);
	if (str_equal(key, "do"))
		return tip_add(reader, "", value);
	if (str_starts(key, "do."))
		return tip_add(reader, key + 3, value);
	if (!str_equal(key, "check"))
		return refuse(reader, "there is no key", key);
	vec_push(&advice->plan, value);
	return 0;
}

static int blocks_check(const struct reader *reader)
{
	for (unsigned i = 0; i < VERDICT_CATEGORIES; i++) {
		const struct advice *advice = &reader->book->of[i];

		if (advice->filled && (!advice->meaning || !advice->effect || !advice->next ||
					      !advice->tips.count || !advice->plan.count))
			return refuse(reader,
				"meaning, effect, do, next or check is missing in the category",
				category_words[i]);
	}
	return 0;
}

int advice_book_add(struct advice_book *book, const char *name, const char *text, struct err *err)
{
	struct reader reader = {.book = book, .name = name, .at = text, .err = err};
	str_auto struct str entry = {0};

	while (entry_next(&reader, &entry)) {
		char *key = arena_text(&book->arena, str_text(&entry), entry.len), *value;
		size_t len = strcspn(key, " \t");
		int r;

		value = str_trim(key + len);
		if (!len || !*value)
			return refuse(&reader, "a key and a value are expected, not", key);
		key[len] = '\0';
		str_flatten(value);
		r = entry_put(&reader, key, value);
		if (r < 0)
			return r;
	}
	return blocks_check(&reader);
}

int advice_book_load(struct advice_book *book, struct err *err)
{
	for (const struct data_text *text = data_texts; text->name; text++) {
		int r = 0;

		if (str_starts(text->name, "advice/"))
			r = advice_book_add(book, text->name, text->text, err);
		if (r < 0)
			return r;
	}
	for (unsigned i = 0; i < VERDICT_CATEGORIES; i++)
		if (!book->of[i].filled)
			return err_set(err, ERR_USAGE, ENOENT,
				"data/advice has no text for the category %s", category_words[i]);
	return 0;
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
	return arena_text(arena, str_text(&out), out.len);
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
