/* import_runs.c - see import_runs.h.
 *
 * The document is parsed whole by jansson, which refuses numbers beyond a double (1e999), NaN,
 * texts that are not UTF-8 and nesting deeper than 2,048 by itself; a file of 256 MiB holds some
 * ten million runs and takes about 2 GiB to parse, so more is refused. */
#include "import_runs.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/words.h"
#include "source/emit.h"
#include "wire/build.h"

enum {
	RUNS_LARGEST = 256 << 20,
	COMMAND_LONGEST = 4000, /* bytes, so that the quoted one fits its record */
};
#define TIME_LARGEST_NS 1e18 /* 31 years */

static bool text_has(struct import_text text, const char *key)
{
	str_auto struct str quoted = {0};

	str_addf(&quoted, "\"%s\"", key);
	return memmem(text.at, text.len, quoted.at, quoted.len) != NULL;
}

bool runs_text_has(struct import_text text, const char *const *keys, struct quota *quota)
{
	size_t blank = 0;

	while (blank < text.len && strchr(" \t\r\n", text.at[blank]) && text.at[blank])
		blank++;
	if (blank == text.len || text.at[blank] != '{')
		return false;
	for (; *keys; keys++)
		if (!quota_step(quota, text.len / IMPORT_BYTES_STEP) || !text_has(text, *keys))
			return false;
	return true;
}

json_t *runs_load(struct import_text text, struct import_report *report)
{
	json_error_t error;
	json_t *document;

	if (text.len > RUNS_LARGEST) {
		import_damage(report, "it has %zu MiB; the limit is 256", text.len >> 20);
		return NULL;
	}
	if (!import_json_fits(report->quota, text))
		return NULL;
	document = json_loadb(text.at, text.len, 0, &error);
	/* Not jansson's own words: they quote the file, which may steer a terminal. */
	if (!document)
		import_damage(report, "it is not valid JSON at line %d, column %d", error.line,
			error.column);
	return document;
}

int runs_begin(struct runs_out *out, const char *kind)
{
	int r = emit_field(out->sink, "import", "kind", WIRE_FIELD_VALUE, kind);

	return r < 0 ? r : emit_quality(out->sink, "blocked_order", 1);
}

static void quote(const char *text, struct str *ret_quoted)
{
	str_add_char(ret_quoted, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			str_add(ret_quoted, "'\\''");
		else
			str_add_char(ret_quoted, *text);
	}
	str_add_char(ret_quoted, '\'');
}

/* The words as they are stored: what splits stays as it is. */
static void command_words(const char *text, struct str *ret_words)
{
	arena_auto struct arena arena = {0};
	str_auto struct str cut = {0};
	size_t len = strlen(text);
	struct err ignored;
	char **words;

	if (len > COMMAND_LONGEST) {
		for (len = 0; len < COMMAND_LONGEST;) /* whole characters */
			len += str_utf8_length(text + len, strlen(text + len));
		str_add_bytes(&cut, text, len);
		str_add(&cut, "...");
		text = cut.at;
	}
	if (words_split(text, &arena, &words, NULL, &ignored) == 0)
		str_add(ret_words, text);
	else
		quote(text, ret_words);
}

int runs_command(struct runs_out *out, const char *text)
{
	union {
		struct wire_command command;
		unsigned char bytes[5 * COMMAND_LONGEST];
	} space;
	struct wire_builder b =
		wire_begin(&space, sizeof(space), WIRE_COMMAND, sizeof(space.command));
	str_auto struct str words = {0};

	command_words(text, &words);
	wire_add_text(&b, &space.command.argv, str_text(&words));
	out->report->commands++;
	return out->sink->take(out->sink->context, wire_end(&b));
}

int runs_execution(struct runs_out *out, struct wire_execution *execution)
{
	execution->head = (struct wire_record){WIRE_EXECUTION, sizeof(*execution)};
	execution->execution = (uint32_t)++out->report->executions;
	return out->sink->take(out->sink->context, &execution->head);
}

int runs_quality(struct runs_out *out, const char *name, uint32_t command, double value)
{
	str_auto struct str full = {0};

	if (!(value >= 0 && value <= TIME_LARGEST_NS))
		return 0;
	str_addf(&full, "%s_of_command_%u", name, command);
	return emit_quality(out->sink, full.at, (uint64_t)llround(value));
}

bool runs_time(struct runs_out *out, const json_t *number, double unit_ns, uint64_t *ret_ns)
{
	double value = json_number_value(number) * unit_ns;

	if (!json_is_number(number)) {
		out->report->skipped[IMPORT_MALFORMED]++;
		return false;
	}
	if (!(value >= 0 && value <= TIME_LARGEST_NS)) {
		out->report->skipped[IMPORT_RANGE]++;
		return false;
	}
	*ret_ns = (uint64_t)llround(value);
	return true;
}
