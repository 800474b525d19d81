/* stat.h - the answer of `assay stat` as text, for agents and as JSON.  Computes nothing. */
#pragma once

#include "analyze/stat.h"
#include "base/jsonw.h"
#include "render/paper.h"

void stat_text(struct paper *paper, const struct stat_view *view);
void stat_agent(struct paper *paper, const struct stat_view *view);

/* The members of "data". */
void stat_json(struct jsonw *w, const struct stat_view *view);

/* Of these only "events", "metrics" and "intervals", for counts that come from elsewhere. */
void stat_json_counts(struct jsonw *w, const struct stat_view *view);

/* One line of an interval while the target still runs. */
void stat_interval_text(
	struct paper *paper, const struct stat_view *view, const struct stat_interval *interval);
