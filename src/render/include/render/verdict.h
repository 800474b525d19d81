/* verdict.h - a verdict in each form of output, the same for every engine.  Computes nothing. */
#pragma once

#include "analyze/verdict.h"
#include "base/jsonw.h"
#include "render/paper.h"

/* The cause, why, what to do (tips of the program's language), how to check, the next command. */
void verdict_text(struct paper *paper, const struct verdict *verdict);

/* The same in at most 12 lines; `next:` is the last one. */
void verdict_agent(struct paper *paper, const struct verdict *verdict);

/* "verdict": {category, share, share_of, confidence, doubt, why, meaning, effect,
 * advice[]{language,text}, next, plan[]}. */
void verdict_json(struct jsonw *w, const struct verdict *verdict);

/* Sections "Root cause", "What to do" and "How to check". */
void verdict_markdown(struct str *out, const struct verdict *verdict);
