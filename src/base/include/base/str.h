/* str.h - a growing text, and small questions about texts.
 *
 * `at` is always NUL-terminated once anything was added (and "" through str_text). Zero-initialised
 * is ready.  Owns its bytes. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *at;
	size_t len;
	size_t capacity;
};

void str_add(struct str *str, const char *text);
void str_add_bytes(struct str *str, const char *bytes, size_t len);
void str_add_char(struct str *str, char c);
void str_add_repeat(struct str *str, char c, size_t count);
void str_addf(struct str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_addv(struct str *str, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* A number in base 10 or 16, blanks before it up to `width`: ten times faster than str_addf(). */
void str_add_number(struct str *str, uint64_t value, unsigned base, unsigned width);
/* 1234567.8 as "1,234,568"; from 1e15 on as "1.23e+15". */
void str_add_grouped(struct str *str, double value);
/* The text as SQL writes it, in '...'; one that is not plain by its bytes. */
void str_add_sql(struct str *str, const char *text);
void str_clear(struct str *str); /* empty, keeps its memory */
void str_done(struct str *str);
#define str_auto __attribute__((cleanup(str_done)))

/* The text, "" when nothing was added; valid until the next change. */
const char *str_text(const struct str *str);

bool str_equal(const char *a, const char *b);
bool str_same(const char *a, const char *b); /* NULL is like NULL only */
bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);

/* The text, NULL when it is empty. */
const char *str_or_null(const char *text);

/* Where `word` is among `words` (a gap is NULL); `count` when it is none of them. */
unsigned str_index(const char *const *words, unsigned count, const char *word);

/* Cut white space at both ends, in place; returns the new start. */
char *str_trim(char *text);

/* Texts of others (names, paths, what a target wrote) may hold anything.  Not shown are control
 * characters (C0, DEL, C1), what reorders or hides text (bidi overrides, marks and isolates, zero
 * width spaces, tags) and bytes that are no UTF-8; letters of all scripts are, with the joiners
 * U+200C and U+200D that some of them need. */
enum { STR_NO_POINT = UINT32_MAX };
/* Length of the character at `bytes` (of which `left` > 0 are there) and its code point; a byte
 * that is no UTF-8 is one character, STR_NO_POINT. */
size_t str_next(const char *bytes, size_t left, uint32_t *ret_point);
bool str_is_shown(uint32_t point);
bool str_is_plain(const char *text); /* all of it is shown */
/* How many bytes at the start are ASCII that is shown: the fast way through most texts. */
size_t str_ascii_length(const char *bytes, size_t len);
/* The text as one line: '?' for what is not shown, a blank for a line break.  Tabs stay. */
void str_add_line(struct str *str, const char *text, size_t len);
/* The same in place; tabs are blanks too. */
void str_flatten(char *text);

/* str_addv() where `filter` adds each argument of a %s: the format is ours, they are not. */
typedef void str_filter(struct str *str, const char *text, size_t len);
void str_filterv(struct str *str, str_filter *filter, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* Whole number in `text` (base 10, or 16 with 0x), nothing left over.  0, or -EINVAL / -ERANGE. */
int str_to_u64(const char *text, uint64_t *ret_value);

/* "25s", "2m", "500ms", "10us", "3h" or plain seconds "1.5" in nanoseconds.  0 or -EINVAL. */
int str_to_duration(const char *text, uint64_t *ret_ns);

/* The word in `words` (NULL-terminated) nearest to `text`, NULL when none is near enough to be
 * what was meant. */
const char *str_nearest(const char *text, const char *const *words);

/* Length of the UTF-8 sequence at `bytes` (of which `left` > 0 are there), 0 when it is not one
 * (RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF). */
size_t str_utf8_length(const char *bytes, size_t left);
