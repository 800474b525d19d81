/* words.c - see words.h.
 *
 * A word is never longer than the text it comes from, so all of them fit in one piece of that size;
 * quotes open and close within a word, as in a"b c"d.  $'...' is what assay itself writes for words
 * with newlines and other controls. */
#include "base/words.h"

#include <errno.h>
#include <string.h>

struct splitter {
	const char *at;
	char *out;    /* where the next character of a word goes */
	bool in_word; /* also after an empty pair of quotes */
	char quote;   /* that is open, 0: none */
	bool escaped; /* it is that of $'...' */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Within "..." a backslash is itself unless it stands before one of these. */
static bool escapes(char quote, char next)
{
	return quote != '"' || (next && strchr("$`\"\\\n", next));
}

/* What stands behind a backslash in $'...'; what is no escape stays with its backslash. */
static void escape_take(struct splitter *s)
{
	static const char names[] = "abefnrtv\\'\"", values[] = "\a\b\033\f\n\r\t\v\\'\"";
	const char *found = *s->at ? strchr(names, *s->at) : NULL;
	unsigned value = 0, digits = 0;

	if (found) {
		*s->out++ = values[found - names];
		s->at++;
		return;
	}
	for (; digits < 3 && *s->at >= '0' && *s->at <= '7'; digits++)
		value = value * 8 + (unsigned)(*s->at++ - '0');
	if (!digits)
		*s->out++ = '\\';
	else if (value & 0xff) /* no word holds a zero byte */
		*s->out++ = (char)value;
}

static int step(struct splitter *s, const char *text, struct err *err)
{
	char c = *s->at++;

	if (c == s->quote) {
		s->quote = 0;
		s->escaped = false;
	} else if (s->escaped && c == '\\' && *s->at) {
		escape_take(s);
	} else if (s->quote == '\'' || (c != '\\' && s->quote)) {
		*s->out++ = c;
	} else if (c == '\\' && !*s->at) {
		err_set(err, ERR_USAGE, EINVAL, "the command ends with a backslash: %.200s", text);
		err_hint(err, "write \\\\ for a backslash");
		return -EINVAL;
	} else if (c == '\\' && escapes(s->quote, *s->at)) {
		if (*s->at != '\n') /* a line goes on behind it */
			*s->out++ = *s->at;
		s->in_word |= *s->at != '\n';
		s->at++;
		return 0;
	} else if (!s->quote && (c == '\'' || c == '"')) {
		s->quote = c;
	} else if (!s->quote && c == '$' && *s->at == '\'') {
		s->quote = *s->at++;
		s->escaped = true;
	} else {
		*s->out++ = c;
	}
	s->in_word = true;
	return 0;
}

static int word_take(struct splitter *s, const char *text, struct err *err)
{
	int r = 0;

	s->in_word = false;
	while (r >= 0 && *s->at && (s->quote || !is_blank(*s->at)))
		r = step(s, text, err);
	if (r >= 0 && s->quote) {
		err_set(err, ERR_USAGE, EINVAL, "a %c is not closed: %.200s", s->quote, text);
		err_hint(err, "close it, or write \\%c for the character itself", s->quote);
		r = -EINVAL;
	}
	*s->out++ = '\0';
	return r;
}

int words_split(const char *text, struct arena *arena, char ***ret_words, size_t *ret_count,
	struct err *err)
{
	size_t len = strlen(text), count = 0;
	struct splitter s = {.at = text, .out = arena_take(arena, 2 * len + 2)};
	char **words = arena_take(arena, (len / 2 + 2) * sizeof(*words));

	for (;;) {
		char *word = s.out;
		int r;

		while (is_blank(*s.at))
			s.at++;
		if (!*s.at)
			break;
		r = word_take(&s, text, err);
		if (r < 0)
			return r;
		if (s.in_word)
			words[count++] = word;
	}
	if (!count) {
		err_set(err, ERR_USAGE, EINVAL, "a command is empty");
		err_hint(err, "write the program and its words, in quotes: 'sleep 0.1'");
		return -EINVAL;
	}
	*ret_words = words;
	if (ret_count)
		*ret_count = count;
	return 0;
}

char words_need_shell(const char *text)
{
	char quote = 0;
	bool escaped = false;

	for (; *text; text++) {
		if (*text == '\\' && (quote != '\'' || escaped) && text[1])
			text++;
		else if (quote && *text == quote)
			quote = 0, escaped = false;
		else if (!quote && text[0] == '$' && text[1] == '\'')
			quote = *++text, escaped = true;
		else if (!quote && (*text == '\'' || *text == '"'))
			quote = *text;
		else if (strchr("$`", *text) && quote != '\'')
			return *text;
		else if (!quote && strchr("|&;<>*?(", *text))
			return *text;
	}
	return 0;
}

/* $'...': one line, and nothing in it moves a cursor or hides. */
static void quote_controls(const char *word, struct str *out)
{
	size_t left = strlen(word), step;
	uint32_t point;

	str_add(out, "$'");
	for (; left; word += step, left -= step) {
		step = str_next(word, left, &point);
		if (point == '\n' || point == '\t')
			str_add(out, point == '\n' ? "\\n" : "\\t");
		else if (point == '\'' || point == '\\')
			str_addf(out, "\\%c", *word);
		else if (str_is_shown(point))
			str_add_bytes(out, word, step);
		else
			for (size_t i = 0; i < step; i++)
				str_addf(out, "\\%03o", (unsigned char)word[i]);
	}
	str_add_char(out, '\'');
}

void word_quote(const char *word, struct str *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:@%+=,";

	if (*word && strspn(word, plain) == strlen(word)) {
		str_add(out, word);
		return;
	}
	if (!str_is_plain(word)) {
		quote_controls(word, out);
		return;
	}
	str_add_char(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			str_add(out, "'\\''");
		else
			str_add_char(out, *word);
	str_add_char(out, '\'');
}

void words_quote(char *const *words, struct str *out)
{
	for (char *const *word = words; *word; word++) {
		str_add(out, word == words ? "" : " ");
		word_quote(*word, out);
	}
}

const char *word_quoted(const char *word, struct arena *arena)
{
	str_auto struct str out = {0};

	word_quote(word, &out);
	return arena_text(arena, out.at, out.len);
}

int words_to_flags(const char *text, uint64_t (*flags_of)(const char *word, size_t len),
	const char *what, const char *choices, uint64_t *ret_flags, struct err *err)
{
	uint64_t flags = 0;

	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		uint64_t more = flags_of(at, len);

		if (!more) {
			err_set(err, ERR_USAGE, EINVAL, "unknown %s '%.*s'", what,
				len < 40 ? (int)len : 40, at);
			return err_hint(err, "%s", choices);
		}
		flags |= more;
		at += len;
		if (!*at)
			break;
	}
	*ret_flags = flags;
	return 0;
}
