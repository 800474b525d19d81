/* svg.h - pictures that need no other file.  Computes nothing. */
#pragma once

#include "base/str.h"

struct causal_view;
struct scale_view;

void causal_svg(struct str *out, const struct causal_view *view, const char *target);
/* Light or dark as the reader has it. */
void scale_svg(struct str *out, const struct scale_view *view);
