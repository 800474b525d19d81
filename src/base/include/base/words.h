/* words.h - a command line as one text, and its words.
 *
 * Splits as a shell does: blanks and newlines part, '...' "..." $'...' and \ keep together.  Does
 * not: expand variables, globs, ~ or run anything; a word that asks a shell for more ($HOME, *.c,
 * a | b) is passed on as it stands, and words_need_shell() says so.  Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* The words of `text` in `arena`, NULL-terminated; `ret_count` may be NULL.  -EINVAL when a quote
 * is not closed, a backslash stands at the end, or there is no word. */
int words_split(const char *text, struct arena *arena, char ***ret_words, size_t *ret_count,
	struct err *err);

/* The first character outside of quotes that only a shell understands (|, >, $, *...), 0: none. */
char words_need_shell(const char *text);

/* Append a word as a shell reads it back, on one line: quoted only where needed, and with $'...'
 * where it holds newlines or other controls.  The second gives it in `arena`. */
void word_quote(const char *word, struct str *out);
const char *word_quoted(const char *word, struct arena *arena);
/* Words up to NULL, with blanks between them. */
void words_quote(char *const *words, struct str *out);

/* The flags of a list with commas: `flags_of` says those of a word, 0 for one that it does not
 * know, which is refused as "unknown WHAT 'word'" with `choices` as the way out. */
int words_to_flags(const char *text, uint64_t (*flags_of)(const char *word, size_t len),
	const char *what, const char *choices, uint64_t *ret_flags, struct err *err);
