/* imported.h - the answer of `assay import` for a profile, and for the
 * benchmarks of other tools.  Computes nothing. */
#pragma once

#include "analyze/bench.h"
#include "analyze/imported.h"
#include "render/paper.h"

/* `path` is what was read, `stored` the run file, NULL: none was asked for. */
void imported_text(struct paper *paper, const struct imported_view *view, const char *path,
	const char *stored);

/* Benchmarks that another tool measured; `stored` NULL: they were not kept. */
void imported_runs_text(
	struct paper *paper, const struct bench_view *view, const char *path, const char *stored);

/* The last line: what to do with the run file, as it can be typed, or how to get one. */
struct imported_step {
	const char *before, *behind; /* of the file's name: "assay report", "" */
};
void imported_next(struct paper *paper, const struct imported_step *step, const char *path,
	const char *stored);
