/* str.c - see str.h. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SHORT_TEXT = 64 };

static void str_reserve(struct str *str, size_t more)
{
	size_t need = str->len + more + 1;

	if (need <= str->capacity)
		return;
	str->capacity = str->capacity * 2 > need ? str->capacity * 2 : need + 32;
	str->at = mem_resize(str->at, str->capacity, 1);
}

void str_add_bytes(struct str *str, const char *bytes, size_t len)
{
	str_reserve(str, len);
	if (len)
		memcpy(str->at + str->len, bytes, len);
	str->len += len;
	str->at[str->len] = '\0';
}

void str_add(struct str *str, const char *text)
{
	str_add_bytes(str, text, strlen(text));
}

void str_add_char(struct str *str, char c)
{
	str_add_bytes(str, &c, 1);
}

void str_add_repeat(struct str *str, char c, size_t count)
{
	str_reserve(str, count);
	memset(str->at + str->len, c, count);
	str->len += count;
	str->at[str->len] = '\0';
}

void str_addv(struct str *str, const char *format, va_list args)
{
	size_t left;
	va_list again;
	int len;

	va_copy(again, args);
	str_reserve(str, SHORT_TEXT); /* most fit, and are formatted once */
	left = str->capacity - str->len;
	len = vsnprintf(str->at + str->len, left, format, args);
	if (len > 0 && (size_t)len >= left) {
		str_reserve(str, (size_t)len);
		vsnprintf(str->at + str->len, (size_t)len + 1, format, again);
	}
	str->len += len > 0 ? (size_t)len : 0;
	va_end(again);
}

void str_add_grouped(struct str *str, double value)
{
	char digits[32];
	size_t len;

	if (!(fabs(value) < 1e15)) {
		str_addf(str, "%.4g", value);
		return;
	}
	snprintf(digits, sizeof(digits), "%.0f", fabs(value));
	len = strlen(digits);
	if (value < 0 && !str_equal(digits, "0"))
		str_add_char(str, '-');
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			str_add_char(str, ',');
		str_add_char(str, digits[i]);
	}
}

void str_addf(struct str *str, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	str_addv(str, format, args);
	va_end(args);
}

void str_add_number(struct str *str, uint64_t value, unsigned base, unsigned width)
{
	char digits[20], *at = digits + sizeof(digits);
	size_t len;

	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	len = (size_t)(digits + sizeof(digits) - at);
	if (len < width)
		str_add_repeat(str, ' ', width - len);
	str_add_bytes(str, at, len);
}

void str_clear(struct str *str)
{
	str->len = 0;
	if (str->at)
		str->at[0] = '\0';
}

void str_done(struct str *str)
{
	free(str->at);
	*str = (struct str){0};
}

const char *str_text(const struct str *str)
{
	return str->at ? str->at : "";
}

bool str_equal(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

bool str_same(const char *a, const char *b)
{
	return a && b ? str_equal(a, b) : a == b;
}

bool str_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *suffix)
{
	size_t len = strlen(text), end = strlen(suffix);

	return len >= end && memcmp(text + len - end, suffix, end) == 0;
}

unsigned str_index(const char *const *words, unsigned count, const char *word)
{
	unsigned i = 0;

	while (i < count && !(words[i] && str_equal(words[i], word)))
		i++;
	return i;
}

char *str_trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

int str_to_u64(const char *text, uint64_t *ret_value)
{
	int base = str_starts(text, "0x") || str_starts(text, "0X") ? 16 : 10;
	const char *digits = base == 16 ? text + 2 : text;
	unsigned long long value;
	char *end;

	if (base == 16 ? !isxdigit((unsigned char)*digits) : !isdigit((unsigned char)*digits))
		return -EINVAL;
	if (digits[0] == '0' && (digits[1] | 0x20) == 'x')
		return -EINVAL; /* strtoull would take "0x0x1" */
	errno = 0;
	value = strtoull(digits, &end, base);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int str_to_duration(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *suffix;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9},
		{"h", 3600e9}};
	double value;
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -EINVAL;
	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		return -EINVAL; /* strtod reads hexadecimal */
	value = strtod(text, &end);
	if (end == text || !isfinite(value) || value < 0)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!str_equal(end, units[i].suffix))
			continue;
		if (value * units[i].ns >= 9e18)
			return -EINVAL;
		*ret_ns = (uint64_t)(value * units[i].ns + 0.5);
		return 0;
	}
	return -EINVAL;
}

/* Levenshtein distance with swapped neighbours counted once; texts beyond 63 bytes are far. */
static unsigned str_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned rows[3][64];

	if (la > 63 || lb > 63)
		return 64;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3];
		const unsigned *earlier = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);

			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				earlier[j - 2] + 1 < best)
				best = earlier[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[la % 3][lb];
}

const char *str_nearest(const char *text, const char *const *words)
{
	const char *nearest = NULL;
	unsigned best = (unsigned)strlen(text) / 3 + 1;

	for (; *words; words++) {
		unsigned distance = str_distance(text, *words);

		if (strlen(text) >= 3 && str_starts(*words, text))
			distance = 1; /* a word begun and not finished */
		if (distance <= best && (!nearest || distance < best)) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}

const char *str_or_null(const char *text)
{
	return *text ? text : NULL;
}
