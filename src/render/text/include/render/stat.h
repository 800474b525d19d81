/* stat.h - the answer of `assay stat` as text and for agents.  Computes nothing. */
#pragma once

#include "analyze/stat.h"
#include "render/paper.h"

/* Of a metric, in every table of them. */
enum ink metric_ink(enum metric_assessment assessment);

void stat_text(struct paper *paper, const struct stat_view *view);
void stat_agent(struct paper *paper, const struct stat_view *view);

/* One line of an interval while the target still runs. */
void stat_interval_text(
	struct paper *paper, const struct stat_view *view, const struct stat_interval *interval);
