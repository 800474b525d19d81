/* markdown.h - reports and the files of an evidence directory as Markdown.  Computes nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct answer_page;
struct bench_view;
struct branches_page;
struct cache_page;
struct causal_view;
struct gate_page;
struct ledger_run;
struct ledger_view;
struct round_line_view;
struct round_view;
struct scale_view;
struct simulated_page;
struct simulated_view;
struct topdown_view;
struct verdict;

/* A text of others as a code span that it cannot close; in a table, neither can it end the cell. */
void markdown_code(struct str *out, const char *text, bool in_table);

/* The format is Markdown; every %s is a sentence that may hold texts of others, and shows as it
 * is: what would be a tag, a link, a mention or an emphasis becomes code.  `...` stays code. */
void markdown_add(struct str *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same inside a table. */
void markdown_add_cells(struct str *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A row of two cells: the name, and the text as code or `none`. */
void markdown_row(struct str *out, const char *name, const char *text, const char *none);

void answer_markdown(struct str *out, const struct answer_page *page);	/* report.md */
void queries_sql(struct str *out, const struct answer_page *page);	/* queries.sql */
void hotspot_markdown(struct str *out, const struct answer_page *page); /* hotspot_table.md */

/* DEFINE.md: what was asked. */
struct define_page {
	const char *target, *folder, *run_id, *input, *golden, *against;
	double budget_s;
};
void define_markdown(struct str *out, const struct define_page *page);

/* BASELINE.md; `reason`: why there is none, with `view` NULL. */
struct baseline_page {
	const struct bench_view *view;
	const char *command, *reason, *fix, *fingerprint, *output_sha256;
};
void baseline_markdown(struct str *out, const struct baseline_page *page);

/* hypothesis.md: one run with all its reasons, falsifiers and what is missing.  `run` has what
 * changed, NULL: nothing is known of earlier runs. */
void ledger_markdown(struct str *out, const struct ledger_view *view, const struct ledger_run *run);

void round_markdown(struct str *out, const struct round_view *view);
/* HISTORY.md: a table for each program, in the order of the rounds. */
void history_markdown(struct str *out, const struct round_line_view *lines, uint32_t count);

void causal_markdown(struct str *out, const struct causal_view *view, const char *target);
void scale_markdown(struct str *out, const struct scale_view *view); /* scaling_law.md */
void bench_export_markdown(struct str *out, const struct bench_view *view);
void gate_markdown(struct str *out, const struct gate_page *page); /* for a pull request */
void branches_markdown(struct str *out, const struct branches_page *page);
void cache_markdown(struct str *out, const struct cache_page *page);

/* A fact of the machine for the report. */
struct topdown_fact {
	const char *name, *value;
};
/* `facts` ends with a row without a name. */
void topdown_markdown(
	struct str *out, const struct topdown_view *view, const struct topdown_fact *facts);
void simulated_markdown(
	struct str *out, const struct simulated_view *view, const struct simulated_page *page);

/* Sections "Root cause", "What to do" and "How to check". */
void verdict_markdown(struct str *out, const struct verdict *verdict);
