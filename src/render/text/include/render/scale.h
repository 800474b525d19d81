/* scale.h - the answer of `assay scale`: text with a chart, for agents, and the words of all
 * forms.  Computes nothing. */
#pragma once

#include "analyze/scale.h"
#include "render/paper.h"

void scale_text(struct paper *paper, const struct scale_view *view);
void scale_agent(struct paper *paper, const struct scale_view *view);

/* The verdict in one or two sentences, how sure it is, and what to do about it. */
void scale_verdict_words(const struct scale_view *view, struct str *out);
void scale_trust_words(const struct scale_view *view, struct str *out);
void scale_advice_words(const struct scale_view *view, struct str *out);
