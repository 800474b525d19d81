/* report.h - `assay report` for terminals and agents. */
#pragma once

#include <stdint.h>

#include "analyze/call_tree.h"
#include "analyze/profile.h"
#include "render/paper.h"

/* One of `profile` and `tree` is set. */
struct report_page {
	const char *path; /* of the run, for the next command */
	const struct profile_view *profile;
	const struct call_tree *tree; /* callers or callees, children in order of their total */
	const struct profile_quality *quality;
	const char *function; /* of the tree */
	bool callers;	      /* else callees */
	double min_share;     /* of the tree's nodes */
	uint32_t limit;	      /* nodes of the tree that are shown, 0: all */
};

void report_text(struct paper *paper, const struct report_page *page);
void report_agent(struct paper *paper, const struct report_page *page);

/* The line that stands above all numbers made from samples: how many, of what, how good. */
void quality_line(struct paper *paper, const struct profile_quality *quality);

/* A weight in its unit: "1.23 s", "12,345". */
char *weight_text(char *buf, size_t capacity, double weight, const char *unit);

/* "function", "line" ...: what a row is. */
const char *report_by_word(enum profile_by by);
