/* import.h - what an import found, for people and as JSON.  Nothing is computed here. */
#pragma once

#include "analyze/imported.h"
#include "base/jsonw.h"
#include "render/paper.h"

void import_text(struct paper *paper, const struct imported_view *view, const char *kind);

/* The member "events" of `data`. */
void import_json_events(struct jsonw *w, const struct imported_view *view);
