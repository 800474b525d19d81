/* diff_parts.h - the part of `assay diff` that is about counts. */
#pragma once

#include "analyze/diff_counts.h"
#include "render/paper.h"

void diff_counts_text(struct paper *paper, const struct diff_counts_view *view);
void diff_counts_agent(struct paper *paper, const struct diff_counts_view *view);
