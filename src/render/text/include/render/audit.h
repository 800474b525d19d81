/* audit.h - the answer of `assay audit`: text, and for agents.  Computes nothing. */
#pragma once

#include "analyze/audit.h"
#include "render/paper.h"

void audit_text(struct paper *paper, const struct audit_view *view);
void audit_agent(struct paper *paper, const struct audit_view *view);
