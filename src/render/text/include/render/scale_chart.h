/* scale_chart.h - what the chart on the terminal and the SVG share. */
#pragma once

#include "render/scale.h"

/* Logarithms (base 10) of what is shown, a little room included. */
struct scale_axes {
	double x_lo, x_hi, y_lo, y_hi;
	bool drawable; /* at least two points at different places */
};

struct scale_axes scale_axes_of(const struct scale_view *view);

/* Height of a point: time, or runs per second for threads.  False: it has no runs. */
bool scale_point_height(
	const struct scale_view *view, uint32_t index, double *ret_y, struct interval *ret_range);

enum { SCALE_LABEL_SIZE = 32 };
/* A size as on an axis ("10k"), a height with its unit. */
const char *scale_size_label(char label[SCALE_LABEL_SIZE], double size);
const char *scale_height_label(
	const struct scale_view *view, char label[SCALE_LABEL_SIZE], double y);
/* A time with three digits, also below a nanosecond. */
const char *scale_time_label(char label[SCALE_LABEL_SIZE], double ns);
/* What the two lines of the chart are. */
void scale_line_names(const struct scale_view *view, struct str *best, struct str *other);

/* The chart for a terminal. */
void scale_chart(struct paper *paper, const struct scale_view *view);
