/* round.h - the loop that closes: what moved since the run before, and all rounds so far.
 * Computes nothing. */
#pragma once

#include "analyze/round.h"
#include "render/paper.h"

void round_text(struct paper *paper, const struct round_view *view);
void round_agent(struct paper *paper, const struct round_view *view); /* three lines */

/* The words of all forms: how the last promise did, what else moved, whether the machine is the
 * same. */
void round_promise_words(struct str *out, const struct round_view *view);
const char *round_no_promise(const struct round_view *view); /* why there is none */
void round_moved_words(struct str *out, const struct round_view *view);
void round_machine_words(struct str *out, const struct round_view *view);
