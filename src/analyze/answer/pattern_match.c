/* pattern_match.c - the book of patterns held against one profile.
 *
 * Each `stacks` of a pattern becomes numbers under its name ("copied", "copied.site"), which its
 * rules compare and its words are filled with, as those of data/hypotheses are with signals.  What
 * a rule asks and nobody measured makes it not known, so it does not fire. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/simulated.h"
#include "base/mem.h"
#include "hotspot_parts.h"
#include "model/run.h"
#include "pattern_parts.h"

/* Fewer samples tell no share: 25 of 100 are 17 to 35 %. */
enum { SAMPLES_LEAST = 100, SET_SAMPLES_LEAST = 20 };

struct matcher {
	const struct stack_walk *walk;
	const struct evidence_piece *profile;
	struct arena *arena;
	struct signals signals; /* the evidence's, and behind them those of the pattern's stacks */
	uint32_t own_from;	/* where these begin */
	vec_of(struct pattern_row) rows;
};

/* The words that stand for names. */
struct pattern_words {
	const char *place, *callee, *where;
};

static void number_add(struct matcher *m, const char *name, const char *what, double value)
{
	bool counts = str_equal(what, ".callers") || str_equal(what, ".bursts") ||
		      str_equal(what, ".classes");

	vec_push(&m->signals.rows,
		(struct signal){.name = arena_format(m->arena, "%s%s", name, what),
			.unit = counts ? "" : "share",
			.witness = "samples",
			.path = m->profile->path,
			.query = "",
			.meaning = "",
			.reason = "",
			.value = value});
}

static void set_take(struct matcher *m, const char *name, const struct stack_set *set)
{
	number_add(m, name, "", set->share);
	number_add(m, name, ".site", set->site);
	number_add(m, name, ".callers", set->callers);
	number_add(m, name, ".bursts", set->bursts);
	number_add(m, name, ".late", set->late);
	number_add(m, name, ".classes", set->classes);
}

/* "__memmove_avx_unaligned_erms" is memmove() to everybody else. */
static const char *callee_call(struct matcher *m, uint32_t label)
{
	const char *name = label ? m->walk->function_labels.labels.at[label - 1].name : "";
	size_t len = simulated_name_length(name);
	static const char *const heads[] = {
		"__GI_", "__x64_sys_", "__arm64_sys_", "__libc_", "___", "__", "_IO_", "__isoc99_"};

	if (memmem(name, len, "::", 2) || memchr(name, '.', len))
		return hotspot_call(m->arena, name);
	for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		size_t head = strlen(heads[i]);

		if (len > head && str_starts(name, heads[i])) {
			name += head;
			len -= head;
		}
	}
	return arena_format(m->arena, "%.*s()", (int)len, name);
}

static struct pattern_words words_of(struct matcher *m, const struct stack_set *set)
{
	struct pattern_words words = {.place = "the program", .where = "the program"};
	const struct label *line =
		set->line ? &m->walk->line_labels.labels.at[set->line - 1] : NULL;

	words.callee = callee_call(m, set->callee);
	if (set->place)
		words.place = words.where = hotspot_call(
			m->arena, m->walk->function_labels.labels.at[set->place - 1].name);
	if (line && *line->file && line->line)
		words.where = arena_format(m->arena, "%s:%u", label_base(line->file), line->line);
	return words;
}

/* A text with {place}, {where}, {callee}, and numbers by name. */
static const char *words_fill(
	struct matcher *m, const struct pattern_words *words, const char *text)
{
	str_auto struct str out = {0};

	while (*text) {
		size_t len = strcspn(text, "{"), name;
		const struct signal *signal;

		str_add_bytes(&out, text, len);
		text += len;
		if (!*text)
			break;
		name = strcspn(++text, "}");
		signal = signals_find(&m->signals, arena_text(m->arena, text, name));
		if (str_starts(text, "place}"))
			str_add(&out, words->place);
		else if (str_starts(text, "where}"))
			str_add(&out, words->where);
		else if (str_starts(text, "callee}"))
			str_add(&out, words->callee);
		else if (signal)
			words_add_value(signal->value, signal->unit, &out);
		text += name + (text[name] == '}');
	}
	return arena_str(m->arena, &out);
}

static const char *set_query(const struct matcher *m, const struct stack_set *set)
{
	str_auto struct str sql = {0};
	const char *weight = m->walk->samples.weighted ? "total(period)" : "count(*)";
	uint32_t event = m->walk->samples.event;

	str_addf(&sql,
		"SELECT 1.0 * %s / (SELECT %s FROM sample WHERE event = %u) FROM sample WHERE "
		"event = %u AND stack IN (",
		weight, weight, event, event);
	for (uint32_t i = 0; i < set->stacks.count; i++)
		str_addf(&sql, "%s%u", i ? "," : "", set->stacks.at[i]);
	str_add_char(&sql, ')');
	return arena_str(m->arena, &sql);
}

/* The first advice whose condition holds; the last has none. */
static const char *advice_of(const struct matcher *m, const struct pattern *pattern)
{
	for (unsigned i = 0; i < pattern->advice_count; i++) {
		const struct pattern_advice *advice = &pattern->advices[i];
		bool tested = false;

		if (!advice->when.count || conditions_find(&advice->when, 1, &m->signals, &tested))
			return advice->text;
	}
	return "";
}

static void row_add(struct matcher *m, const struct pattern *pattern, const struct stack_set *set)
{
	const struct pattern_words words = words_of(m, set);
	const char *function =
		set->place ? m->walk->function_labels.labels.at[set->place - 1].name : "";

	vec_push(&m->rows, (struct pattern_row){.name = arena_copy(m->arena, pattern->name),
				   .title = arena_copy(m->arena, pattern->title),
				   .function = function,
				   .call = words.place,
				   .location = words.where,
				   .means = words_fill(m, &words, pattern->means),
				   .advice = words_fill(m, &words, advice_of(m, pattern)),
				   .refute = words_fill(m, &words, pattern->refute),
				   .path = m->profile->path,
				   .query = set_query(m, set),
				   .share = set->share,
				   .of_setting = pattern->of_setting});
}

static void pattern_try(struct matcher *m, const struct pattern *pattern)
{
	struct stack_set sets[PATTERN_STACKS] = {0};
	bool tested = false;

	m->signals.rows.count = m->own_from;
	for (unsigned i = 0; i < pattern->stacks_count; i++) {
		stack_set_make(m->walk, &pattern->stacks[i], &sets[i]);
		set_take(m, pattern->stacks[i].name, &sets[i]);
	}
	if (sets[0].samples >= SET_SAMPLES_LEAST &&
		conditions_find(pattern->whens, pattern->when_count, &m->signals, &tested))
		row_add(m, pattern, &sets[0]);
	for (unsigned i = 0; i < pattern->stacks_count; i++)
		stack_set_done(&sets[i]);
}

static int by_share(const void *a, const void *b)
{
	const struct pattern_row *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return strcmp(x->name, y->name);
}

void patterns_match(const struct pattern_book *book, const struct evidence_piece *profile,
	const struct signals *signals, struct arena *arena, struct pattern_view *ret_view)
{
	stack_walk_auto struct stack_walk walk = {0};
	struct matcher m = {.walk = &walk, .profile = profile, .arena = arena};

	*ret_view = (struct pattern_view){0};
	if (!profile->run || stack_walk_init(&walk, book, profile->run) < 0 ||
		walk.samples.total.samples < SAMPLES_LEAST)
		return;
	vec_foreach (const struct signal, signal, &signals->rows)
		vec_push(&m.signals.rows, *signal);
	m.own_from = m.signals.rows.count;
	vec_foreach (const struct pattern, pattern, &book->rows)
		pattern_try(&m, pattern);
	vec_sort(&m.rows, by_share);
	ret_view->rows = arena_keep(arena, m.rows.at, m.rows.count * sizeof(*m.rows.at));
	ret_view->count = m.rows.count;
	vec_done(&m.rows);
	vec_done(&m.signals.rows);
}
