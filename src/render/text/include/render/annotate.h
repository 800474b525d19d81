/* annotate.h - the answer of `assay annotate` as text and for agents.  Adds up what it
 * leaves out of the page, so that the columns of what it shows still sum to the whole. */
#pragma once

#include "analyze/annotate.h"
#include "render/paper.h"

struct annotate_page {
	bool by_line; /* source lines, no instructions */
	bool all;     /* leave nothing out */
};

void annotate_text(
	struct paper *paper, const struct annotate_view *view, const struct annotate_page *page);
void annotate_agent(
	struct paper *paper, const struct annotate_view *view, const struct annotate_page *page);

/* The text of a source line, NULL when it is not there. */
const char *annotate_source(const struct annotate_view *view, uint32_t file, uint32_t line);
