/* target.h - a target view as text and for agents. */
#pragma once

#include "analyze/target.h"
#include "render/paper.h"

/* The section of `assay doctor PROGRAM`: one row a fact, then what it costs and the way out. */
void target_text(struct paper *paper, const struct target_view *view);

/* At most a dozen plain lines: only what is not ok, and the way out. */
void target_agent(struct paper *paper, const struct target_view *view);

const char *target_status_word(enum target_status status);
