/* record.h - the answer of `assay record` as text and for agents.  Computes nothing. */
#pragma once

#include "analyze/record.h"
#include "render/paper.h"

void record_text(struct paper *paper, const struct record_view *view);
void record_agent(struct paper *paper, const struct record_view *view);
