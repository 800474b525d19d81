/* profile_json.h - "data" of the commands that record samples, read them or show them: report,
 * annotate, diff, record, import.  Each writes members into the open object. */
#pragma once

#include "base/jsonw.h"

struct annotate_page;
struct annotate_view;
struct bench_view;
struct diff_page;
struct imported_view;
struct record_view;
struct report_page;
struct spans_view;

void report_json(struct jsonw *w, const struct report_page *page);
void annotate_json(
	struct jsonw *w, const struct annotate_view *view, const struct annotate_page *page);
void diff_json(struct jsonw *w, const struct diff_page *page);
void record_json(struct jsonw *w, const struct record_view *view);

/* The members "samples", "events" and "holds". */
void imported_json(struct jsonw *w, const struct imported_view *view);
/* Benchmarks that another tool measured. */
void imported_runs_json(
	struct jsonw *w, const struct bench_view *view, const struct imported_view *all);
/* A program's own events: "samples", "events", "by", "spans", "claims" and "facts". */
void spans_json(struct jsonw *w, const struct spans_view *view);
