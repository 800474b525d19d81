/* bench.h - the answers of `assay bench`: text, and for agents.  Computes nothing. */
#pragma once

#include "analyze/bench.h"
#include "render/paper.h"

void bench_text(struct paper *paper, const struct bench_view *view);
void bench_agent(struct paper *paper, const struct bench_view *view);

/* What went wrong with the runs of a command, behind a name for it: a part of `ab` too. */
void bench_troubles(struct paper *paper, const char *name, const struct bench_command *command);

/* What makes its numbers doubtful. */
void bench_doubts(struct paper *paper, const struct bench_command *command);

/* The last lines of the stderr of a run that failed; NULL: nothing is said. */
void bench_stderr(struct paper *paper, const char *text);
