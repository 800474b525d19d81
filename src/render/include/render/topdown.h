/* topdown.h - the answer of `assay topdown` as text, for agents, as JSON and as a report.  Computes
 * nothing. */
#pragma once

#include "analyze/topdown.h"
#include "base/jsonw.h"
#include "render/paper.h"

void topdown_text(struct paper *paper, const struct topdown_view *view);
void topdown_agent(struct paper *paper, const struct topdown_view *view);

/* The members of "data". */
void topdown_json(struct jsonw *w, const struct topdown_view *view);

/* A fact of the machine for the report. */
struct topdown_fact {
	const char *name, *value;
};

/* The whole report as Markdown; `facts` ends with a row without a name. */
void topdown_markdown(
	struct str *out, const struct topdown_view *view, const struct topdown_fact *facts);
