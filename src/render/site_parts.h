/* site_parts.h - what the pages of `assay branches` and `assay cache` share. */
#pragma once

#include "analyze/site_place.h"
#include "analyze/site_summary.h"
#include "base/jsonw.h"
#include "render/paper.h"

/* "prog.c:12 work", "work", "[libc.so.6] 0x1234": in about `columns`. */
void site_place_add(struct str *out, const struct site_place *place, unsigned columns);
void site_place_json(struct jsonw *w, const char *key, const struct site_place *place);

/* The rates of the whole program; those without a value in one line below. */
void site_metrics_table(struct paper *paper, const struct site_summary *summary);
void site_metrics_agent(struct paper *paper, const struct site_summary *summary);
void site_metrics_markdown(struct str *out, const struct site_summary *summary);

/* "target", "engine", "arch", "user_only", "metrics". */
void site_head_json(struct jsonw *w, const struct site_summary *summary);

/* The name of the target, and what is not said by the numbers: simulated, user side only. */
void site_head_text(struct paper *paper, const struct site_summary *summary);

/* "# Title", target, machine and engine. */
void site_head_markdown(struct str *out, const char *title, const struct site_summary *summary);

void site_number_json(struct jsonw *w, const char *key, double value, const char *reason);

enum ink site_assessment_ink(enum metric_assessment assessment);
