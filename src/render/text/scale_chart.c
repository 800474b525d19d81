/* scale_chart.c - the chart on the terminal: both axes logarithmic, so that a law of a power is a
 * straight line and its exponent the slope. */
#include "render/scale_chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 14, COLUMNS = 61, LABEL = 10 };

bool scale_point_height(
	const struct scale_view *view, uint32_t index, double *ret_y, struct interval *ret_range)
{
	const struct scale_point *point = &view->points[index];
	struct interval range = point->time->median_interval;

	if (!point->command->used_count)
		return false;
	*ret_y = point->time->median;
	if (!isfinite(range.lo) || !isfinite(range.hi) || range.lo <= 0)
		range = (struct interval){*ret_y, *ret_y};
	if (view->options.threads) {
		*ret_y = 1e9 / *ret_y;
		range = (struct interval){1e9 / range.hi, 1e9 / range.lo};
	}
	*ret_range = range;
	return true;
}

static void axes_take(struct scale_axes *axes, double x, double lo, double hi)
{
	axes->x_lo = fmin(axes->x_lo, log10(x));
	axes->x_hi = fmax(axes->x_hi, log10(x));
	axes->y_lo = fmin(axes->y_lo, log10(lo));
	axes->y_hi = fmax(axes->y_hi, log10(hi));
}

struct scale_axes scale_axes_of(const struct scale_view *view)
{
	const double far = (double)INFINITY;
	struct scale_axes axes = {far, -far, far, -far, false};
	double margin;

	for (uint32_t i = 0; i < view->point_count; i++) {
		struct interval range;
		double y;

		if (scale_point_height(view, i, &y, &range))
			axes_take(&axes, (double)view->points[i].size, range.lo, range.hi);
	}
	axes.drawable = axes.x_hi > axes.x_lo;
	if (!axes.drawable)
		return axes;
	for (uint32_t i = 0; i < view->curve.count; i++)
		if (view->curve.best[i] > 0)
			axes_take(
				&axes, view->curve.x[i], view->curve.best[i], view->curve.best[i]);
	margin = fmax(0.02, (axes.y_hi - axes.y_lo) * 0.05);
	axes.y_lo -= margin;
	axes.y_hi += margin;
	if (axes.y_hi - axes.y_lo < 0.3) { /* noise must not look like a mountain */
		double middle = (axes.y_lo + axes.y_hi) / 2;

		axes.y_lo = middle - 0.15;
		axes.y_hi = middle + 0.15;
	}
	return axes;
}

const char *scale_size_label(char label[SCALE_LABEL_SIZE], double size)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P"};
	unsigned unit = 0;

	while (size >= 1000 && unit < 5) {
		size /= 1000;
		unit++;
	}
	snprintf(label, SCALE_LABEL_SIZE, "%.4g%s", size, units[unit]);
	return label;
}

const char *scale_time_label(char label[SCALE_LABEL_SIZE], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned unit = 0;

	while (fabs(ns) >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	snprintf(label, SCALE_LABEL_SIZE, "%.3g %s", ns, units[unit]);
	return label;
}

const char *scale_height_label(
	const struct scale_view *view, char label[SCALE_LABEL_SIZE], double y)
{
	if (!view->options.threads)
		return scale_time_label(label, y);
	snprintf(label, SCALE_LABEL_SIZE, "%.3g/s", y);
	return label;
}

void scale_line_names(const struct scale_view *view, struct str *best, struct str *other)
{
	str_add(best, view->options.threads ? "fitted" : law_name(view->law.best));
	str_add(other, view->options.threads ? "ideal" : law_name(view->law.runner_up));
}

/* One byte per place: ' ', 'c' curve, 'i' interval, 'p' point. */
struct grid {
	struct scale_axes axes;
	char at[ROWS][COLUMNS];
};

static int grid_row(const struct grid *grid, double y)
{
	double share = (log10(y) - grid->axes.y_lo) / (grid->axes.y_hi - grid->axes.y_lo);

	return share >= 0 && share <= 1 ? (int)lround((1 - share) * (ROWS - 1)) : -1;
}

static int grid_column(const struct grid *grid, double x)
{
	double share = (log10(x) - grid->axes.x_lo) / (grid->axes.x_hi - grid->axes.x_lo);

	return (int)lround(fmin(1, fmax(0, share)) * (COLUMNS - 1));
}

static void grid_fill(struct grid *grid, const struct scale_view *view)
{
	memset(grid->at, ' ', sizeof(grid->at));
	for (uint32_t i = 0; i < view->curve.count; i++) {
		int row = view->curve.best[i] > 0 ? grid_row(grid, view->curve.best[i]) : -1;

		if (row >= 0)
			grid->at[row][grid_column(grid, view->curve.x[i])] = 'c';
	}
	for (uint32_t i = 0; i < view->point_count; i++) {
		struct interval range;
		double y;
		int column = grid_column(grid, (double)view->points[i].size);

		if (!scale_point_height(view, i, &y, &range))
			continue;
		for (int row = grid_row(grid, range.hi); row <= grid_row(grid, range.lo); row++)
			grid->at[row][column] = 'i';
		grid->at[grid_row(grid, y)][column] = 'p';
	}
}

static void glyph_put(struct paper *paper, char what)
{
	switch (what) {
	case 'c':
		paper_ink(paper, INK_DIM, paper->ascii ? "." : "·");
		break;
	case 'i':
		paper_ink(paper, INK_PLAIN, paper->ascii ? "|" : "│");
		break;
	case 'p':
		paper_ink(paper, INK_BOLD, paper->ascii ? "o" : "●");
		break;
	default:
		paper_add(paper, " ");
	}
}

/* The label of a row: at both ends, and where a power of ten lies. */
static void row_label(const struct grid *grid, const struct scale_view *view, int row,
	char label[SCALE_LABEL_SIZE])
{
	label[0] = '\0';
	for (int power = (int)ceil(grid->axes.y_lo); power <= grid->axes.y_hi; power++)
		if (grid_row(grid, pow(10, power)) == row)
			scale_height_label(view, label, pow(10, power));
	if (!label[0] && (row == 0 || row == ROWS - 1))
		scale_height_label(view, label, pow(10, row ? grid->axes.y_lo : grid->axes.y_hi));
}

/* Sizes below the axis, as many as find room. */
static void size_labels(struct paper *paper, const struct grid *grid, const struct scale_view *view)
{
	str_auto struct str line = {0};

	for (uint32_t i = 0; i < view->point_count; i++) {
		char label[SCALE_LABEL_SIZE];
		size_t at = (size_t)grid_column(grid, (double)view->points[i].size);

		if (line.len && at <= line.len)
			continue;
		str_add_repeat(&line, ' ', at - line.len);
		str_add(&line, scale_size_label(label, (double)view->points[i].size));
	}
	paper_add(paper, "%*s  %s  %s\n", LABEL, "", str_text(&line),
		view->options.threads ? "threads" : "n");
}

void scale_chart(struct paper *paper, const struct scale_view *view)
{
	struct grid grid = {.axes = scale_axes_of(view)};
	str_auto struct str best = {0}, other = {0};

	if (!grid.axes.drawable)
		return;
	grid_fill(&grid, view);
	for (int row = 0; row < ROWS; row++) {
		char label[SCALE_LABEL_SIZE];

		row_label(&grid, view, row, label);
		paper_ink(paper, INK_DIM, "%*s ", LABEL, label);
		paper_ink(paper, INK_DIM, "%s",
			paper->ascii ? (*label ? "+" : "|") : (*label ? "┤" : "│"));
		for (int column = 0; column < COLUMNS; column++)
			glyph_put(paper, grid.at[row][column]);
		while (paper->out->at[paper->out->len - 1] == ' ')
			paper->out->at[--paper->out->len] = '\0';
		paper_add(paper, "\n");
	}
	size_labels(paper, &grid, view);
	if (view->curve.count) {
		scale_line_names(view, &best, &other);
		paper_add(paper, "%*s  ", LABEL, "");
		glyph_put(paper, 'p');
		paper_ink(paper, INK_DIM, " median  ");
		glyph_put(paper, 'i');
		paper_ink(paper, INK_DIM, " its 95 %% interval  ");
		glyph_put(paper, 'c');
		paper_ink(paper, INK_DIM, " %s\n", str_text(&best));
	}
}
