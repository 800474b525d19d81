/* ab.h - the answer of `assay ab`: text, and for agents.  Computes nothing. */
#pragma once

#include "analyze/ab.h"
#include "render/paper.h"

/* One event, counted over some runs of each side. */
struct ab_event {
	const char *name, *unit, *reason; /* reason: why it is not known */
	double a, b;			  /* medians; NAN: not known */
};

/* A change before this one, kept in a run file. */
struct ab_step {
	const char *path;
	double effect;	   /* of ab_page.step_metric; NAN: not judged there */
	double cumulative; /* all up to here, multiplied */
};

struct ab_page {
	const struct ab_view *view;
	const char *names[2];			  /* of two revisions, NULL: two programs */
	const char *commits[2];			  /* theirs */
	const struct ab_explanation *explanation; /* NULL: no change to explain */
	const struct ab_event *events;
	uint32_t event_count;
	const struct ab_build_difference *builds;
	uint32_t build_count;
	const struct ab_step *steps; /* the last one is this comparison */
	uint32_t step_count;	     /* 0: nothing came before */
	const char *step_metric;     /* one for all of them: what decided here, or wall time */
	bool same_output;	     /* looked at, and the same */
	uint64_t output_bytes;	     /* then: of A */
	const char *artifact;	     /* where the runs are; NULL: not kept */
};

void ab_text(struct paper *paper, const struct ab_page *page);
void ab_agent(struct paper *paper, const struct ab_page *page);

/* What these pairs support and what they do not, in words. */
void ab_claim(const struct ab_page *page, struct str *ret_supports, struct str *ret_not);

/* FULLY_COMPARABLE or ADVISORY. */
const char *ab_comparability(const struct ab_page *page);
