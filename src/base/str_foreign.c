/* str_foreign.c - texts of others, made safe to show; see str.h.
 *
 * What may be shown is decided for each character in one place, so that a terminal, a report and an
 * exported file agree.  In a formatted text only the arguments are foreign: the text is formatted
 * once to find a byte that it does not hold, and again with that byte around each %s. */
#include "base/str.h"

#include <string.h>

size_t str_utf8_length(const char *bytes, size_t left)
{
	const unsigned char *at = (const unsigned char *)bytes;
	size_t len = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	unsigned char low = 0x80, high = 0xbf;

	if (!len || len > left || *at > 0xf4)
		return 0;
	if (*at == 0xe0)
		low = 0xa0;
	else if (*at == 0xed)
		high = 0x9f;
	else if (*at == 0xf0)
		low = 0x90;
	else if (*at == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < len; i++, low = 0x80, high = 0xbf)
		if (at[i] < low || at[i] > high)
			return 0;
	return len;
}

size_t str_next(const char *bytes, size_t left, uint32_t *ret_point)
{
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	size_t len = str_utf8_length(bytes, left);
	uint32_t point = (unsigned char)*bytes & first_bits[len];

	for (size_t i = 1; i < len; i++)
		point = point << 6 | ((unsigned char)bytes[i] & 0x3f);
	*ret_point = len ? point : STR_NO_POINT;
	return len ? len : 1;
}

bool str_is_shown(uint32_t point)
{
	static const struct {
		uint32_t from, to;
	} hidden[] = {{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, /* soft hyphen */
		{0x61c, 0x61c}, {0x180e, 0x180e},	     /* Arabic mark, Mongolian separator */
		{0x200b, 0x200b}, {0x200e, 0x200f},	     /* zero width space, direction marks */
		{0x2028, 0x202e},			     /* separators, embeddings, overrides */
		{0x2060, 0x206f}, {0xfeff, 0xfeff},	     /* isolates, what is invisible */
		{0xfff9, 0xfffb}, {0xe0000, 0xe0fff},	     /* annotations, tags */
		{STR_NO_POINT, STR_NO_POINT}};

	if (point >= 0x20 && point < 0x7f)
		return true;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (point >= hidden[i].from && point <= hidden[i].to)
			return false;
	return true;
}

size_t str_ascii_length(const char *bytes, size_t len)
{
	size_t i = 0;

	while (i < len && bytes[i] >= ' ' && bytes[i] < 0x7f)
		i++;
	return i;
}

static bool is_break(uint32_t point)
{
	return (point >= '\n' && point <= '\r') || point == 0x85 || point == 0x2028 ||
	       point == 0x2029;
}

void str_add_line(struct str *str, const char *text, size_t len)
{
	uint32_t point;
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		step = str_ascii_length(text + i, len - i);
		if (step) {
			str_add_bytes(str, text + i, step);
			continue;
		}
		step = str_next(text + i, len - i, &point);
		if (str_is_shown(point) || point == '\t')
			str_add_bytes(str, text + i, step);
		else
			str_add_char(str, is_break(point) ? ' ' : '?');
	}
}

bool str_is_plain(const char *text)
{
	size_t len = strlen(text);
	uint32_t point;

	for (size_t i = 0; i < len;) {
		i += str_next(text + i, len - i, &point);
		if (!str_is_shown(point))
			return false;
	}
	return true;
}

void str_add_sql(struct str *str, const char *text)
{
	if (!str_is_plain(text)) {
		str_add(str, "CAST(X'");
		for (; *text; text++)
			str_addf(str, "%02x", (unsigned char)*text);
		str_add(str, "' AS TEXT)");
		return;
	}
	str_add_char(str, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			str_add_char(str, '\'');
		str_add_char(str, *text);
	}
	str_add_char(str, '\'');
}

void str_flatten(char *text)
{
	const char *from = text, *end = text + strlen(text);
	uint32_t point;

	for (size_t step; from < end; from += step) {
		step = str_next(from, (size_t)(end - from), &point);
		if (str_is_shown(point)) {
			memmove(text, from, step);
			text += step;
		} else {
			*text++ = is_break(point) || point == '\t' ? ' ' : '?';
		}
	}
	*text = '\0';
}

/* A byte that the text does not hold, 0 when it holds all. */
static char byte_unused(const struct str *text)
{
	bool used[256] = {['%'] = true};

	for (size_t i = 0; i < text->len; i++)
		used[(unsigned char)text->at[i]] = true;
	for (unsigned i = 1; i < sizeof(used); i++)
		if (!used[i])
			return (char)i;
	return '\0';
}

/* The format with `mark` before and behind each conversion of a text. */
static const char *format_marked(const char *format, char mark, struct str *scratch)
	__attribute__((format_arg(1)));
static const char *format_marked(const char *format, char mark, struct str *scratch)
{
	while (*format) {
		size_t plain = strcspn(format, "%"), spec;

		str_add_bytes(scratch, format, plain);
		format += plain;
		if (!*format)
			break;
		spec = 1 + strspn(format + 1, "-+ #0123456789.*hlzjtL");
		spec += format[spec] != '\0';
		if (format[spec - 1] == 's')
			str_add_char(scratch, mark);
		str_add_bytes(scratch, format, spec);
		if (format[spec - 1] == 's')
			str_add_char(scratch, mark);
		format += spec;
	}
	return str_text(scratch);
}

void str_filterv(struct str *str, str_filter *filter, const char *format, va_list args)
{
	str_auto struct str text = {0}, scratch = {0};
	bool foreign = false;
	va_list again;
	char mark;

	va_copy(again, args);
	str_addv(&text, format, args);
	mark = byte_unused(&text);
	if (mark) {
		str_clear(&text);
		str_addv(&text, format_marked(format, mark, &scratch), again);
	} else {
		foreign = true; /* a text that holds every byte is nothing to read */
	}
	va_end(again);
	for (size_t from = 0, i = 0; i <= text.len; i++) {
		if (i < text.len && (!mark || text.at[i] != mark))
			continue;
		if (foreign)
			filter(str, text.at + from, i - from);
		else
			str_add_bytes(str, text.at + from, i - from);
		foreign = !foreign;
		from = i + 1;
	}
}
