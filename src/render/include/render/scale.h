/* scale.h - the answer of `assay scale`: text with a chart, for agents, JSON, Markdown and SVG.
 * Computes nothing. */
#pragma once

#include "analyze/scale.h"
#include "base/jsonw.h"
#include "render/paper.h"

void scale_text(struct paper *paper, const struct scale_view *view);
void scale_agent(struct paper *paper, const struct scale_view *view);

/* The members of "data". */
void scale_json(struct jsonw *w, const struct scale_view *view);

/* scaling_law.md: verdict, table, how it was measured. */
void scale_markdown(struct str *out, const struct scale_view *view);

/* A picture that needs no other file, light or dark as the reader has it. */
void scale_svg(struct str *out, const struct scale_view *view);

/* The verdict in one or two sentences, how sure it is, and what to do about it. */
void scale_verdict_words(const struct scale_view *view, struct str *out);
void scale_trust_words(const struct scale_view *view, struct str *out);
void scale_advice_words(const struct scale_view *view, struct str *out);
