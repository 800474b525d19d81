/* answer.h - the answer of the main job: on one screen, for agents, as JSON, and as the Markdown
 * files of its directory.  Computes nothing. */
#pragma once

#include "analyze/answer.h"
#include "base/jsonw.h"
#include "render/paper.h"

/* What is shown beside the answer. */
struct answer_page {
	const struct answer_view *view;
	const struct evidence *evidence;
	const char *target;    /* the command line that was measured */
	const char *directory; /* where the evidence is */
	const char *run_id;
	bool partial; /* it was cut short */
};

void answer_text(struct paper *paper, const struct answer_page *page);
void answer_agent(struct paper *paper, const struct answer_page *page);

/* The members "answer", "hotspots", "flat", "ledger", "signals" and "not_measured" of "data". */
void answer_json(struct jsonw *json, const struct answer_page *page);

/* hotspot_table.md. */
void hotspot_markdown(struct str *out, const struct answer_page *page);

/* report.md. */
void answer_markdown(struct str *out, const struct answer_page *page);

/* A value of a signal for people: "12.3 %", "1.25 s", "4.1 MiB", "812". */
void signal_value(struct str *out, const struct signal *signal);
