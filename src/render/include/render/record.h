/* record.h - the answer of `assay record` as text, for agents and as JSON.  Computes nothing. */
#pragma once

#include "analyze/record.h"
#include "base/jsonw.h"
#include "render/paper.h"

void record_text(struct paper *paper, const struct record_view *view);
void record_agent(struct paper *paper, const struct record_view *view);

/* The members of "data". */
void record_json(struct jsonw *w, const struct record_view *view);
