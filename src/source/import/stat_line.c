/* stat_line.c - perf stat's two formats for machines.
 *
 * -x prints   [time SEP] [label SEP [cpus SEP]] value SEP unit SEP event [SEP cgroup] [SEP spread%]
 *             SEP runtime SEP pcnt-running [SEP metric SEP metric-unit]
 *
 * without quoting, although an event such as cpu/event=0xc0,umask=0x1/ holds the usual separator,
 * and the separator may be any text.  Counting fields from the left is therefore wrong.  The one
 * fixed place is in the middle: a whole number and a number with exactly two decimals, with the
 * same separator before, between and behind them.  It gives the separator away, and what stands
 * left and right of it can be read outwards.
 *
 * -j prints one object per line.  Measured with perf 6.1 and in facts: the value is a text, values
 * of events that were not counted carry "pcnt-running" : 100.00 all the same, the unit of a metric
 * may be "(null)".  perf's own metrics are not read at all. */
#include "stat_line.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static int skip(enum import_skip reason)
{
	return -(int)reason - 1;
}

static size_t digits_at(const char *at, const char *end)
{
	size_t len = 0;

	while (at + len < end && isdigit((unsigned char)at[len]))
		len++;
	return len;
}

/* "12", "12.5": the length of the number at `at`; its decimals in `ret_decimals`. */
static size_t number_at(const char *at, const char *end, size_t *ret_decimals)
{
	size_t len = digits_at(at, end);

	*ret_decimals = 0;
	if (len && at + len < end && at[len] == '.')
		*ret_decimals = digits_at(at + len + 1, end);
	return *ret_decimals ? len + 1 + *ret_decimals : len;
}

/* A value as perf writes it: a number, or why there is none. */
static bool value_parse(const char *text, struct arena *arena, struct stat_line *line)
{
	size_t decimals, len = strlen(text);

	line->number = "";
	if (str_equal(text, "<not counted>"))
		line->value = STAT_NOT_COUNTED;
	else if (str_equal(text, "<not supported>"))
		line->value = STAT_NOT_SUPPORTED;
	else if (len && number_at(text, text + len, &decimals) == len) {
		line->value = STAT_NUMBER;
		line->number = arena_text(arena, text, len);
	} else
		return false;
	return true;
}

static const char *json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* What the line was counted on: whichever of perf's aggregation keys is there. */
static const char *json_label(const json_t *object)
{
	static const char *const keys[] = {
		"cpu", "core", "die", "cluster", "cache", "socket", "node", "thread"};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (*json_text(object, keys[i]))
			return json_text(object, keys[i]);
	return "";
}

static int json_line(const json_t *object, struct arena *arena, struct stat_line *line)
{
	double interval = json_number_value(json_object_get(object, "interval"));
	double share = json_number_value(json_object_get(object, "pcnt-running"));
	const json_t *runtime = json_object_get(object, "event-runtime");
	const json_t *variance = json_object_get(object, "variance");
	const char *texts[] = {json_label(object), json_text(object, "event"),
		json_text(object, "cgroup"), json_text(object, "unit")};
	const char **places[] = {&line->label, &line->event, &line->cgroup, &line->unit};

	if (!json_object_get(object, "counter-value"))
		return skip(json_object_size(object) && !json_object_get(object, "metric-value")
				    ? IMPORT_FOREIGN
				    : IMPORT_METRIC);
	if (json_text(object, "counter-value")[0] == '-')
		return skip(IMPORT_RANGE);
	if (!value_parse(json_text(object, "counter-value"), arena, line) || !*texts[1] ||
		!json_is_integer(runtime) || json_integer_value(runtime) < 0 ||
		!(share >= 0 && share <= 100) || !(interval >= 0 && interval < 9e9))
		return skip(IMPORT_MALFORMED);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*places[i] = arena_copy(arena, texts[i]);
	line->at_ns = (uint64_t)llround(interval * 1e9);
	line->runtime_ns = (uint64_t)json_integer_value(runtime);
	line->running_share = share / 100;
	if (json_is_number(variance))
		line->spread = arena_format(arena, "%.2f", json_number_value(variance));
	return 0;
}

int stat_line_json(struct import_text text, struct arena *arena, struct stat_line *ret_line)
{
	struct stat_line line = {0};
	json_t *object;
	int r;

	while (text.len && isspace((unsigned char)*text.at)) {
		text.at++;
		text.len--;
	}
	if (!text.len || *text.at != '{')
		return skip(IMPORT_FOREIGN);
	object = json_loadb(text.at, text.len, 0, NULL);
	r = json_is_object(object) ? json_line(object, arena, &line) : skip(IMPORT_MALFORMED);
	json_decref(object);
	if (r == 0)
		*ret_line = line;
	return r;
}

/* The fixed place in a line of -x. */
struct anchor {
	const char *left;    /* end of what stands before it */
	const char *runtime; /* a whole number */
	const char *share;   /* a number with two decimals */
};

/* Whether a run of digits at `at` starts the fixed place, between separators of `len` bytes. */
static bool anchor_at(
	struct import_text text, const char *at, size_t len, struct anchor *ret_anchor)
{
	const char *end = text.at + text.len, *separator = at - len, *share, *after;
	size_t digits = digits_at(at, end), decimals;

	if (!digits || (size_t)(end - at) < digits + len ||
		memcmp(at + digits, separator, len) != 0)
		return false;
	share = at + digits + len;
	after = share + number_at(share, end, &decimals);
	if (decimals != 2)
		return false;
	if (after != end && ((size_t)(end - after) < len || memcmp(after, separator, len) != 0))
		return false;
	*ret_anchor = (struct anchor){separator, at, share};
	return true;
}

/* Bytes a separator can be made of: anything that cannot belong to a number or a name. */
static bool char_is_separator(char c)
{
	return !isalnum((unsigned char)c) && c != '.' && c != '<' && c != '>' && c != '%';
}

bool stat_separator_find(struct import_text text, char ret_separator[STAT_SEPARATOR])
{
	for (size_t i = 1; i < text.len; i++) {
		size_t start, len = 0;
		struct anchor anchor;

		/* Each run of digits is looked at once, from its first. */
		if (!isdigit((unsigned char)text.at[i]) || isdigit((unsigned char)text.at[i - 1]))
			continue;
		start = i + digits_at(text.at + i, text.at + text.len);
		while (start + len < text.len && len < STAT_SEPARATOR &&
			char_is_separator(text.at[start + len]))
			len++;
		if (!len || len >= STAT_SEPARATOR || len > i ||
			memcmp(text.at + i - len, text.at + start, len) != 0 ||
			!anchor_at(text, text.at + i, len, &anchor))
			continue;
		memcpy(ret_separator, anchor.left, len);
		ret_separator[len] = '\0';
		return true;
	}
	return false;
}

/* The last fixed place in the line: "S0-D0-C0,1,121.85,msec,..." looks like one further left. */
static bool anchor_find(struct import_text text, const char *separator, struct anchor *ret_anchor)
{
	size_t len = strlen(separator);

	for (size_t i = text.len; i > len; i--)
		if (isdigit((unsigned char)text.at[i - 1]) && i - 1 >= len &&
			memcmp(text.at + i - 1 - len, separator, len) == 0 &&
			anchor_at(text, text.at + i - 1, len, ret_anchor))
			return true;
	return false;
}

/* Where the field at `start` ends; "<not counted>" is one field even when the separator is a blank.
 */
static char *field_end(char *start, const char *separator)
{
	char *closed = *start == '<' ? strchr(start, '>') : NULL;
	char *end = strstr(closed ? closed : start, separator);

	return end ? end : start + strlen(start);
}

/* Take the first field off `left`. */
static char *field_take(char **left, const char *separator)
{
	char *start = *left, *end = field_end(start, separator);

	*left = *end ? end + strlen(separator) : end;
	*end = '\0';
	return start;
}

static bool field_is_value(char *start, const char *separator)
{
	const char *end = field_end(start, separator), *digits = start + (*start == '-');
	size_t decimals;

	return str_starts(start, "<not ") ||
	       (digits < end && number_at(digits, end, &decimals) == (size_t)(end - digits));
}

/* "     0.050106003": perf prints nine decimals there and never more than two in a value. */
static void time_take(char **left, const char *separator, uint64_t *ret_ns)
{
	size_t decimals, len = number_at(*left, *left + strlen(*left), &decimals);
	double seconds = strtod(*left, NULL);

	if (decimals != 9 || !str_starts(*left + len, separator) || seconds >= 9e9)
		return;
	*ret_ns = (uint64_t)llround(seconds * 1e9);
	*left += len + strlen(separator);
}

/* Label and number of CPUs, when the lines are per CPU, core, socket, node or thread. */
static void label_take(char **left, const char *separator, struct stat_line *line)
{
	char *digits, *next;

	line->label = "";
	if (field_is_value(*left, separator))
		return;
	line->label = field_take(left, separator);
	digits = *left + strspn(*left, "0123456789");
	next = digits + strlen(separator);
	if (digits > *left && str_starts(digits, separator) && field_is_value(next, separator))
		*left = next;
}

/* "6.39%" behind the event, when perf ran the program several times. */
static void spread_take(char *rest, const char *separator, struct stat_line *line)
{
	size_t decimals, len = strlen(rest);
	char *last = NULL, *percent = rest + len - 1;

	for (char *at = rest; (at = strstr(at, separator)); at += strlen(separator))
		last = at;
	if (!last || *percent != '%')
		return;
	line->spread = last + strlen(separator);
	if (number_at(line->spread, percent, &decimals) != (size_t)(percent - line->spread)) {
		line->spread = NULL;
		return;
	}
	*last = '\0';
	*percent = '\0';
}

/* The event ends at the first separator that is not between its slashes; a cgroup may follow. */
static void event_take(char *rest, const char *separator, struct stat_line *line)
{
	bool inside = false;

	line->event = rest;
	line->cgroup = "";
	for (char *at = rest; *at; at++) {
		if (*at == '/')
			inside = !inside;
		if (inside || !str_starts(at, separator))
			continue;
		*at = '\0';
		line->cgroup = at + strlen(separator);
		return;
	}
}

int stat_line_csv(struct import_text text, const char *separator, struct arena *arena,
	struct stat_line *ret_line)
{
	struct stat_line line = {0};
	char *left = arena_text(arena, text.at, text.len), *value;
	struct anchor anchor;

	if (!anchor_find((struct import_text){left, text.len}, separator, &anchor)) {
		char *three = arena_format(arena, "%s%s%s", separator, separator, separator);

		/* A metric of perf's own stands behind fields that are all empty. */
		return skip(strstr(left, three) ? IMPORT_METRIC : IMPORT_FOREIGN);
	}
	left[anchor.left - left] = '\0';
	left += strspn(left, " ");
	time_take(&left, separator, &line.at_ns);
	label_take(&left, separator, &line);
	value = field_take(&left, separator);
	if (*value == '-')
		return skip(IMPORT_RANGE);
	if (!value_parse(value, arena, &line))
		return skip(IMPORT_MALFORMED);
	line.unit = field_take(&left, separator);
	spread_take(left, separator, &line);
	event_take(left, separator, &line);
	errno = 0;
	line.runtime_ns = strtoull(anchor.runtime, NULL, 10);
	line.running_share = strtod(anchor.share, NULL) / 100;
	if (errno || !isalpha((unsigned char)*line.event) || line.running_share > 1)
		return skip(IMPORT_MALFORMED);
	*ret_line = line;
	return 0;
}
