/* flame.h - a flame graph as one SVG file that needs nothing else.
 *
 * Any viewer shows the picture; in a browser the script inside it zooms, searches and explains.
 * Names come from strangers: they are escaped, cut to a bound, and can close no element. */
#pragma once

#include "analyze/flame_view.h"
#include "base/stream.h"

struct flame_options {
	const char *title;	     /* NULL: "Flame graph" and what kind */
	const char *target;	     /* the command line that was measured, or "" */
	const char *name_a, *name_b; /* of the runs, when two are compared */
	uint32_t width;		     /* pixels; 0: 1200, and in a browser that of the window */
	bool icicle;		     /* the root on top */
};

void flame_svg(
	struct stream *out, const struct flame_view *view, const struct flame_options *options);
