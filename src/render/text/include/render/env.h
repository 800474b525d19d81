/* env.h - fingerprints and their differences as text, and as few lines for agents.
 *
 * Everything shown is in the views of analyze; nothing is computed here. */
#pragma once

#include "analyze/fingerprint.h"

struct paper;

void env_text(struct paper *paper, const struct fingerprint_view *view);
void env_agent(struct paper *paper, const struct fingerprint_view *view);

/* `a` and `b` are what the user called the two sides. */
struct env_diff {
	const struct fingerprint_comparison *comparison;
	const char *a, *b;
};

void env_diff_text(struct paper *paper, const struct env_diff *diff);
void env_diff_agent(struct paper *paper, const struct env_diff *diff);

/* Why a field has no value. */
const char *env_state_word(enum fingerprint_state state);
