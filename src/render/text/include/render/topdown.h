/* topdown.h - the answer of `assay topdown` as text and for agents.  Computes nothing. */
#pragma once

#include "analyze/topdown.h"
#include "render/paper.h"

void topdown_text(struct paper *paper, const struct topdown_view *view);
void topdown_agent(struct paper *paper, const struct topdown_view *view);
