/* gate.h - the answer of `assay gate`: text, for agents, and the words of all forms.  Computes
 * nothing. */
#pragma once

#include "analyze/gate.h"
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

/* The verdict in one sentence, without a newline. */
void gate_sentence(struct str *out, const struct gate_page *page);

/* "+1.23 %", "no bound". */
void gate_percent(struct str *out, double share);
/* "+1.20 % .. +3.40 %". */
void gate_interval(struct str *out, const struct comparison *one);
/* A value of a metric, or a share of change: "1.23 ms". */
void gate_value(struct str *out, enum gate_metric metric, bool share, double value);

void envelope_text(struct paper *paper, const struct envelope_view *view);
void envelope_agent(struct paper *paper, const struct envelope_view *view);
