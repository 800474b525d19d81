/* causal.h - what the program would gain: as text, for agents, as JSON, Markdown, curves (SVG), and
 * in coz's format for its viewer. */
#pragma once

#include "analyze/causal_view.h"
#include "base/jsonw.h"
#include "render/paper.h"

void causal_text(struct paper *paper, const struct causal_view *view);
void causal_agent(struct paper *paper, const struct causal_view *view);
/* `coz_file`: where profile.coz was written, or NULL. */
void causal_json(struct jsonw *json, const struct causal_view *view, const char *coz_file);
void causal_markdown(struct str *out, const struct causal_view *view, const char *target);
void causal_svg(struct str *out, const struct causal_view *view, const char *target);
void causal_coz(struct str *out, const struct causal_log *log);
