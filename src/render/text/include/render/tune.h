/* tune.h - what `assay tune` would change, changed or brought back, for people and agents. */
#pragma once

#include "analyze/knob.h"
#include "render/paper.h"

/* A table; files of one knob that tell the same are one line. */
void tune_text(struct paper *paper, const struct knob_view *view);

/* At most 40 lines of ASCII; ends with the next command. */
void tune_agent(struct paper *paper, const struct knob_view *view);
