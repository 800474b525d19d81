/* target.h - a target view as text, for agents, and as JSON. */
#pragma once

#include "analyze/target.h"
#include "base/jsonw.h"
#include "render/paper.h"

/* The section of `assay doctor PROGRAM`: one row a fact, then what it costs and the way out. */
void target_text(struct paper *paper, const struct target_view *view);

/* At most a dozen plain lines: only what is not ok, and the way out. */
void target_agent(struct paper *paper, const struct target_view *view);

/* The value of "target": every fact, the libraries, and the rows as "findings". */
void target_json(struct jsonw *w, const struct target_view *view);
