/* branches.h - `assay branches` for terminals and agents.  Computes nothing. */
#pragma once

#include "analyze/branches.h"
#include "analyze/site_summary.h"
#include "render/paper.h"

struct branches_page {
	const struct branches_view *view;
	const struct site_summary *summary;
	uint32_t limit; /* sites that are shown, 0: all */
};

void branches_text(struct paper *paper, const struct branches_page *page);
void branches_agent(struct paper *paper, const struct branches_page *page);

/* One sentence on where the sites come from, and how far to trust them. */
void branches_witness_add(struct str *out, const struct branches_view *view);
/* "prog.c:12 work -> lib.c:3 helper". */
void branches_place_add(struct str *out, const struct branch_site *site, unsigned columns);
void branches_rate(char *buf, size_t capacity, double rate); /* "1.25 %", "-": not known */
