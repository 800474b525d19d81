/* script_line.c - perf script's lines.
 *
 * The head is "comm pid/tid [cpu] seconds: period event:", but -F leaves out any of these, and comm
 * may hold blanks and numbers.  The time, which is written as nothing else is, is looked for first;
 * the number before it is the thread and what stands before that is comm.  Without a time the first
 * number is the thread.  Behind the event stands what the rest of the line is about: an address, if
 * no chain was recorded, branches, or the fields of a tracepoint. */
#include "script_line.h"

#include <string.h>

enum { ADDRESS_DIGITS = 4 }; /* a shorter hex word behind an event is a word of a tracepoint */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void blanks_skip(struct import_text *rest)
{
	while (rest->len && is_blank(*rest->at)) {
		rest->at++;
		rest->len--;
	}
}

static void blanks_cut(struct import_text *text)
{
	while (text->len && is_blank(text->at[text->len - 1]))
		text->len--;
}

/* The next word of `rest`; false, and `word` as it was, at its end. */
static bool word_next(struct import_text *rest, struct import_text *word)
{
	size_t len = 0;

	blanks_skip(rest);
	if (!rest->len)
		return false;
	while (len < rest->len && !is_blank(rest->at[len]))
		len++;
	*word = (struct import_text){rest->at, len};
	rest->at += len;
	rest->len -= len;
	return true;
}

static bool text_starts(struct import_text text, const char *prefix)
{
	size_t len = strlen(prefix);

	return text.len >= len && memcmp(text.at, prefix, len) == 0;
}

/* Digits from the front in `base`; how many there were, 0 also when they are too many. */
static size_t digits_read(struct import_text text, unsigned base, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.at[i];
		unsigned digit = is_digit(c)		? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							: 16;

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, digit, &value))
			return 0;
	}
	*ret_value = value;
	return i;
}

static struct import_text text_from(struct import_text text, size_t at)
{
	return (struct import_text){text.at + at, text.len - at};
}

/* "4481.898129:" */
static bool word_is_time(struct import_text word, uint64_t *ret_ns)
{
	uint64_t seconds, fraction;
	size_t whole = digits_read(word, 10, &seconds), part;

	if (!whole || whole == word.len || word.at[whole] != '.' ||
		seconds > INT64_MAX / 1000000000)
		return false;
	part = digits_read(text_from(word, whole + 1), 10, &fraction);
	if (!part || part > 9 || whole + part + 2 != word.len || word.at[word.len - 1] != ':')
		return false;
	for (size_t i = part; i < 9; i++)
		fraction *= 10;
	*ret_ns = seconds * 1000000000 + fraction;
	return true;
}

/* "123" or "123/456"; perf writes -1 for a thread it does not know. */
static bool word_is_tid(struct import_text word, struct script_line *line)
{
	uint64_t pid = 0, tid;
	size_t len;

	if (word.len == 2 && memcmp(word.at, "-1", 2) == 0) {
		line->pid = line->tid = UINT32_MAX;
		return true;
	}
	len = digits_read(word, 10, &pid);
	tid = pid;
	if (len && len < word.len && word.at[len] == '/') {
		size_t second = digits_read(text_from(word, len + 1), 10, &tid);

		len = second ? len + 1 + second : 0;
	}
	if (!len || len != word.len || pid > UINT32_MAX || tid > UINT32_MAX)
		return false;
	line->pid = (uint32_t)pid;
	line->tid = (uint32_t)tid;
	return true;
}

static bool word_is_cpu(struct import_text word, uint32_t *ret_cpu)
{
	uint64_t cpu;

	if (word.len < 3 || *word.at != '[' || word.at[word.len - 1] != ']' ||
		digits_read(text_from(word, 1), 10, &cpu) != word.len - 2 || cpu > UINT32_MAX)
		return false;
	*ret_cpu = (uint32_t)cpu;
	return true;
}

static bool word_is_branch(struct import_text word)
{
	struct wire_branch branch;

	return script_branch_next(&word, &branch);
}

/* What stands before the time, or the whole line without one: comm, thread, cpu.  `*ret_rest` is
 * behind the thread. */
static void head_read_task(
	struct import_text text, bool last, struct script_line *line, struct import_text *ret_rest)
{
	struct import_text rest = text, word;

	*ret_rest = text;
	while (word_next(&rest, &word) && !word_is_branch(word)) {
		if (word_is_cpu(word, &line->cpu)) {
			*ret_rest = rest;
			continue;
		}
		if (!word_is_tid(word, line))
			continue;
		line->has_tid = true;
		line->comm = (struct import_text){text.at, (size_t)(word.at - text.at)};
		*ret_rest = rest;
		if (!last)
			break;
	}
	if (!line->has_tid && last)
		line->comm = text;
	blanks_skip(&line->comm);
	blanks_cut(&line->comm);
	if (!last && line->has_tid) {
		rest = *ret_rest;
		if (word_next(&rest, &word) && word_is_cpu(word, &line->cpu))
			*ret_rest = rest;
	}
}

static bool text_equals(struct import_text text, const char *other)
{
	return text.len == strlen(other) && text_starts(text, other);
}

/* "(module)" at the end of `text`, which is cut there.  A path may hold brackets: "(/a (deleted))".
 */
static struct import_text module_cut(struct import_text *text)
{
	struct import_text module = {0};
	size_t at = text->len, depth = 0;

	if (!at || text->at[at - 1] != ')')
		return module;
	do {
		at--;
		depth += (text->at[at] == ')') - (text->at[at] == '(');
	} while (at && depth);
	if (depth || (at && !is_blank(text->at[at - 1])))
		return module;
	module = (struct import_text){text->at + at + 1, text->len - at - 2};
	text->len = at;
	return module;
}

/* "+0x12" at the end. */
static void offset_cut(struct import_text *text)
{
	const char *plus = text->len ? memrchr(text->at, '+', text->len) : NULL;
	struct import_text rest;
	uint64_t offset;

	if (!plus)
		return;
	rest = text_from(*text, (size_t)(plus - text->at));
	if (text_starts(rest, "+0x") &&
		digits_read(text_from(rest, 3), 16, &offset) == rest.len - 3)
		text->len -= rest.len;
}

/* "7f12 symbol+0x3 (module)"; false when it does not begin with an address. */
static bool frame_read(struct import_text text, struct script_frame *frame)
{
	struct import_text word;

	if (!word_next(&text, &word))
		return false;
	if (text_starts(word, "0x"))
		word = text_from(word, 2);
	if (!word.len || digits_read(word, 16, &frame->addr) != word.len)
		return false;
	blanks_skip(&text);
	blanks_cut(&text);
	frame->module = module_cut(&text);
	blanks_cut(&text);
	offset_cut(&text);
	frame->symbol = text;
	frame->inlined = text_equals(frame->module, "inlined");
	if (frame->inlined || text_equals(frame->module, "[unknown]"))
		frame->module.len = 0;
	if (text_equals(frame->symbol, "[unknown]"))
		frame->symbol.len = 0;
	return true;
}

/* Period, event, and then an address or branches. */
static void head_read_tail(struct import_text rest, struct script_line *line)
{
	struct import_text word, behind = rest, second;
	uint64_t number;

	line->period = 1;
	if (!word_next(&behind, &word))
		return;
	if (digits_read(word, 10, &number) == word.len) {
		struct import_text further = behind;

		if (word_next(&further, &second) && second.at[second.len - 1] == ':') {
			line->period = number;
			word = second;
			behind = further;
		}
	}
	if (word.len > 1 && word.at[word.len - 1] == ':') {
		line->event = (struct import_text){word.at, word.len - 1};
		rest = behind;
		if (!word_next(&behind, &word))
			return;
	}
	if (word_is_branch(word)) {
		line->branches = rest;
		return;
	}
	if (word.len < ADDRESS_DIGITS || digits_read(word, 16, &number) != word.len)
		return;
	line->has_ip = true;
	second = behind;
	if (word_next(&second, &word) && word_is_branch(word)) {
		line->branches = behind;
		line->frame.addr = number;
		return;
	}
	frame_read(rest, &line->frame);
}

static void head_read(struct import_text text, struct script_line *line)
{
	struct import_text rest = text, word, before = text;

	line->cpu = UINT32_MAX;
	while (!line->has_time && word_next(&rest, &word))
		line->has_time = word_is_time(word, &line->time_ns);
	if (line->has_time) {
		before.len = (size_t)(word.at - text.at);
		head_read_task(before, true, line, &before);
	} else {
		head_read_task(text, false, line, &rest);
	}
	blanks_skip(&rest);
	if (text_starts(rest, "PERF_RECORD_")) {
		line->kind = SCRIPT_RECORD;
		return;
	}
	if (line->has_time || line->has_tid)
		head_read_tail(rest, line);
	/* A number alone makes no head. */
	if (line->has_time ||
		(line->has_tid && (line->event.len || line->has_ip || line->branches.len)))
		line->kind = SCRIPT_HEAD;
}

/* "  main.c:12"; where perf knows no line it writes "  module[address]", "  ??:0" or "  :0". */
static bool source_read(struct import_text text, struct script_line *line)
{
	const char *mark;
	uint64_t number;

	blanks_skip(&text);
	blanks_cut(&text);
	if (text.len && text.at[text.len - 1] == ']')
		return true;
	mark = text.at && text.len ? memrchr(text.at, ':', text.len) : NULL;
	if (!mark || !digits_read(text_from(text, (size_t)(mark - text.at) + 1), 10, &number) ||
		number > UINT32_MAX)
		return false;
	if (mark != text.at && !text_starts(text, "??:")) {
		line->file = (struct import_text){text.at, (size_t)(mark - text.at)};
		line->line = (uint32_t)number;
	}
	return true;
}

struct script_line script_line_read(struct import_text text)
{
	struct script_line line = {0};
	struct import_text rest = text, word = {0};

	if (!word_next(&rest, &word))
		return line;
	if (word_is_branch(word)) {
		line.kind = SCRIPT_BRANCHES;
		line.branches = text;
		line.cpu = UINT32_MAX;
		line.period = 1;
		return line;
	}
	/* Frames stand behind a tab; in text that was copied, behind blanks, where a
	 * right-justified comm like "dd" may stand as well. */
	if (*text.at != '\t')
		head_read(text, &line);
	if (line.kind != SCRIPT_OTHER || !is_blank(*text.at))
		return line;
	if (frame_read(text, &line.frame))
		line.kind = SCRIPT_FRAME;
	else if (source_read(text, &line))
		line.kind = SCRIPT_SOURCE;
	return line;
}

/* The next part up to '/', without what stands in brackets behind an address. */
static struct import_text part_next(struct import_text *word)
{
	struct import_text part = *word;
	unsigned depth = 0;
	size_t len = 0;

	for (; len < word->len && (depth || word->at[len] != '/'); len++)
		depth += (word->at[len] == '(') - (word->at[len] == ')' && depth);
	part.len = len;
	*word = text_from(*word, len < word->len ? len + 1 : len);
	return part;
}

static bool part_address(struct import_text part, uint64_t *ret_addr)
{
	size_t digits;

	if (!text_starts(part, "0x"))
		return false;
	part = text_from(part, 2);
	digits = digits_read(part, 16, ret_addr);
	return digits && (digits == part.len || part.at[digits] == '(');
}

/* Names of PERF_BR_*, in its order. */
static uint32_t branch_type(struct import_text part)
{
	static const char *const names[] = {"", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET",
		"SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX"};

	for (uint32_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (part.len == strlen(names[i]) && text_starts(part, names[i]))
			return i;
	return 0;
}

/* PERF_BR_SPEC_* as perf writes them, in its order. */
static uint32_t branch_speculation(struct import_text part)
{
	static const char *const names[] = {
		"N/A", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"};

	for (uint32_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (part.len == strlen(names[i]) && text_starts(part, names[i]))
			return i;
	return 0;
}

/* M, P, MN, PN (N: it was not taken), - */
static uint32_t branch_prediction(struct import_text part)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < part.len; i++)
		flags |= part.at[i] == 'M'   ? WIRE_BRANCH_MISPREDICTED
			 : part.at[i] == 'P' ? WIRE_BRANCH_PREDICTED
			 : part.at[i] == 'N' ? WIRE_BRANCH_NOT_TAKEN
					     : 0;
	return flags;
}

bool script_branch_next(struct import_text *rest, struct wire_branch *ret_branch)
{
	struct wire_branch branch = {0};
	struct import_text word, part;
	uint64_t cycles;

	if (!word_next(rest, &word) || !memchr(word.at, '/', word.len))
		return false;
	if (!part_address(part_next(&word), &branch.from) ||
		!part_address(part_next(&word), &branch.to))
		return false;
	branch.flags = branch_prediction(part_next(&word));
	part = part_next(&word);
	branch.flags |= part.len && *part.at == 'X' ? WIRE_BRANCH_IN_TRANSACTION : 0;
	part = part_next(&word);
	branch.flags |= part.len && *part.at == 'A' ? WIRE_BRANCH_ABORT : 0;
	if (digits_read(part_next(&word), 10, &cycles) && cycles <= UINT32_MAX)
		branch.cycles = (uint32_t)cycles;
	branch.flags |= branch_type(part_next(&word)) << WIRE_BRANCH_TYPE_SHIFT;
	branch.flags |= branch_speculation(part_next(&word)) << WIRE_BRANCH_SPEC_SHIFT;
	*ret_branch = branch;
	return true;
}
