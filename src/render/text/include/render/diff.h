/* diff.h - `assay diff` for terminals and agents. */
#pragma once

#include <stdint.h>

#include "analyze/diff_counts.h"
#include "analyze/diff_profile.h"
#include "render/paper.h"

struct diff_page {
	const char *a, *b; /* the paths */
	const struct diff_view *view;
	const struct diff_counts_view *counts; /* NULL: the runs have none */
	bool all;			       /* also what is not distinguishable */
	uint32_t limit;			       /* rows that are shown, 0: all */
};

void diff_text(struct paper *paper, const struct diff_page *page);
void diff_agent(struct paper *paper, const struct diff_page *page);
