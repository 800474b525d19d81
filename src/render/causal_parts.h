/* causal_parts.h - the sentences that text, Markdown and JSON share. */
#pragma once

#include "base/str.h"
#include "render/causal.h"

/* "making parse.c:142 25 % faster makes the program 10.4 % faster (8.9 to 11.9)"; "" when nothing
 * can be said. */
void causal_sentence(
	struct str *out, const struct causal_view *view, const struct causal_target_view *target);

/* Why the numbers may be wrong, and what to do; only the bad ones. */
void causal_doubt_sentence(struct str *out, const struct causal_guard *guard);

/* Why there is no answer, and the way to one. */
void causal_nothing(struct str *out, const struct causal_view *view);
