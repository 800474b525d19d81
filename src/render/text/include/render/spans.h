/* spans.h - the answer of `assay import` for a program's own events.  Computes nothing. */
#pragma once

#include "analyze/spans.h"
#include "render/paper.h"

/* `path` is what was read, `stored` the run file, NULL: none was asked for. */
void spans_text(
	struct paper *paper, const struct spans_view *view, const char *path, const char *stored);
