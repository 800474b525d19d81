/* causal.h - what the program would gain: as text, for agents, and the sentences of all forms. */
#pragma once

#include "analyze/causal_view.h"
#include "render/paper.h"

void causal_text(struct paper *paper, const struct causal_view *view);
void causal_agent(struct paper *paper, const struct causal_view *view);

/* "making parse.c:142 25 % faster makes the program 10.4 % faster (8.9 to 11.9)"; "" when nothing
 * can be said. */
void causal_sentence(
	struct str *out, const struct causal_view *view, const struct causal_target_view *target);

/* What the work costs where no gain can be told: "a visit takes 1.2 ms of CPU time, of 5.0 ms from
 * one to the next"; "" otherwise. */
void causal_work_sentence(struct str *out, const struct causal_view *view);

/* Why the numbers may be wrong, and what to do; only the bad ones. */
void causal_doubt_sentence(struct str *out, const struct causal_guard *guard);

/* Why there is no answer, and the way to one. */
void causal_nothing(struct str *out, const struct causal_view *view);
