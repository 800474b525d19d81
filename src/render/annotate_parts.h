/* annotate_parts.h - what annotate.c and annotate_json.c share. */
#pragma once

#include "analyze/annotate.h"

enum { ANNOTATE_EVENTS_SHOWN = 4 }; /* side by side in text */

/* The text of a source line, NULL when it is not there. */
const char *annotate_source(const struct annotate_view *view, uint32_t file, uint32_t line);

/* The row of a line, NULL when it has no cost. */
const struct annotate_line *annotate_line_of(
	const struct annotate_view *view, uint32_t file, uint32_t line);
