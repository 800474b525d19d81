/* round.h - the loop that closes: what moved since the run before, and all rounds so far.
 * Computes nothing. */
#pragma once

#include "analyze/round.h"
#include "base/jsonw.h"
#include "render/paper.h"

void round_text(struct paper *paper, const struct round_view *view);
void round_agent(struct paper *paper, const struct round_view *view); /* three lines */
void round_json(struct jsonw *w, const struct round_view *view);      /* the members of "round" */
void round_markdown(struct str *out, const struct round_view *view);

/* HISTORY.md: a table for each program, in the order of the rounds. */
void history_markdown(struct str *out, const struct round_line_view *lines, uint32_t count);
