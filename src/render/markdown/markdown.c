/* markdown.c - see markdown.h.
 *
 * Words that Markdown, HTML or GitHub would read as theirs (a tag, a link, an emphasis, a mention)
 * become code spans.  The file can still be read as it is, and nothing in a span means anything. */
#include "render/markdown.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static size_t longest_ticks(const char *text, size_t len)
{
	size_t longest = 0, row = 0;

	for (size_t i = 0; i < len; i++) {
		row = text[i] == '`' ? row + 1 : 0;
		longest = row > longest ? row : longest;
	}
	return longest;
}

/* One span; a bar in a table is \|. */
static void add_span(struct str *out, const char *text, size_t len, bool in_table)
{
	size_t ticks = longest_ticks(text, len);

	if (out->len && out->at[out->len - 1] == '`')
		str_add_char(out, ' '); /* the ticks of two spans would be one row */
	str_add_repeat(out, '`', ticks + 1);
	str_add(out, ticks || !len ? " " : "");
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '|' && in_table)
			str_add_char(out, '\\');
		str_add_char(out, text[i]);
	}
	str_add(out, ticks ? " " : "");
	str_add_repeat(out, '`', ticks + 1);
}

void markdown_code(struct str *out, const char *text, bool in_table)
{
	str_auto struct str line = {0};
	const char *at, *bar;

	str_add_line(&line, text, strlen(text));
	at = str_text(&line);
	/* GitHub reads \\| as a backslash and the end of the cell: that bar stands between spans.
	 */
	for (; in_table && (bar = strstr(at, "\\|")); at = bar + 2) {
		add_span(out, at, (size_t)(bar + 1 - at), true);
		str_add(out, "&#124;");
	}
	if (*at || at == str_text(&line))
		add_span(out, at, strlen(at), in_table);
}

/* ---- text ---- */

/* A character of a word that means nothing where it stands. */
static bool is_plain(const char *word, size_t at)
{
	unsigned char before = at ? (unsigned char)word[at - 1] : ' ';
	unsigned char next = (unsigned char)word[at + 1];

	switch (word[at]) {
	case '<': /* a tag, a comment, a link */
		return !isalpha(next) && !strchr("/!?", next ? next : '/');
	case '&':
		return !isalnum(next) && next != '#';
	case '_': /* within a word it is a letter */
		return isalnum(before) && isalnum(next);
	case '*':
		return !at && next == ' '; /* times */
	case '#':
		return at && !isdigit(next);
	case ':':
		return next != '/';
	case '.':
		return at < 3 || strncasecmp(word + at - 3, "www", 3) != 0;
	default:
		return !strchr("[]`~@\\|$", word[at]);
	}
}

/* `...` as our own sentences write commands: bytes with both ticks, 0 where there is none. */
static size_t span_len(const char *text)
{
	const char *end = *text == '`' && text[1] != '`' ? strchr(text + 1, '`') : NULL;

	return end && end[1] != '`' ? (size_t)(end - text) + 1 : 0;
}

/* Bytes of the word at the start of `text`, and whether it is plain. */
static size_t word_len(const char *text, bool *ret_plain)
{
	size_t len = 0;

	*ret_plain = true;
	for (; text[len] && text[len] != ' ' && text[len] != '\t' && !span_len(text + len); len++)
		*ret_plain = *ret_plain && is_plain(text, len);
	return len;
}

static void add_code(struct str *out, const char *text, size_t len, bool in_table)
{
	str_auto struct str code = {0};

	str_add_bytes(&code, text, len);
	markdown_code(out, str_text(&code), in_table);
}

/* 1 and -1 for the brackets of a template; << opens none. */
static int bracket_of(const char *text, size_t at)
{
	if (text[at] == '<')
		return text[at + 1] != '<' && (!at || text[at - 1] != '<');
	return text[at] == '>' ? -1 : 0;
}

/* The word at `text`, which is not plain, and those behind it up to the last > of a template;
 * without the stops at the end. */
static size_t odd_words_len(const char *text)
{
	size_t len = 0;
	int open = 0;
	bool plain;

	do {
		size_t from = len + (len && text[len] == ' ');

		len = from + word_len(text + from, &plain);
		for (size_t i = from; i < len; i++)
			open += bracket_of(text, i);
	} while (open > 0 && text[len] == ' ' && text[len + 1] && text[len + 1] != '`');
	while (len > 1 && strchr(" ,;:.", text[len - 1]))
		len--;
	return len;
}

static void add_words(struct str *out, const char *text, bool in_table)
{
	if (*text == '>') /* a quotation, where a paragraph starts with it */
		str_add_char(out, '\\');
	while (*text) {
		size_t span = span_len(text), len;
		bool plain;

		if (span) {
			add_code(out, text + 1, span - 2, in_table);
			text += span;
			continue;
		}
		len = word_len(text, &plain);
		if (!len)
			str_add_char(out, *text); /* a blank */
		else if (plain)
			str_add_bytes(out, text, len);
		else
			add_code(out, text, len = odd_words_len(text), in_table);
		text += len ? len : 1;
	}
}

static void filter_text(struct str *out, const char *text, size_t len)
{
	str_auto struct str line = {0};

	str_add_line(&line, text, len);
	add_words(out, str_text(&line), false);
}

static void filter_cell(struct str *out, const char *text, size_t len)
{
	str_auto struct str line = {0};

	str_add_line(&line, text, len);
	add_words(out, str_text(&line), true);
}

void markdown_add(struct str *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	str_filterv(out, filter_text, format, args);
	va_end(args);
}

void markdown_add_cells(struct str *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	str_filterv(out, filter_cell, format, args);
	va_end(args);
}

void markdown_row(struct str *out, const char *name, const char *text, const char *none)
{
	markdown_add_cells(out, "| %s | ", name);
	if (text && *text)
		markdown_code(out, text, true);
	else
		str_add(out, none);
	str_add(out, " |\n");
}
