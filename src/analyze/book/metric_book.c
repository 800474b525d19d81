/* metric_book.c - the texts of data/ as metrics, event sets and aliases.
 *
 * A text is blocks of "key value" lines between empty lines; '#' starts a comment line.  The first
 * key of a block says what it is.  A metric whose file is wrong would give a wrong number with
 * confidence, so everything doubtful is refused: unknown or repeated keys, one threshold without
 * the other, thresholds that overlap, a name used twice. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric.h"
#include "analyze/text_block.h"
#include "data/texts.h"

struct reader {
	struct metric_book *book;
	const char *core; /* all of this text is for it; NULL: for all */
	struct text_reader text;
};

static int refuse(const struct reader *reader, unsigned line, const char *what, const char *which)
{
	return text_refuse(&reader->text, line, what, which);
}

/* "> 1.5": a sign, a blank, a number. */
static int limit_parse(const char *text, struct metric_limit *ret_limit)
{
	char *end;
	double number;

	if ((*text != '<' && *text != '>') || text[1] != ' ')
		return -EINVAL;
	number = strtod(text + 2, &end);
	if (end == text + 2 || *end || !isfinite(number))
		return -EINVAL;
	*ret_limit = (struct metric_limit){*text, number};
	return 0;
}

/* Both thresholds or none, facing away from each other: "> 1.5" and "< 0.7". */
static int thresholds_parse(
	const struct reader *reader, const struct text_block *block, struct metric *metric)
{
	const char *healthy = text_block_value(block, "healthy");
	const char *investigate = text_block_value(block, "investigate");
	const struct metric_limit *h = &metric->healthy, *i = &metric->investigate;
	unsigned line = block->pairs[0].line;

	metric->threshold = metric->threshold_words = "";
	if (!healthy && !investigate)
		return 0;
	if (!healthy || !investigate)
		return refuse(reader, line, "only one of healthy and investigate is given in",
			metric->name);
	if (limit_parse(healthy, &metric->healthy) < 0)
		return refuse(reader, line, "expected a threshold like \"> NUMBER\", not", healthy);
	if (limit_parse(investigate, &metric->investigate) < 0)
		return refuse(
			reader, line, "expected a threshold like \"> NUMBER\", not", investigate);
	if (h->sign == i->sign || (h->sign == '>' ? i->number > h->number : i->number < h->number))
		return refuse(reader, line, "the thresholds overlap in", metric->name);
	metric->threshold = metric->threshold_words = arena_format(
		&reader->book->arena, "healthy %s, investigate %s", healthy, investigate);
	if (str_equal(metric->unit, "share"))
		metric->threshold_words =
			arena_format(&reader->book->arena, "healthy %c %g %%, investigate %c %g %%",
				h->sign, h->number * 100, i->sign, i->number * 100);
	return 0;
}

/* "FORMULA > NUMBER": the last sign in the text is the comparison. */
static int condition_parse(const struct reader *reader, const struct text_pair *pair,
	const char *text, struct metric_condition *ret_condition)
{
	struct arena *arena = &reader->book->arena;
	size_t len = strlen(text);

	while (len && text[len - 1] != '<' && text[len - 1] != '>')
		len--;
	if (!len || limit_parse(text + len - 1, &ret_condition->limit) < 0)
		return refuse(reader, pair->line,
			arena_format(arena, "%s: expected \"FORMULA > NUMBER\", not", pair->key),
			text);
	text = str_trim(arena_text(arena, text, len - 1));
	return formula_parse(arena, text, &ret_condition->formula, reader->text.err);
}

/* "needs FORMULA > NUMBER: REASON". */
static int needs_parse(
	const struct reader *reader, const struct text_pair *pair, struct metric *metric)
{
	const char *colon = strstr(pair->value, ": ");

	if (!colon)
		return refuse(reader, pair->line, "needs: expected \"CONDITION: REASON\", not",
			pair->value);
	metric->needs_reason = colon + 2;
	return condition_parse(reader, pair,
		arena_text(&reader->book->arena, pair->value, (size_t)(colon - pair->value)),
		&metric->needs);
}

static int range_parse(
	const struct reader *reader, const struct text_pair *pair, struct metric *metric)
{
	char *middle, *end;

	metric->low = strtod(pair->value, &middle);
	metric->high = strtod(middle, &end);
	if (middle == pair->value || end == middle || *end || !(metric->low < metric->high))
		return refuse(reader, pair->line, "range: expected \"LOW HIGH\", not", pair->value);
	return 0;
}

static int formulas_parse(
	const struct reader *reader, const struct text_block *block, struct metric *metric)
{
	for (unsigned i = 0; i < block->count; i++) {
		const struct text_pair *pair = &block->pairs[i];
		int r;

		if (!str_equal(pair->key, "formula"))
			continue;
		if (metric->formulas_count == METRIC_FORMULAS)
			return refuse(reader, pair->line, "too many formulas in", metric->name);
		r = formula_parse(&reader->book->arena, pair->value,
			&metric->formulas[metric->formulas_count++], reader->text.err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int metric_add(struct reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"name", "formula", "unit", "meaning", "healthy",
		"investigate", "when", "needs", "range", NULL};
	struct metric metric = {.low = (double)NAN, .high = (double)NAN, .core = reader->core};
	const struct text_pair *when = text_block_find(block, "when");
	const struct text_pair *needs = text_block_find(block, "needs");
	const struct text_pair *range = text_block_find(block, "range");
	int r = text_block_check(&reader->text, block, keys, 4, "formula");

	if (r < 0)
		return r;
	metric.name = text_block_value(block, "name");
	metric.unit = text_block_value(block, "unit");
	metric.meaning = text_block_value(block, "meaning");
	vec_foreach (const struct metric, other, &reader->book->metrics)
		if (str_equal(other->name, metric.name) && str_same(other->core, metric.core))
			return refuse(reader, block->pairs[0].line, "a second metric", metric.name);
	r = formulas_parse(reader, block, &metric);
	if (r == 0)
		r = thresholds_parse(reader, block, &metric);
	if (r == 0 && when)
		r = condition_parse(reader, when, when->value, &metric.when);
	if (r == 0 && needs)
		r = needs_parse(reader, needs, &metric);
	if (r == 0 && range)
		r = range_parse(reader, range, &metric);
	if (r == 0)
		vec_push(&reader->book->metrics, metric);
	return r;
}

static int set_add(struct reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"set", "events", "metrics", "meaning", NULL};
	const char *name = text_block_value(block, "set");
	int r = text_block_check(&reader->text, block, keys, 4, NULL);

	if (r < 0)
		return r;
	vec_foreach (const struct event_set, other, &reader->book->sets)
		if (str_equal(other->name, name))
			return refuse(reader, block->pairs[0].line, "a second set", name);
	vec_push(&reader->book->sets,
		(struct event_set){name, text_block_value(block, "meaning"),
			text_block_value(block, "events"), text_block_value(block, "metrics")});
	return 0;
}

/* "alias NAME OTHER": where a formula says NAME, OTHER is as good. */
static int aliases_add(struct reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"alias", NULL};
	int r = text_block_check(&reader->text, block, keys, 1, "alias");

	for (unsigned i = 0; r == 0 && i < block->count; i++) {
		const char *value = block->pairs[i].value;
		size_t len = strcspn(value, " \t");
		const char *other = value + len + strspn(value + len, " \t");

		if (!*other || strpbrk(other, " \t"))
			return refuse(reader, block->pairs[i].line,
				"alias: expected \"NAME OTHER\", not", value);
		vec_push(&reader->book->aliases,
			(struct metric_alias){
				arena_text(&reader->book->arena, value, len), other, reader->core});
	}
	return r;
}

static int block_take(void *to, struct text_reader *text, const struct text_block *block)
{
	struct reader *reader = to;
	const char *first = block->pairs[0].key;

	if (str_equal(first, "name"))
		return metric_add(reader, block);
	if (str_equal(first, "set"))
		return set_add(reader, block);
	if (str_equal(first, "alias"))
		return aliases_add(reader, block);
	return text_refuse(text, block->pairs[0].line, "no block starts with", first);
}

int metric_book_add_core(struct metric_book *book, const char *core, const char *name,
	const char *text, struct err *err)
{
	struct reader reader = {book, core, {&book->arena, name, text, 0, err}};

	return text_read(&reader.text, block_take, &reader);
}

int metric_book_add(struct metric_book *book, const char *name, const char *text, struct err *err)
{
	return metric_book_add_core(book, NULL, name, text, err);
}

int metric_book_load(struct metric_book *book, struct err *err)
{
	const struct data_text *text = NULL;
	int r = 0;

	while (r == 0 && (text = data_text_next("metrics/", text)))
		r = metric_book_add(book, text->name, text->text, err);
	return r < 0 ? r : metric_book_add(book, "sets.txt", data_text("sets.txt"), err);
}

void metric_book_done(struct metric_book *book)
{
	vec_done(&book->metrics);
	vec_done(&book->sets);
	vec_done(&book->aliases);
	arena_done(&book->arena);
}

/* Of the names only whole ones, and no more than an error's way out has room for. */
enum { NAMES_ROOM = 400 };

/* "unknown metric 'ipd'", and the nearest name or all of them as the way out. */
static void name_unknown(
	const char *what, const char *name, const char *const *names, struct err *err)
{
	const char *nearest = str_nearest(name, names);
	str_auto struct str all = {0};

	err_set(err, ERR_USAGE, ENOENT, "unknown %s '%.100s'", what, name);
	for (; *names && all.len < NAMES_ROOM; names++)
		str_addf(&all, "%s%s", all.len ? ", " : "there is ", *names);
	if (*names)
		str_add(&all, "... (docs/metrics.md lists all)");
	err_nearest(err, nearest, str_text(&all));
}

const struct metric *metric_find(const struct metric_book *book, const char *name, struct err *err)
{
	vec_of(const char *) names = {0};

	vec_foreach (const struct metric, metric, &book->metrics)
		if (str_equal(metric->name, name))
			return metric;
	vec_foreach (const struct metric, metric, &book->metrics)
		vec_push(&names, metric->name);
	vec_push(&names, NULL);
	name_unknown("metric", name, names.at, err);
	vec_done(&names);
	return NULL;
}

const struct event_set *event_set_find(
	const struct metric_book *book, const char *name, struct err *err)
{
	vec_of(const char *) names = {0};

	vec_foreach (const struct event_set, set, &book->sets)
		if (str_equal(set->name, name))
			return set;
	vec_foreach (const struct event_set, set, &book->sets)
		vec_push(&names, set->name);
	vec_push(&names, NULL);
	name_unknown("event set", name, names.at, err);
	vec_done(&names);
	return NULL;
}
