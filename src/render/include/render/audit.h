/* audit.h - the answer of `assay audit`: text, for agents, JSON.  Computes nothing. */
#pragma once

#include "analyze/audit.h"
#include "base/jsonw.h"
#include "render/paper.h"

void audit_text(struct paper *paper, const struct audit_view *view);
void audit_agent(struct paper *paper, const struct audit_view *view);

/* The members of "data". */
void audit_json(struct jsonw *w, const struct audit_view *view);
