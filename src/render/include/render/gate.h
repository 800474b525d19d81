/* gate.h - the answer of `assay gate`: text, for agents, JSON, Markdown for a pull request, and
 * annotations for GitHub.  Computes nothing. */
#pragma once

#include "analyze/gate.h"
#include "base/jsonw.h"
#include "render/paper.h"

struct gate_page {
	const struct gate_view *view;
	const struct gate_comparability *machines;
	const struct envelope_view *envelope; /* NULL: there was one baseline only */
	const char *const *baselines;	      /* as the user calls them */
	uint32_t baseline_count;
	const char *candidate;	  /* as the user calls it; NULL: measured now */
	const char *budgets_path; /* NULL: none */
	const char *reproduce;	  /* the command line */
	bool mismatch_allowed;
};

void gate_text(struct paper *paper, const struct gate_page *page);
void gate_agent(struct paper *paper, const struct gate_page *page);

/* The members of "data". */
void gate_json(struct jsonw *w, const struct gate_page *page);

/* A comment for a pull request. */
void gate_markdown(struct str *out, const struct gate_page *page);

/* Workflow commands, one a line: ::error file=...,line=...,title=...::text */
void gate_github(struct str *out, const struct gate_page *page);

/* A text inside a workflow command; a property must not hold : and , either. */
void github_escape(struct str *out, const char *text, bool property);

/* The verdict in one sentence, without a newline. */
void gate_sentence(struct str *out, const struct gate_page *page);

/* "+1.23 %", "no bound". */
void gate_percent(struct str *out, double share);
/* A value of a metric, or a share of change: "1.23 ms". */
void gate_value(struct str *out, enum gate_metric metric, bool share, double value);

void envelope_text(struct paper *paper, const struct envelope_view *view);
void envelope_agent(struct paper *paper, const struct envelope_view *view);
/* The value of "envelope". */
void envelope_json(struct jsonw *w, const struct envelope_view *view);
