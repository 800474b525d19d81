/* verdict.h - a verdict as text and for agents, the same for every engine.  Computes nothing. */
#pragma once

#include "analyze/verdict.h"
#include "render/paper.h"

/* The cause, why, what to do (tips of the program's language), how to check, the next command. */
void verdict_text(struct paper *paper, const struct verdict *verdict);

/* The same in at most 12 lines; `next:` is the last one. */
void verdict_agent(struct paper *paper, const struct verdict *verdict);

/* "memory latency, 48.9 % of the issue slots" */
void verdict_headline(struct str *out, const struct verdict *verdict);
/* The bound and what is known about the category. */
void verdict_effect(struct str *out, const struct verdict *verdict);
void verdict_tip_line(struct str *out, const struct verdict_tip *tip);
