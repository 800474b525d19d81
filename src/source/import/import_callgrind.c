/* import_callgrind.c - callgrind.out and cachegrind.out: what each line of each function cost.
 *
 * Cost lines ("12 340 5": line, then one number per event) belong to the fn=, fl= (or fi=, fe=
 * inside it) and ob= above them.  Names are written once as "(3) name" and then as "(3)", per kind;
 * numbers of lines and addresses may be relative to the line before ("+4", "-2", "*").  The line
 * behind calls= is what the callee cost: it stands in the callee's own lines already and is left
 * out.
 *
 * Each cost line is a sample that weighs its first event; of the others the sums are kept as
 * counts. There are no stacks: the format has pairs of caller and callee only. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "import_named.h"
#include "source/emit.h"

enum { CALLGRIND_EVENTS = 64, CALLGRIND_LOOK = 64 };

enum name_kind { NAME_OBJECT, NAME_FILE, NAME_FUNCTION, NAME_KINDS };

struct callgrind {
	struct named named;
	struct map ids[NAME_KINDS]; /* "(3)" -> index of texts */
	vec_of(const char *) texts;
	const char *current[NAME_KINDS];
	uint32_t events[CALLGRIND_EVENTS];
	uint64_t totals[CALLGRIND_EVENTS];
	unsigned event_count;
	bool has_addr, has_line;
	uint64_t addr, line;
	bool skip_cost; /* the next cost line is of a call */
};

struct word_of_kind {
	const char *word;
	enum name_kind kind;
	bool callee;
};

static const struct word_of_kind words[] = {
	{"fn=", NAME_FUNCTION, false},
	{"fl=", NAME_FILE, false},
	{"fi=", NAME_FILE, false},
	{"fe=", NAME_FILE, false},
	{"ob=", NAME_OBJECT, false},
	{"cfn=", NAME_FUNCTION, true},
	{"cfi=", NAME_FILE, true},
	{"cfl=", NAME_FILE, true},
	{"cob=", NAME_OBJECT, true},
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

/* "(3) name", "(3)" or "name". */
static const char *name_take(struct callgrind *c, enum name_kind kind, struct import_text text)
{
	const char *close = *text.at == '(' ? memchr(text.at, ')', text.len) : NULL;
	size_t key = close ? (size_t)(close - text.at) + 1 : 0;
	bool is_id = key > 2 && strspn(text.at + 1, "0123456789") == key - 2;
	struct import_text name = is_id ? text_behind(text, key) : text;
	const char *result;
	uint32_t index;

	if (is_id && !name.len)
		return map_get(&c->ids[kind], text.at, key, &index) && index < c->texts.count
			       ? c->texts.at[index] /* NOLINT(clang-analyzer-core.NullDereference)
						     */
			       : NULL;
	if (name.len == 3 && memcmp(name.at, "???", 3) == 0)
		result = NULL;
	else
		result = named_text(&c->named, name.at, name.len);
	if (is_id) {
		map_put(&c->ids[kind], text.at, key, c->texts.count);
		vec_push(&c->texts, result);
	}
	return result;
}

static bool name_line(struct callgrind *c, struct import_text line)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const struct word_of_kind *word = &words[i];
		const char *name;

		if (!text_starts(line, word->word))
			continue;
		line = text_behind(line, strlen(word->word));
		name = line.len ? name_take(c, word->kind, line) : NULL;
		if (!word->callee)
			c->current[word->kind] = name;
		return true;
	}
	return false;
}

static int events_line(struct callgrind *c, struct import_text line)
{
	int r = 0;

	c->event_count = 0;
	while (r == 0 && line.len && c->event_count < CALLGRIND_EVENTS) {
		size_t len = 0;
		const char *name;

		while (len < line.len && line.at[len] != ' ' && line.at[len] != '\t')
			len++;
		name = named_text(&c->named, line.at, len);
		if (name)
			r = named_event(&c->named, name, "", &c->events[c->event_count++]);
		line = text_behind(line, len);
	}
	return r;
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

/* false: not a cost line. */
static bool cost_line(struct callgrind *c, struct import_text line, int *ret_r)
{
	struct wire_sample sample = {.event = c->events[0], .cpu = UINT32_MAX};
	uint64_t values[CALLGRIND_EVENTS] = {0};

	if ((c->has_addr && !position_next(&line, &c->addr)) ||
		(c->has_line && !position_next(&line, &c->line)))
		return false;
	for (unsigned i = 0; i < c->event_count && line.len; i++)
		if (!number_next(&line, &values[i]))
			return false;
	if (line.len || !c->event_count)
		return false;
	*ret_r = 0;
	if (c->skip_cost) {
		c->skip_cost = false;
		return true;
	}
	for (unsigned i = 0; i < c->event_count; i++)
		if (__builtin_add_overflow(c->totals[i], values[i], &c->totals[i]))
			c->totals[i] = UINT64_MAX;
	if (!values[0]) {
		c->named.report->skipped[IMPORT_SAMPLE_EMPTY]++;
		return true;
	}
	sample.period = values[0];
	vec_push(&c->named.frames, (struct wire_named){
					   .function = c->current[NAME_FUNCTION],
					   .module = c->current[NAME_OBJECT],
					   .file = c->current[NAME_FILE],
					   .addr = c->has_addr ? c->addr : 0,
					   .line = c->line <= UINT32_MAX ? (uint32_t)c->line : 0,
				   });
	*ret_r = named_sample(&c->named, &sample);
	return true;
}

static int take_line(struct callgrind *c, struct import_text line, bool whole)
{
	struct import_report *report = c->named.report;
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
	if (text_starts(line, "calls=")) {
		c->skip_cost = true;
		return 0;
	}
	if ((*line.at >= '0' && *line.at <= '9') || strchr("+-*", *line.at)) {
		if (whole && cost_line(c, line, &r))
			return r;
		report->skipped[whole ? IMPORT_MALFORMED : IMPORT_TRUNCATED]++;
		return 0;
	}
	/* "cmd: ..." and the like, jumps: nothing that costs. */
	if (!memchr(line.at, ':', line.len) && !memchr(line.at, '=', line.len))
		report->skipped[whole ? IMPORT_FOREIGN : IMPORT_TRUNCATED]++;
	return 0;
}

static int emit_totals(const struct callgrind *c)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < c->event_count; i++) {
		struct wire_count count = {
			.head = {WIRE_COUNT, sizeof(count)},
			.event = c->events[i],
			.value = c->totals[i],
		};

		r = c->named.sink->take(c->named.sink->context, &count.head);
	}
	return r < 0 ? r
		     : emit_note(c->named.sink, "simulated",
			       "the numbers are of valgrind's model of a CPU, not of a measurement; "
			       "who called whom is not kept, only what each line cost itself",
			       NULL);
}

static int read_callgrind(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct callgrind c = {.named = named_of(sink, report), .has_line = true};
	struct import_text line;
	bool whole;
	int r = 0;

	while (r == 0 && import_line_next(&text, &line, &whole)) {
		if (import_line_is_empty(line))
			continue;
		report->lines++;
		r = take_line(&c, line, whole);
	}
	if (r == 0)
		r = emit_totals(&c);
	if (r == 0 && !report->samples)
		import_damage(report, "it has no line with a cost");
	for (unsigned i = 0; i < NAME_KINDS; i++)
		map_done(&c.ids[i]);
	vec_done(&c.texts);
	named_done(&c.named);
	return r;
}

/* "events:" stands in the head, and a first name or cost soon after. */
static bool detect(struct import_text text)
{
	struct import_text line;
	bool events = false, whole;

	for (unsigned seen = 0; seen < CALLGRIND_LOOK && import_line_next(&text, &line, &whole);) {
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

const struct import_format import_callgrind = {"callgrind", IMPORT_PROFILE, detect, read_callgrind};
