/* harness.h - the answer of `assay harness`: what was written, and what to type now. */
#pragma once

#include "analyze/harness.h"
#include "render/paper.h"

/* For people and agents; steps without a line are left out. */
void harness_text(struct paper *paper, const struct harness_view *view);
