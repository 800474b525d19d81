/* jsonw.c - see jsonw.h.  `has_items` of the outer container need not be kept on a stack: when a
 * container closes, the outer one has at least that one member. */
#include "base/jsonw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void jsonw_break(struct jsonw *w)
{
	if (w->compact)
		return;
	str_add_char(w->out, '\n');
	str_add_repeat(w->out, ' ', (size_t)w->depth * 2);
}

static void jsonw_before(struct jsonw *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->has_items)
		str_add_char(w->out, ',');
	if (w->depth)
		jsonw_break(w);
	w->has_items = true;
}

static void jsonw_open(struct jsonw *w, char bracket)
{
	jsonw_before(w);
	str_add_char(w->out, bracket);
	w->depth++;
	w->has_items = false;
}

static void jsonw_close(struct jsonw *w, char bracket)
{
	w->depth--;
	if (w->has_items)
		jsonw_break(w);
	str_add_char(w->out, bracket);
	w->has_items = true;
}

void jsonw_begin_object(struct jsonw *w)
{
	jsonw_open(w, '{');
}

void jsonw_end_object(struct jsonw *w)
{
	jsonw_close(w, '}');
}

void jsonw_begin_array(struct jsonw *w)
{
	jsonw_open(w, '[');
}

void jsonw_end_array(struct jsonw *w)
{
	jsonw_close(w, ']');
}

static void jsonw_escape(struct str *out, uint32_t point)
{
	if (point > 0xffff)
		str_addf(out, "\\u%04x\\u%04x", 0xd7c0 + (point >> 10), 0xdc00 | (point & 0x3ff));
	else
		str_addf(out, "\\u%04x", point);
}

static size_t jsonw_plain(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
		i++;
	return i;
}

/* What a terminal must not be shown is escaped: the document is ASCII there, and says the same. */
static void jsonw_quote(struct str *out, const char *text, size_t len)
{
	static const char names[] = "btnvfr";

	str_add_char(out, '"');
	for (size_t i = 0; i < len;) {
		size_t plain = jsonw_plain(text + i, len - i), step;
		uint32_t c;

		str_add_bytes(out, text + i, plain);
		i += plain;
		if (i == len)
			break;
		step = str_next(text + i, len - i, &c);
		if (c == '"' || c == '\\') {
			str_add_char(out, '\\');
			str_add_char(out, (char)c);
		} else if (c >= '\b' && c <= '\r' && c != '\v') {
			str_add_char(out, '\\');
			str_add_char(out, names[c - '\b']);
		} else if (str_is_shown(c)) {
			str_add_bytes(out, text + i, step);
		} else {
			jsonw_escape(out, c == STR_NO_POINT ? 0xfffd : c);
		}
		i += step;
	}
	str_add_char(out, '"');
}

void jsonw_key(struct jsonw *w, const char *key)
{
	jsonw_before(w);
	jsonw_quote(w->out, key, strlen(key));
	str_add(w->out, w->compact ? ":" : ": ");
	w->after_key = true;
}

void jsonw_text_bytes(struct jsonw *w, const char *text, size_t len)
{
	jsonw_before(w);
	jsonw_quote(w->out, text, len);
}

void jsonw_text(struct jsonw *w, const char *text)
{
	if (text)
		jsonw_text_bytes(w, text, strlen(text));
	else
		jsonw_null(w);
}

void jsonw_u64(struct jsonw *w, uint64_t value)
{
	jsonw_before(w);
	str_add_number(w->out, value, 10, 0);
}

void jsonw_i64(struct jsonw *w, int64_t value)
{
	jsonw_before(w);
	str_addf(w->out, "%lld", (long long)value);
}

void jsonw_double(struct jsonw *w, double value)
{
	char text[40];

	if (!isfinite(value)) {
		jsonw_null(w);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	jsonw_before(w);
	str_add(w->out, text);
}

void jsonw_bool(struct jsonw *w, bool value)
{
	jsonw_before(w);
	str_add(w->out, value ? "true" : "false");
}

void jsonw_null(struct jsonw *w)
{
	jsonw_before(w);
	str_add(w->out, "null");
}

void jsonw_open_object(struct jsonw *w, const char *key)
{
	jsonw_key(w, key);
	jsonw_begin_object(w);
}

void jsonw_open_array(struct jsonw *w, const char *key)
{
	jsonw_key(w, key);
	jsonw_begin_array(w);
}

void jsonw_put_text(struct jsonw *w, const char *key, const char *text)
{
	jsonw_key(w, key);
	jsonw_text(w, text);
}

void jsonw_put_u64(struct jsonw *w, const char *key, uint64_t value)
{
	jsonw_key(w, key);
	jsonw_u64(w, value);
}

void jsonw_put_i64(struct jsonw *w, const char *key, int64_t value)
{
	jsonw_key(w, key);
	jsonw_i64(w, value);
}

void jsonw_put_double(struct jsonw *w, const char *key, double value)
{
	jsonw_key(w, key);
	jsonw_double(w, value);
}

void jsonw_put_bool(struct jsonw *w, const char *key, bool value)
{
	jsonw_key(w, key);
	jsonw_bool(w, value);
}

void jsonw_put_missing(struct jsonw *w, const char *key, const char *reason)
{
	char sibling[96];

	snprintf(sibling, sizeof(sibling), "%s_reason", key);
	jsonw_key(w, key);
	jsonw_null(w);
	jsonw_put_text(w, sibling, reason);
}

void jsonw_put_number(struct jsonw *w, const char *key, double value, const char *reason)
{
	if (isfinite(value))
		jsonw_put_double(w, key, value);
	else
		jsonw_put_missing(w, key, reason);
}

void jsonw_put_known_number(
	struct jsonw *w, const char *key, bool known, double value, const char *reason)
{
	jsonw_put_number(w, key, known ? value : (double)NAN, reason);
}

void jsonw_put_text_or(struct jsonw *w, const char *key, const char *text, const char *reason)
{
	if (text)
		jsonw_put_text(w, key, text);
	else
		jsonw_put_missing(w, key, reason);
}

void jsonw_put_known(
	struct jsonw *w, const char *key, bool known, uint64_t value, const char *reason)
{
	if (known)
		jsonw_put_u64(w, key, value);
	else
		jsonw_put_missing(w, key, reason);
}

void jsonw_put_count(struct jsonw *w, const char *key, uint64_t value, const char *reason)
{
	jsonw_put_known(w, key, value, value, reason);
}

void jsonw_put_texts(struct jsonw *w, const char *key, const char *const *texts, size_t count)
{
	jsonw_open_array(w, key);
	for (size_t i = 0; i < count; i++)
		jsonw_text(w, texts[i]);
	jsonw_end_array(w);
}
