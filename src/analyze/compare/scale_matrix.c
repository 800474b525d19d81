/* scale_matrix.c - see scale_parts.h.
 *
 * What is drawn again is a round, not a run: a round's runs are neighbours in time, so what slowed
 * the machine then stays with all of them.  Laws are fitted to medians, because one run that
 * the machine disturbed would outweigh the others in a sum of squares. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "scale_parts.h"

/* Piece `u` of `rows`: rounds [u * rounds / rows, (u + 1) * rounds / rows). */
static void column_fill(const struct scale_view *view, const struct scale_matrix *matrix,
	uint32_t column, double *scratch)
{
	const struct bench_command *command = view->points[matrix->points[column]].command;
	enum bench_measure measure = scale_is_of_cpu_time(view) ? BENCH_CPU_NS : BENCH_WALL_NS;
	uint32_t round = 0, count = 0, row = 0;

	for (uint32_t i = 0; i < command->run_count && row < matrix->rows; i++) {
		if (!command->marks[i].used)
			continue;
		scratch[count++] = fmax(1, bench_measure_at(command, i, measure));
		if ((uint64_t)++round * matrix->rows < (uint64_t)(row + 1) * view->rounds)
			continue;
		stats_sort(scratch, count);
		matrix->times[row++ * matrix->columns + column] =
			stats_median_sorted(scratch, count);
		count = 0;
	}
}

void scale_matrix_make(
	const struct scale_view *view, struct arena *arena, struct scale_matrix *ret_matrix)
{
	struct scale_matrix matrix = {
		.rows = view->rounds < SCALE_PIECES ? view->rounds : SCALE_PIECES,
		.points = arena_take(arena, view->point_count * sizeof(*matrix.points)),
		.sizes = arena_take(arena, view->point_count * sizeof(*matrix.sizes)),
	};
	double *scratch = arena_take(arena, (view->rounds + 1) * sizeof(*scratch));

	for (uint32_t i = 0; i < view->point_count; i++)
		if (view->points[i].fitted) {
			matrix.points[matrix.columns] = i;
			matrix.sizes[matrix.columns++] = (double)view->points[i].size;
		}
	matrix.times =
		arena_take(arena, (size_t)matrix.rows * matrix.columns * sizeof(*matrix.times) + 1);
	for (uint32_t i = 0; i < matrix.columns; i++)
		column_fill(view, &matrix, i, scratch);
	*ret_matrix = matrix;
}

void scale_matrix_draw(const struct scale_matrix *matrix, struct random *random, uint32_t *rows)
{
	for (uint32_t i = 0; i < matrix->rows; i++)
		rows[i] = (uint32_t)random_below(random, matrix->rows);
}

/* The median of column `column` over rows[from .. to). */
static double rows_median(const struct scale_matrix *matrix, const uint32_t *rows, uint32_t from,
	uint32_t to, uint32_t column)
{
	double scratch[SCALE_PIECES];

	for (uint32_t i = from; i < to; i++)
		scratch[i - from] = matrix->times[(rows ? rows[i] : i) * matrix->columns + column];
	stats_sort(scratch, to - from);
	return stats_median_sorted(scratch, to - from);
}

void scale_matrix_medians(
	const struct scale_matrix *matrix, const uint32_t *rows, double *ret_medians)
{
	for (uint32_t i = 0; i < matrix->columns; i++)
		ret_medians[i] = rows_median(matrix, rows, 0, matrix->rows, i);
}

/* One block where a law can be fitted to five medians or more, else as many as it takes: the mean
 * of the blocks would let one disturbed minute outweigh the rest. */
static uint32_t blocks_choose(const struct scale_matrix *matrix)
{
	uint32_t blocks = (4 + matrix->columns) / matrix->columns;

	blocks = blocks < SCALE_BLOCKS ? blocks : SCALE_BLOCKS;
	return blocks < matrix->rows ? blocks : matrix->rows;
}

size_t scale_matrix_blocks(const struct scale_matrix *matrix, const uint32_t *rows,
	double *ret_sizes, double *ret_times)
{
	uint32_t blocks = matrix->columns ? blocks_choose(matrix) : 0;
	size_t count = 0;

	for (uint32_t b = 0; b < blocks; b++)
		for (uint32_t i = 0; i < matrix->columns; i++) {
			ret_sizes[count] = matrix->sizes[i];
			ret_times[count++] = rows_median(matrix, rows, b * matrix->rows / blocks,
				(b + 1) * matrix->rows / blocks, i);
		}
	return count;
}

struct interval scale_drawn_interval(double *values, size_t count)
{
	stats_sort(values, count);
	return (struct interval){stats_nearest_sorted(values, count, 0.025),
		stats_nearest_sorted(values, count, 0.975)};
}
