/* bench.h - the answers of `assay bench`: text, for agents, JSON, and the tables
 * that other tools read.  Computes nothing. */
#pragma once

#include "analyze/bench.h"
#include "base/jsonw.h"
#include "render/paper.h"

void bench_text(struct paper *paper, const struct bench_view *view);
void bench_agent(struct paper *paper, const struct bench_view *view);

/* The members of "data". */
void bench_json(struct jsonw *w, const struct bench_view *view);

/* hyperfine's JSON document: times in seconds. */
void bench_export_json(struct str *out, const struct bench_view *view);
void bench_export_markdown(struct str *out, const struct bench_view *view);
void bench_export_csv(struct str *out, const struct bench_view *view); /* one row per run */

/* What went wrong with the runs of a command, behind a name for it: a part of `ab` too. */
void bench_troubles(struct paper *paper, const char *name, const struct bench_command *command);

/* What makes its numbers doubtful. */
void bench_doubts(struct paper *paper, const struct bench_command *command);

/* The last lines of the stderr of a run that failed; NULL: nothing is said. */
void bench_stderr(struct paper *paper, const char *text);

/* "runs" of one command as JSON, and its "summary". */
void bench_command_json(struct jsonw *w, const struct bench_command *command);
