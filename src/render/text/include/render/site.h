/* site.h - what the pages of `assay branches` and `assay cache` share. */
#pragma once

#include "analyze/site_place.h"
#include "analyze/site_summary.h"
#include "render/paper.h"

/* "prog.c:12 work", "work", "[libc.so.6] 0x1234": in about `columns`. */
void site_place_add(struct str *out, const struct site_place *place, unsigned columns);

/* The rates of the whole program; those without a value in one line below. */
void site_metrics_table(struct paper *paper, const struct site_summary *summary);
void site_metrics_agent(struct paper *paper, const struct site_summary *summary);

/* The name of the target, and what is not said by the numbers: simulated, user side only. */
void site_head_text(struct paper *paper, const struct site_summary *summary);
void site_head_agent(struct paper *paper, const struct site_summary *summary);

/* How many of the sites the table shows, unless all. */
void site_limit_line(struct paper *paper, uint32_t limit, uint32_t all);

void site_metric_name(struct str *out, const struct metric_result *row);
void site_metric_value(struct str *out, const struct metric_result *row);
