/* import_folded.c - folded stacks: "root;caller;leaf 12", one stack a line, as flame graph scripts
 * write them.
 *
 * A ';' inside a name may be written as "\;".  The scripts mark frames behind their name: _[k] of
 * the kernel, _[i] inlined into the caller, _[j] compiled at run time, _[w] where a thread was
 * woken. The format has no event, no thread and no time; the number says how many samples had the
 * stack, or what they weigh: it does not say which. */
#include <string.h>

#include "import_named.h"

enum { FRAME_BYTES = 96 };
enum { FOLDED_LOOK = 64 }; /* lines that must look right before we believe it */

/* The number at the end and the stack before it; -1: no such line, -ERANGE-like 1: too large. */
static int line_split(struct import_text line, struct import_text *ret_stack, uint64_t *ret_weight)
{
	size_t end = line.len, digits;
	uint64_t weight = 0;

	while (end && (line.at[end - 1] == ' ' || line.at[end - 1] == '\t'))
		end--;
	digits = end;
	while (digits && line.at[digits - 1] >= '0' && line.at[digits - 1] <= '9')
		digits--;
	if (digits == end || !digits || (line.at[digits - 1] != ' ' && line.at[digits - 1] != '\t'))
		return -1;
	for (size_t i = digits; i < end; i++)
		if (__builtin_mul_overflow(weight, 10, &weight) ||
			__builtin_add_overflow(weight, (uint64_t)(line.at[i] - '0'), &weight))
			return 1;
	while (digits && (line.at[digits - 1] == ' ' || line.at[digits - 1] == '\t'))
		digits--;
	*ret_stack = (struct import_text){line.at, digits};
	*ret_weight = weight;
	return digits ? 0 : -1;
}

/* A frame by its text: the same text is the same frame, so each is looked into once. */
struct folded {
	struct named named;
	struct map known; /* its text -> index of `frames` */
	vec_of(struct wire_named) frames;
};

static struct wire_named frame_read(struct named *named, struct import_text text)
{
	struct wire_named frame = {0};
	mem_auto char *name = mem_copy_text(text.at, text.len);
	size_t len = text.len, kept = 0;

	if (len > 4 && memcmp(text.at + len - 4, "_[", 2) == 0 && text.at[len - 1] == ']') {
		char mark = text.at[len - 2];

		frame.module = mark == 'k' ? "[kernel]" : mark == 'j' ? "[jit]" : NULL;
		frame.inlined = mark == 'i';
		if (strchr("kijw", mark))
			len -= 4;
	}
	for (size_t i = 0; i < len; i++)
		if (!(text.at[i] == '\\' && i + 1 < len && text.at[i + 1] == ';'))
			name[kept++] = text.at[i];
	if (kept != 9 || memcmp(name, "[unknown]", 9) != 0)
		frame.function = named_text(named, name, kept);
	return frame;
}

static void push_frame(struct folded *folded, struct import_text text)
{
	uint32_t index;

	if (map_add(&folded->known, text.at, text.len, folded->frames.count, &index)) {
		struct wire_named frame = frame_read(&folded->named, text);

		quota_take(folded->named.report->quota, FRAME_BYTES + text.len);
		frame.known = index + 1;
		vec_push(&folded->frames, frame);
	}
	vec_push(&folded->named.frames, folded->frames.at[index]);
}

/* The frames of a stack, the innermost first: the line has them the other way round. */
static void push_stack(struct folded *folded, struct import_text stack)
{
	size_t end = stack.len;

	for (size_t at = stack.len; at-- > 0;) {
		if (stack.at[at] != ';' || (at && stack.at[at - 1] == '\\'))
			continue;
		if (at + 1 < end)
			push_frame(folded, (struct import_text){stack.at + at + 1, end - at - 1});
		end = at;
	}
	if (end)
		push_frame(folded, (struct import_text){stack.at, end});
}

static bool detect(struct import_text text, struct quota *quota)
{
	struct import_text line, stack;
	unsigned seen = 0, stacks = 0;
	uint64_t weight;
	bool whole;

	while (seen < FOLDED_LOOK && import_line_next(quota, &text, &line, &whole)) {
		if (import_line_is_empty(line))
			continue;
		if (memchr(line.at, '\0', line.len))
			return false;
		if (line_split(line, &stack, &weight) != 0) {
			if (whole)
				return false;
			continue;
		}
		seen++;
		stacks += memchr(stack.at, ';', stack.len) != NULL;
	}
	return stacks > 0;
}

static int take_line(struct folded *folded, struct import_text line, bool whole, uint32_t event)
{
	struct wire_sample sample = {.event = event, .cpu = UINT32_MAX};
	struct named *named = &folded->named;
	struct import_text stack;
	int r = line_split(line, &stack, &sample.period);

	if (r != 0) {
		named->report->skipped[r > 0   ? IMPORT_RANGE
				       : whole ? IMPORT_MALFORMED
					       : IMPORT_TRUNCATED]++;
		return 0;
	}
	if (!sample.period) {
		named->report->skipped[IMPORT_SAMPLE_EMPTY]++;
		return 0;
	}
	push_stack(folded, stack);
	return named_sample(named, &sample);
}

static int read_folded(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct folded folded = {.named = named_of(sink, report)};
	struct import_text line;
	uint32_t event;
	bool whole;
	int r = named_event(
		&folded.named, &(struct named_event){"samples", "", WIRE_EVENT_MERGED}, &event);

	while (r == 0 && import_line_next(report->quota, &text, &line, &whole)) {
		if (import_line_is_empty(line))
			continue;
		report->lines++;
		report->reached = line.at;
		r = take_line(&folded, line, whole, event);
	}
	vec_done(&folded.frames);
	map_done(&folded.known);
	named_done(&folded.named);
	return r;
}

const struct import_format import_folded = {"folded", IMPORT_PROFILE, detect, read_folded};
