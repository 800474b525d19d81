/* cpu_book.c - one text of data/cpus as one table.
 *
 * The first block names the CPUs; then come events, sets, helper values, nodes and metrics in any
 * order, but a name is used only behind the line that says what it is.  A table that is wrong gives
 * plausible wrong numbers, so everything doubtful is refused. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "cpu_parts.h"
#include "data/texts.h"

static int refuse(const struct cpu_draft *draft, unsigned line, const char *what, const char *which)
{
	return text_refuse(&draft->reader, line, what, which);
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static int count_parse(const struct cpu_draft *draft, const struct text_block *block,
	const char *key, unsigned *ret_count)
{
	const struct text_pair *pair = text_block_find(block, key);
	uint64_t count;

	if (str_to_u64(pair->value, &count) < 0 || count > 64)
		return refuse(
			draft, pair->line, "expected a number from 0 to 64, not", pair->value);
	*ret_count = (unsigned)count;
	return 0;
}

static int basis_parse(
	const struct cpu_draft *draft, const struct text_pair *pair, enum cpu_basis *ret_basis)
{
	if (!str_equal(pair->value, "slots") && !str_equal(pair->value, "cycles"))
		return refuse(
			draft, pair->line, "the basis must be slots or cycles, not", pair->value);
	*ret_basis = str_equal(pair->value, "slots") ? CPU_SLOTS : CPU_CYCLES;
	return 0;
}

static int head_read(struct cpu_draft *draft, const struct text_block *block)
{
	static const char *const keys[] = {"cpu", "title", "for", "width", "counters", "basis",
		"whole", "source", "note", NULL};
	struct cpu_table *table = &draft->table;
	const struct text_pair *whole = text_block_find(block, "whole");
	int r = text_block_check(&draft->reader, block, keys, 8, "for");

	if (r < 0)
		return r;
	table->name = text_block_value(block, "cpu");
	table->title = text_block_value(block, "title");
	table->source = text_block_value(block, "source");
	table->note = text_or_empty(text_block_value(block, "note"));
	table->whole = str_equal(whole->value, "yes");
	if (!table->whole && !str_equal(whole->value, "no"))
		return refuse(draft, whole->line, "whole must be yes or no, not", whole->value);
	vec_foreach (const struct cpu_table, other, &draft->book->tables)
		if (str_equal(other->name, table->name))
			return refuse(draft, block->pairs[0].line, "a second table", table->name);
	r = count_parse(draft, block, "width", &table->width);
	if (r == 0)
		r = count_parse(draft, block, "counters", &table->counters);
	if (r == 0)
		r = basis_parse(draft, text_block_find(block, "basis"), &table->basis);
	for (unsigned i = 0; r == 0 && i < block->count; i++)
		if (str_equal(block->pairs[i].key, "for"))
			r = cpu_rule_add(draft, &block->pairs[i]);
	draft->has_head = true;
	return r;
}

static int flag_parse(const char *word, unsigned *flags)
{
	static const struct {
		const char *word;
		unsigned flag;
	} known[] = {
		{"fixed", CPU_EVENT_FIXED},
		{"counter0", CPU_EVENT_COUNTER0},
		{"nonzero", CPU_EVENT_NONZERO},
		{"precise", CPU_EVENT_PRECISE},
		{"leader", CPU_EVENT_LEADER},
		{"member", CPU_EVENT_MEMBER},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (str_equal(word, known[i].word)) {
			*flags |= known[i].flag;
			return 0;
		}
	return -EINVAL;
}

/* A name for something new: not taken, in any case, and not a word that formulas mean. */
static int name_check(const struct cpu_draft *draft, unsigned line, const char *name)
{
	bool taken = str_equal(name, "width") || str_equal(name, "min") || str_equal(name, "max");

	vec_foreach (const struct cpu_event, event, &draft->events)
		taken |= strcasecmp(event->name, name) == 0;
	vec_foreach (const struct cpu_value, value, &draft->values)
		taken |= strcasecmp(value->name, name) == 0;
	vec_foreach (const struct cpu_node, node, &draft->nodes)
		taken |= strcasecmp(node->value.name, name) == 0;
	return taken ? refuse(draft, line, "the name is already used:", name) : 0;
}

/* "NAME CODE [config1=CODE] [flags]" */
static int event_read(struct cpu_draft *draft, const struct text_pair *pair)
{
	char *rest = arena_copy(&draft->book->arena, pair->value), *word;
	struct cpu_event event = {0};
	unsigned seen = 0;
	int r = 0;

	while (r == 0 && (word = text_word_next(&rest))) {
		if (seen == 0)
			event.name = word;
		else if (seen == 1)
			r = str_starts(word, "0x") ? str_to_u64(word, &event.config) : -EINVAL;
		else if (str_starts(word, "config1=0x"))
			r = str_to_u64(word + strlen("config1="), &event.config1);
		else
			r = flag_parse(word, &event.flags);
		seen++;
	}
	if (r < 0 || seen < 2)
		return refuse(draft, pair->line,
			"event: expected \"NAME 0xCODE [config1=0xCODE] [FLAGS]\", not",
			pair->value);
	r = name_check(draft, pair->line, event.name);
	if (r == 0)
		vec_push(&draft->events, event);
	return r;
}

static bool name_is_known(const struct cpu_draft *draft, const char *name)
{
	if (str_equal(name, "width"))
		return draft->table.width > 0;
	vec_foreach (const struct cpu_event, event, &draft->events)
		if (str_equal(event->name, name))
			return true;
	vec_foreach (const struct cpu_value, value, &draft->values)
		if (str_equal(value->name, name))
			return true;
	vec_foreach (const struct cpu_node, node, &draft->nodes)
		if (str_equal(node->value.name, name))
			return true;
	return false;
}

static int formula_read(
	struct cpu_draft *draft, unsigned line, const char *text, struct cpu_value *value)
{
	struct err why = {0};
	struct formula *formula = &value->alternatives[value->alternatives_count];

	if (value->alternatives_count == CPU_FORMULAS)
		return refuse(draft, line, "too many formulas for", value->name);
	if (formula_parse(&draft->book->arena, text, formula, &why) < 0)
		return refuse(draft, line, "the formula is wrong:", why.text);
	for (uint32_t i = 0; i < formula->names_count; i++)
		if (!name_is_known(draft, formula->names[i]))
			return refuse(draft, line, "undefined name", formula->names[i]);
	if (!value->alternatives_count++)
		value->formula = text;
	return 0;
}

/* "value NAME FORMULA"; the same name again is an alternative. */
static int value_read(struct cpu_draft *draft, const struct text_pair *pair)
{
	size_t len = strcspn(pair->value, " \t");
	const char *formula = pair->value + len + strspn(pair->value + len, " \t");
	struct cpu_value value = {.name = arena_text(&draft->book->arena, pair->value, len)};
	struct cpu_value *last =
		draft->values.count ? &draft->values.at[draft->values.count - 1] : NULL;
	int r;

	if (!*formula)
		return refuse(
			draft, pair->line, "value: expected \"NAME FORMULA\", not", pair->value);
	if (draft->nodes.count)
		return refuse(draft, pair->line, "values must come before the nodes:", value.name);
	if (last && str_equal(last->name, value.name))
		return formula_read(draft, pair->line, formula, last);
	if (draft->values.count == CPU_VALUES)
		return refuse(draft, pair->line, "too many values with", value.name);
	r = name_check(draft, pair->line, value.name);
	if (r == 0)
		r = formula_read(draft, pair->line, formula, &value);
	if (r == 0)
		vec_push(&draft->values, value);
	return r;
}

/* A block of lines with one key. */
static int lines_read(struct cpu_draft *draft, const struct text_block *block, const char *key,
	int (*line_read)(struct cpu_draft *draft, const struct text_pair *pair))
{
	const char *const keys[] = {key, NULL};
	int r = text_block_check(&draft->reader, block, keys, 1, key);

	for (unsigned i = 0; r == 0 && i < block->count; i++)
		r = line_read(draft, &block->pairs[i]);
	return r;
}

/* "> 0.15" */
static int threshold_read(
	struct cpu_draft *draft, const struct text_pair *pair, double *ret_threshold)
{
	char *end = NULL;

	*ret_threshold = (double)NAN;
	if (!pair)
		return 0;
	if (str_starts(pair->value, "> "))
		*ret_threshold = strtod(pair->value + 2, &end);
	if (!end || end == pair->value + 2 || *end || !(*ret_threshold > 0 && *ret_threshold < 1))
		return refuse(draft, pair->line,
			"investigate: expected \"> SHARE\" with a share between 0 and 1, not",
			pair->value);
	return 0;
}

static int advice_check(const struct cpu_draft *draft, const struct text_pair *pair)
{
	static const char *const words[] = {"retiring", "retiring.heavy", "retiring.light",
		"bad_speculation", "bad_speculation.branches", "bad_speculation.clears", "frontend",
		"frontend.latency", "frontend.bandwidth", "backend", "memory", "core", "smt"};
	const unsigned count = sizeof(words) / sizeof(*words);

	if (str_index(words, count, pair->value) < count)
		return 0;
	return refuse(draft, pair->line, "no advice for", pair->value);
}

/* "-" at level 1, else a node that stands before this one. */
static int parent_read(struct cpu_draft *draft, const struct text_pair *pair, struct cpu_node *node)
{
	node->parent = CPU_NO_NODE;
	node->level = 1;
	if (str_equal(pair->value, "-"))
		return 0;
	for (uint32_t i = 0; i < draft->nodes.count; i++)
		if (str_equal(draft->nodes.at[i].value.name, pair->value)) {
			node->parent = (int)i;
			node->level = draft->nodes.at[i].level + 1;
		}
	if (node->parent == CPU_NO_NODE)
		return refuse(draft, pair->line, "no node above is named", pair->value);
	if (node->level > CPU_LEVELS)
		return refuse(draft, pair->line, "the tree is too deep below", pair->value);
	return 0;
}

static int node_formulas_read(
	struct cpu_draft *draft, const struct text_block *block, struct cpu_node *node)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < block->count; i++)
		if (str_equal(block->pairs[i].key, "formula"))
			r = formula_read(
				draft, block->pairs[i].line, block->pairs[i].value, &node->value);
	return r;
}

static int node_read(struct cpu_draft *draft, const struct text_block *block)
{
	static const char *const keys[] = {"node", "parent", "formula", "advice", "meaning",
		"source", "investigate", "basis", NULL};
	struct cpu_node node = {.basis = draft->table.basis};
	const struct text_pair *basis = text_block_find(block, "basis");
	int r = text_block_check(&draft->reader, block, keys, 6, "formula");

	if (r < 0)
		return r;
	node.value.name = text_block_value(block, "node");
	node.advice = text_block_value(block, "advice");
	node.meaning = text_block_value(block, "meaning");
	node.source = text_block_value(block, "source");
	r = name_check(draft, block->pairs[0].line, node.value.name);
	if (r == 0)
		r = advice_check(draft, text_block_find(block, "advice"));
	if (r == 0)
		r = parent_read(draft, text_block_find(block, "parent"), &node);
	if (r == 0 && basis)
		r = basis_parse(draft, basis, &node.basis);
	if (r == 0 && node.parent >= 0 && draft->nodes.at[node.parent].basis != node.basis)
		r = refuse(draft, block->pairs[0].line,
			"not on the basis of its parent:", node.value.name);
	if (r == 0)
		r = threshold_read(draft, text_block_find(block, "investigate"), &node.threshold);
	if (r == 0)
		r = node_formulas_read(draft, block, &node);
	if (r == 0)
		vec_push(&draft->nodes, node);
	return r;
}

/* Metrics and aliases are for the metric book; here they are only kept, as lines where they stood,
 * so that its sentences name the right line. */
static void metrics_keep(struct cpu_draft *draft, const struct text_block *block)
{
	unsigned line = 0;

	for (const char *at = str_text(&draft->metrics); *at; at++)
		line += *at == '\n';
	for (unsigned i = 0; i < block->count; i++) {
		for (; line + 1 < block->pairs[i].line; line++) /* within a block: a comment */
			str_add(&draft->metrics, i ? "#\n" : "\n");
		str_addf(&draft->metrics, "%s %s\n", block->pairs[i].key, block->pairs[i].value);
		line++;
	}
}

static int metrics_check(struct cpu_draft *draft)
{
	metric_book_auto struct metric_book book = {0};
	int r = metric_book_add(
		&book, draft->reader.name, str_text(&draft->metrics), draft->reader.err);

	if (r < 0)
		return r;
	vec_foreach (const struct metric, metric, &book.metrics)
		for (unsigned f = 0; f < metric->formulas_count; f++)
			for (uint32_t i = 0; i < metric->formulas[f].names_count; i++)
				if (!name_is_known(draft, metric->formulas[f].names[i]))
					return refuse(draft, 1, "a metric uses an unknown event:",
						metric->formulas[f].names[i]);
	vec_foreach (const struct metric_alias, alias, &book.aliases)
		if (!name_is_known(draft, alias->other))
			return refuse(draft, 1, "an alias names an unknown event:", alias->other);
	return 0;
}

static int block_read(void *to, struct text_reader *reader, const struct text_block *block)
{
	struct cpu_draft *draft = to;
	const char *first = block->pairs[0].key;

	if (str_equal(first, "cpu") == draft->has_head)
		return text_refuse(reader, block->pairs[0].line,
			"the first block, and no other, must start with \"cpu\", not", first);
	if (str_equal(first, "cpu"))
		return head_read(draft, block);
	if (str_equal(first, "event"))
		return lines_read(draft, block, first, event_read);
	if (str_equal(first, "set"))
		return cpu_set_add(draft, block);
	if (str_equal(first, "value"))
		return lines_read(draft, block, first, value_read);
	if (str_equal(first, "node"))
		return node_read(draft, block);
	if (!str_equal(first, "name") && !str_equal(first, "alias"))
		return text_refuse(reader, block->pairs[0].line, "no block starts with", first);
	metrics_keep(draft, block);
	return 0;
}

static void draft_keep(struct cpu_draft *draft)
{
	struct arena *arena = &draft->book->arena;
	struct cpu_table table = draft->table;

#define KEEP(member)                                                                               \
	do {                                                                                       \
		table.member##_count = draft->member.count;                                        \
		table.member = arena_keep(                                                         \
			arena, draft->member.at, sizeof(*draft->member.at) * draft->member.count); \
	} while (0)
	KEEP(events);
	KEEP(sets);
	KEEP(values);
	KEEP(nodes);
#undef KEEP
	table.metrics = arena_text(arena, str_text(&draft->metrics), draft->metrics.len);
	vec_push(&draft->book->tables, table);
	vec_foreach (const struct cpu_rule, rule, &draft->rules)
		vec_push(&draft->book->rules, *rule);
}

static void draft_done(struct cpu_draft *draft)
{
	vec_done(&draft->events);
	vec_done(&draft->sets);
	vec_done(&draft->values);
	vec_done(&draft->nodes);
	vec_done(&draft->rules);
	str_done(&draft->metrics);
}

int cpu_book_add(struct cpu_book *book, const char *name, const char *text, struct err *err)
{
	struct cpu_draft draft = {.book = book, .reader = {&book->arena, name, text, 0, err}};
	int r = text_read(&draft.reader, block_read, &draft);

	if (r == 0 && !draft.events.count)
		r = refuse(&draft, draft.reader.line, "no event in", name);
	if (r == 0)
		r = metrics_check(&draft);
	if (r == 0)
		draft_keep(&draft);
	draft_done(&draft);
	return r;
}

int cpu_book_load(struct cpu_book *book, struct err *err)
{
	const struct data_text *text = NULL;
	int r = 0;

	while (r == 0 && (text = data_text_next("cpus/", text)))
		r = cpu_book_add(book, text->name, text->text, err);
	return r;
}

void cpu_book_done(struct cpu_book *book)
{
	vec_done(&book->tables);
	vec_done(&book->rules);
	arena_done(&book->arena);
}
