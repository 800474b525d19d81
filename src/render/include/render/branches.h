/* branches.h - `assay branches` for terminals, agents, programs and as a report.  Computes nothing.
 */
#pragma once

#include "analyze/branches.h"
#include "analyze/site_summary.h"
#include "base/jsonw.h"
#include "render/paper.h"

struct branches_page {
	const struct branches_view *view;
	const struct site_summary *summary;
	uint32_t limit; /* sites that are shown, 0: all */
};

void branches_text(struct paper *paper, const struct branches_page *page);
void branches_agent(struct paper *paper, const struct branches_page *page);
void branches_json(struct jsonw *w, const struct branches_page *page);
void branches_markdown(struct str *out, const struct branches_page *page);
