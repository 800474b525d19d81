/* shorten.c - see shorten.h.
 *
 * What a reader needs of a C++ or Rust name is its path and the function; arguments and template
 * arguments are long and repeat each other.  So brackets are emptied before anything else is cut.
 * "operator<", "operator()" and "->" hold brackets that are none. */
#include "render/shorten.h"

#include <string.h>

static size_t columns_of(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/* Bytes of the operator's name at the end of which normal reading goes on; 0: none starts here. */
static size_t operator_len(const char *at)
{
	static const char *const signs[] = {
		"<=>", "<<=", ">>=", "->*", "()", "<<", ">>", "<=", ">=", "->", "<", ">"};
	const size_t word = strlen("operator");

	if (strncmp(at, "operator", word) != 0)
		return 0;
	for (unsigned i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strncmp(at + word, signs[i], strlen(signs[i])) == 0)
			return word + strlen(signs[i]);
	return 0;
}

/* The bracket that closes the one at `open`, NULL when there is none. */
static const char *bracket_end(const char *open)
{
	char up = *open, down = up == '<' ? '>' : ')';
	unsigned depth = 0;

	for (const char *at = open; *at; at++) {
		size_t skip = operator_len(at);

		if (skip) {
			at += skip - 1;
		} else if (at[0] == '-' && at[1] == '>') {
			at++;
		} else if (*at == up) {
			depth++;
		} else if (*at == down && --depth == 0) {
			return at;
		}
	}
	return NULL;
}

/* Arguments stand last, or before " const" and the like; a bracket within the path ("(anonymous
 * namespace)::", "{closure}") does not. */
static bool is_arguments(const char *close)
{
	return close[1] != ':' && close[1] != '(';
}

/* Copy `name`, with every bracket of the kind `up` emptied that is not empty already. */
static void empty_brackets(const char *name, char up, struct str *out)
{
	for (const char *at = name; *at; at++) {
		size_t skip = operator_len(at);
		const char *end = !skip && *at == up ? bracket_end(at) : NULL;

		if (skip) {
			str_add_bytes(out, at, skip);
			at += skip - 1;
		} else if (end && end - at > 3 && at != name && (up == '<' || is_arguments(end))) {
			str_add_char(out, up);
			str_add(out, "..");
			at = end - 1;
		} else {
			str_add_char(out, *at);
		}
	}
}

static const char *skip_columns(const char *text, size_t columns)
{
	while (*text && columns) {
		text++;
		while (((unsigned char)*text & 0xc0) == 0x80)
			text++;
		columns--;
	}
	return text;
}

/* Two fifths of the start, then "..", then the end. */
static void cut_middle(const char *text, size_t have, unsigned columns, struct str *out)
{
	size_t head = (columns - 2) * 2 / 5, tail = columns - 2 - head;
	const char *head_end = skip_columns(text, head);

	str_add_bytes(out, text, (size_t)(head_end - text));
	str_add(out, "..");
	str_add(out, skip_columns(text, have - tail));
}

void name_shorten(const char *name, unsigned columns, struct str *out)
{
	str_auto struct str plain = {0}, bare = {0};
	const char *best = name;

	if (columns_of(best, strlen(best)) > columns) {
		empty_brackets(name, '(', &plain);
		best = str_text(&plain);
	}
	if (columns_of(best, strlen(best)) > columns) {
		empty_brackets(best, '<', &bare);
		best = str_text(&bare);
	}
	if (columns_of(best, strlen(best)) > columns)
		cut_middle(best, columns_of(best, strlen(best)), columns < 8 ? 8 : columns, out);
	else
		str_add(out, best);
}

void path_shorten(const char *path, unsigned columns, struct str *out)
{
	size_t have = columns_of(path, strlen(path));
	const char *from, *slash;

	if (have <= columns) {
		str_add(out, path);
		return;
	}
	from = skip_columns(path, have - (columns > 4 ? columns - 2 : 2));
	slash = strchr(from, '/');
	str_addf(out, "..%s", slash && slash[1] ? slash : from);
}

void words_shorten(const char *words, unsigned columns, struct str *out)
{
	size_t from = out->len;

	if (columns_of(words, strlen(words)) > columns) {
		str_add_bytes(out, words, (size_t)(skip_columns(words, columns - 3) - words));
		str_add(out, " ..");
	} else {
		str_add(out, words);
	}
	if (out->len > from)
		str_flatten(out->at + from);
}
