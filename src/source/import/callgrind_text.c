/* callgrind_text.c - see callgrind_text.h. */
#include "callgrind_text.h"

#include <string.h>

enum { CALLGRIND_LOOK = 64 };

enum word_side { SIDE_HERE, SIDE_CALLEE, SIDE_JUMP };

struct word_of_kind {
	const char *word;
	enum callgrind_name kind;
	enum word_side side;
};

static const struct word_of_kind words[] = {
	{"fn=", CALLGRIND_FUNCTION, SIDE_HERE},
	{"fl=", CALLGRIND_FILE, SIDE_HERE},
	{"fi=", CALLGRIND_FILE, SIDE_HERE},
	{"fe=", CALLGRIND_FILE, SIDE_HERE},
	{"ob=", CALLGRIND_OBJECT, SIDE_HERE},
	{"cfn=", CALLGRIND_FUNCTION, SIDE_CALLEE},
	{"cfi=", CALLGRIND_FILE, SIDE_CALLEE},
	{"cfl=", CALLGRIND_FILE, SIDE_CALLEE},
	{"cob=", CALLGRIND_OBJECT, SIDE_CALLEE},
	{"jfn=", CALLGRIND_FUNCTION, SIDE_JUMP},
	{"jfi=", CALLGRIND_FILE, SIDE_JUMP},
};

static bool text_starts(struct import_text text, const char *prefix)
{
	size_t len = strlen(prefix);

	return text.len >= len && memcmp(text.at, prefix, len) == 0;
}

static struct import_text text_behind(struct import_text text, size_t len)
{
	text.at += len;
	text.len -= len;
	while (text.len && (*text.at == ' ' || *text.at == '\t')) {
		text.at++;
		text.len--;
	}
	return text;
}

static const char *text_intern(struct callgrind_text *c, struct import_text text)
{
	uint32_t index;

	if (!text.len)
		return NULL;
	if (!map_get(&c->interned, text.at, text.len, &index)) {
		index = c->texts.count;
		vec_push(&c->texts, arena_text(&c->arena, text.at, text.len));
		map_put(&c->interned, text.at, text.len, index);
	}
	return c->texts.at[index];
}

/* "(3) name", "(3)" or "name". */
static const char *name_take(
	struct callgrind_text *c, enum callgrind_name kind, struct import_text text)
{
	const char *close = *text.at == '(' ? memchr(text.at, ')', text.len) : NULL;
	size_t key = close ? (size_t)(close - text.at) + 1 : 0;
	bool is_id = key > 2 && strspn(text.at + 1, "0123456789") == key - 2;
	struct import_text name = is_id ? text_behind(text, key) : text;
	const char *result;
	uint32_t index;

	if (is_id && !name.len)
		return map_get(&c->ids[kind], text.at, key, &index) && index < c->by_id.count
			       ? c->by_id.at[index] /* NOLINT(clang-analyzer-core.NullDereference)
						     */
			       : NULL;
	if (name.len == 3 && memcmp(name.at, "???", 3) == 0)
		result = NULL;
	else
		result = text_intern(c, name);
	if (is_id) {
		map_put(&c->ids[kind], text.at, key, c->by_id.count);
		vec_push(&c->by_id, result);
	}
	return result;
}

static void name_set(struct callgrind_text *c, const struct word_of_kind *word, const char *name)
{
	if (word->side == SIDE_HERE)
		c->current[word->kind] = name;
	else if (word->side == SIDE_CALLEE && word->kind == CALLGRIND_FUNCTION)
		c->callee = name;
	else if (word->side == SIDE_JUMP && word->kind == CALLGRIND_FUNCTION)
		c->jump_function = name;
	else if (word->side == SIDE_JUMP)
		c->jump_file = name;
}

static bool name_line(struct callgrind_text *c, struct import_text line)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const struct word_of_kind *word = &words[i];
		const char *name;

		if (!text_starts(line, word->word))
			continue;
		line = text_behind(line, strlen(word->word));
		name = line.len ? name_take(c, word->kind, line) : NULL;
		name_set(c, word, name);
		return true;
	}
	return false;
}

static int events_line(struct callgrind_text *c, struct import_text line)
{
	const char *names[CALLGRIND_EVENTS];

	c->event_count = 0;
	while (line.len && c->event_count < CALLGRIND_EVENTS) {
		size_t len = 0;

		while (len < line.len && line.at[len] != ' ' && line.at[len] != '\t')
			len++;
		if (len)
			names[c->event_count++] =
				text_intern(c, (struct import_text){line.at, len});
		line = text_behind(line, len);
	}
	return c->take_events(c->context, names, c->event_count);
}

/* The next number of the line, decimal or 0x hex; false when there is none. */
static bool number_next(struct import_text *line, uint64_t *ret_value)
{
	bool hex = text_starts(*line, "0x");
	size_t len = hex ? 2 : 0;
	uint64_t value = 0;

	for (; len < line->len; len++) {
		char c = line->at[len];
		unsigned digit = c >= '0' && c <= '9'	       ? (unsigned)(c - '0')
				 : hex && c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							       : 16;

		if (digit == 16)
			break;
		if (__builtin_mul_overflow(value, hex ? 16 : 10, &value) ||
			__builtin_add_overflow(value, digit, &value))
			return false;
	}
	if (len == (hex ? 2 : 0))
		return false;
	if (len < line->len && line->at[len] != ' ' && line->at[len] != '\t')
		return false;
	*line = text_behind(*line, len);
	*ret_value = value;
	return true;
}

/* A position: a number, or relative to the last one. */
static bool position_next(struct import_text *line, uint64_t *position)
{
	char sign = line->len ? *line->at : '\0';
	struct import_text rest = *line;
	uint64_t value;

	if (sign == '*') {
		*line = text_behind(rest, 1);
		return true;
	}
	if (sign == '+' || sign == '-')
		rest = (struct import_text){rest.at + 1, rest.len - 1};
	if (!number_next(&rest, &value))
		return false;
	*position = sign == '+' ? *position + value : sign == '-' ? *position - value : value;
	*line = rest;
	return true;
}

/* "calls=3 +4 12": how often, and where the callee begins, which its own lines tell too. */
static bool call_line(struct callgrind_text *c, struct import_text line)
{
	c->next = CALLGRIND_CALL; /* what follows is no cost of its own, whatever stands here */
	c->call = (struct callgrind_call){.callee = c->callee};
	c->callee = NULL;
	return number_next(&line, &c->call.count);
}

/* "jump=3 +4 12", or "jcnd=2/3 +4 12": of 3 times that it was reached it was followed 2 times. */
static bool jump_line(struct callgrind_text *c, struct import_text line, bool conditional)
{
	const char *slash = conditional ? memchr(line.at, '/', line.len) : NULL;
	struct callgrind_jump jump = {
		.addr = c->addr,
		.line = c->line,
		.file = c->jump_file ? c->jump_file : c->current[CALLGRIND_FILE],
		.leaves = c->jump_function && c->jump_function != c->current[CALLGRIND_FUNCTION],
	};
	struct import_text first = line;

	c->next = CALLGRIND_JUMP;
	c->jump = (struct callgrind_jump){0};
	c->jump_file = c->jump_function = NULL;
	if (conditional && !slash)
		return false;
	if (slash) {
		first.len = (size_t)(slash - line.at);
		line = text_behind(line, first.len + 1);
	}
	if (slash && (!number_next(&first, &jump.count) || first.len))
		return false;
	if (!number_next(&line, &jump.reached) ||
		(c->has_addr && !position_next(&line, &jump.addr)) ||
		(c->has_line && !position_next(&line, &jump.line)))
		return false;
	if (!slash)
		jump.count = jump.reached;
	c->jump = jump;
	return true;
}

/* A line of numbers is what the line above it says. */
static int numbers_take(struct callgrind_text *c, const struct callgrind_cost *cost)
{
	struct callgrind_call call = c->call;
	struct callgrind_jump jump = c->jump;
	int next = (int)c->next;

	c->next = CALLGRIND_COST;
	call.from = jump.from = cost;
	if (next == CALLGRIND_CALL)
		return c->take_call && call.count ? c->take_call(c->context, &call) : 0;
	if (next == CALLGRIND_JUMP)
		return c->take_jump && jump.reached ? c->take_jump(c->context, &jump) : 0;
	return c->take_cost(c->context, cost);
}

/* false: not a cost line. */
static bool cost_line(struct callgrind_text *c, struct import_text line, int *ret_r)
{
	uint64_t values[CALLGRIND_EVENTS] = {0};
	struct callgrind_cost cost = {.values = values};

	if ((c->has_addr && !position_next(&line, &c->addr)) ||
		(c->has_line && !position_next(&line, &c->line)))
		return false;
	for (unsigned i = 0; i < c->event_count && line.len; i++)
		if (!number_next(&line, &values[i]))
			return false;
	if (line.len || !c->event_count)
		return false;
	memcpy(cost.names, c->current, sizeof(cost.names));
	cost.addr = c->has_addr ? c->addr : 0;
	cost.line = c->line <= UINT32_MAX ? (uint32_t)c->line : 0;
	*ret_r = numbers_take(c, &cost);
	return true;
}

/* false: it says nothing about the next line of numbers. */
static bool announcement(struct callgrind_text *c, struct import_text line, bool *ret_understood)
{
	if (text_starts(line, "calls="))
		*ret_understood = call_line(c, text_behind(line, 6));
	else if (text_starts(line, "jump="))
		*ret_understood = jump_line(c, text_behind(line, 5), false);
	else if (text_starts(line, "jcnd="))
		*ret_understood = jump_line(c, text_behind(line, 5), true);
	else
		return false;
	return true;
}

static int take_line(struct callgrind_text *c, struct import_text line, bool whole)
{
	struct import_report *report = c->report;
	bool understood = true;
	int r;

	if (!line.at)
		return 0;
	if (text_starts(line, "events:"))
		return events_line(c, text_behind(line, 7));
	if (text_starts(line, "positions:")) {
		c->has_addr = memmem(line.at, line.len, "instr", 5);
		c->has_line = memmem(line.at, line.len, "line", 4);
		return 0;
	}
	if (name_line(c, line))
		return 0;
	if (announcement(c, line, &understood)) {
		report->skipped[whole ? IMPORT_MALFORMED : IMPORT_TRUNCATED] += !understood;
		return 0;
	}
	if ((*line.at >= '0' && *line.at <= '9') || strchr("+-*", *line.at)) {
		if (whole && cost_line(c, line, &r))
			return r;
		report->skipped[whole ? IMPORT_MALFORMED : IMPORT_TRUNCATED]++;
		return 0;
	}
	/* "cmd: ..." and the like: nothing that costs. */
	if (!memchr(line.at, ':', line.len) && !memchr(line.at, '=', line.len))
		report->skipped[whole ? IMPORT_FOREIGN : IMPORT_TRUNCATED]++;
	return 0;
}

int callgrind_text_read(struct callgrind_text *c, struct import_text text)
{
	struct import_text line;
	bool whole;
	int r = 0;

	c->has_line = true;
	while (r == 0 && import_line_next(c->report->quota, &text, &line, &whole)) {
		if (import_line_is_empty(line))
			continue;
		c->report->lines++;
		c->report->reached = line.at;
		r = take_line(c, line, whole);
	}
	return r;
}

bool callgrind_text_is(struct import_text text, struct quota *quota)
{
	struct import_text line;
	bool events = false, whole;

	for (unsigned seen = 0;
		seen < CALLGRIND_LOOK && import_line_next(quota, &text, &line, &whole);) {
		if (import_line_is_empty(line))
			continue;
		seen++;
		if (text_starts(line, "events:"))
			events = true;
		if (events && (text_starts(line, "fl=") || text_starts(line, "fn=") ||
				      text_starts(line, "ob=")))
			return true;
	}
	return false;
}

void callgrind_text_done(struct callgrind_text *c)
{
	for (unsigned i = 0; i < CALLGRIND_NAMES; i++)
		map_done(&c->ids[i]);
	map_done(&c->interned);
	vec_done(&c->texts);
	vec_done(&c->by_id);
	arena_done(&c->arena);
}
