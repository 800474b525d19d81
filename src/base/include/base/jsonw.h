/* jsonw.h - a streaming JSON writer into a str.
 *
 * Commas and indentation are its own business.  Text that is not UTF-8 is written with U+FFFD in
 * place of each bad byte, so the document is always valid.  A number that is not finite is null.
 * (Named jsonw_ because libjansson, which we read JSON with, owns json_.) */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct jsonw {
	struct str *out;
	unsigned depth;
	bool has_items; /* the container being written has a member already */
	bool after_key;
	bool compact; /* one line, no blanks */
};

void jsonw_begin_object(struct jsonw *w);
void jsonw_end_object(struct jsonw *w);
void jsonw_begin_array(struct jsonw *w);
void jsonw_end_array(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);

void jsonw_text(struct jsonw *w, const char *text); /* NULL writes null */
void jsonw_text_bytes(struct jsonw *w, const char *text, size_t len);
void jsonw_u64(struct jsonw *w, uint64_t value);
void jsonw_i64(struct jsonw *w, int64_t value);
void jsonw_double(struct jsonw *w, double value); /* shortest text that reads back the same */
void jsonw_bool(struct jsonw *w, bool value);
void jsonw_null(struct jsonw *w);

/* "key": value, in one call. */
void jsonw_put_text(struct jsonw *w, const char *key, const char *text);
void jsonw_put_u64(struct jsonw *w, const char *key, uint64_t value);
void jsonw_put_i64(struct jsonw *w, const char *key, int64_t value);
void jsonw_put_double(struct jsonw *w, const char *key, double value);
void jsonw_put_bool(struct jsonw *w, const char *key, bool value);

/* "key": [...], an array of texts. */
void jsonw_put_texts(struct jsonw *w, const char *key, const char *const *texts, size_t count);

/* "key": { or [, to be ended as one that was begun. */
void jsonw_open_object(struct jsonw *w, const char *key);
void jsonw_open_array(struct jsonw *w, const char *key);

/* "key": null, "key_reason": reason - what was not measured says why. */
void jsonw_put_missing(struct jsonw *w, const char *key, const char *reason);

/* A number, or the reason why there is none (NAN, infinite). */
void jsonw_put_number(struct jsonw *w, const char *key, double value, const char *reason);
void jsonw_put_known_number(
	struct jsonw *w, const char *key, bool known, double value, const char *reason);
/* The same for a text (NULL), a count (0), and a count that is known or not. */
void jsonw_put_text_or(struct jsonw *w, const char *key, const char *text, const char *reason);
void jsonw_put_count(struct jsonw *w, const char *key, uint64_t value, const char *reason);
void jsonw_put_known(
	struct jsonw *w, const char *key, bool known, uint64_t value, const char *reason);
