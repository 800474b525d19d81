/* scale_parts.h - what the files of scale share: the runs as a matrix that can be drawn again. */
#pragma once

#include "analyze/scale.h"
#include "base/random.h"

/* Threads are judged by wall time, whatever the metric. */
static inline bool scale_is_of_cpu_time(const struct scale_view *view)
{
	return view->options.metric == SCALE_CPU && !view->options.threads;
}

/* Row u, column i: the median time of point i over the u-th piece of the measurement.  Up to 60
 * pieces; a round is one piece when there are no more rounds than that. */
struct scale_matrix {
	double *times; /* rows * columns, ns */
	uint32_t rows, columns;
	uint32_t *points; /* of each column */
	double *sizes;	  /* of each column */
};

enum { SCALE_DRAWS = 400, SCALE_PIECES = 60, SCALE_BLOCKS = 5, SCALE_RUNS_LEAST = 5 };

/* The points that are `fitted`, over the rounds that all of them have. */
void scale_matrix_make(
	const struct scale_view *view, struct arena *arena, struct scale_matrix *ret_matrix);

/* Rows drawn with replacement, in place of all. */
void scale_matrix_draw(const struct scale_matrix *matrix, struct random *random, uint32_t *rows);

/* Medians of the given rows (NULL: all), one per column. */
void scale_matrix_medians(
	const struct scale_matrix *matrix, const uint32_t *rows, double *ret_medians);

/* The same as sizes and times for a law, with few columns by blocks of rows, so that there are five
 * points or more where that is possible; returns how many.  Room for SCALE_BLOCKS * columns. */
size_t scale_matrix_blocks(const struct scale_matrix *matrix, const uint32_t *rows,
	double *ret_sizes, double *ret_times);

/* The 95 % interval of drawn values, which are sorted. */
struct interval scale_drawn_interval(double *values, size_t count);

int scale_law_judge(struct scale_view *view, struct arena *arena, struct err *err);
int scale_threads_judge(struct scale_view *view, struct arena *arena, struct err *err);
