/* imported.h - the answer of `assay import` for a profile.  Computes nothing. */
#pragma once

#include "analyze/imported.h"
#include "base/jsonw.h"
#include "render/paper.h"

/* `path` is what was read, `stored` the run file, NULL: none was asked for. */
void imported_text(struct paper *paper, const struct imported_view *view, const char *path,
	const char *stored);

/* The members "samples", "events" and "holds" of "data". */
void imported_json(struct jsonw *w, const struct imported_view *view);
