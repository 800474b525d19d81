/* growth.c - see growth.h.
 *
 * The time of a function is its share of the samples times the CPU time of its run, so that runs
 * which were sampled at different rates compare.  A share of k samples is known to within
 * 1/sqrt(k); on top of that two runs of one program differ by some percent.  What the program does
 * once (start, reading its tables) makes the power smaller, never larger. */
#include "analyze/growth.h"

#include <math.h>

#include "analyze/label.h"
#include "analyze/profile.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/run.h"

#define RUNS_DIFFER 0.05 /* deviation of the CPU time of one run on a machine that others use */
#define SHARE_LEAST 0.02
#define SAMPLES_LEAST 20
#define SUPERLINEAR 1.3 /* n log n is below 1.15 from 1,000 items on */
#define KNOWN_ERROR 0.35
#define SIZE_MOST 0.95 /* a size nearer to the whole tells nothing */
#define SECURE 1.96

struct growth_law growth_fit(
	const double *sizes, const double *times, const double *deviations, unsigned count)
{
	struct growth_law unknown = {(double)NAN, (double)NAN};
	double weights = 0, x_mean = 0, y_mean = 0, xx = 0, xy = 0;

	for (unsigned i = 0; i < count; i++) {
		double weight = 1 / (deviations[i] * deviations[i]);

		if (!(times[i] > 0) || !(sizes[i] > 0))
			return unknown;
		weights += weight;
		x_mean += weight * log(sizes[i]);
		y_mean += weight * log(times[i]);
	}
	x_mean /= weights;
	y_mean /= weights;
	for (unsigned i = 0; i < count; i++) {
		double weight = 1 / (deviations[i] * deviations[i]);
		double x = log(sizes[i]) - x_mean;

		xx += weight * x * x;
		xy += weight * x * (log(times[i]) - y_mean);
	}
	return xx > 0 ? (struct growth_law){xy / xx, SECURE / sqrt(xx)} : unknown;
}

bool growth_is_superlinear(const struct growth_law *law)
{
	return law->power - law->error >= SUPERLINEAR; /* false for NAN */
}

const char *growth_law_words(const struct growth_law *law, struct arena *arena)
{
	double nearest = round(law->power);

	if (!(law->error <= KNOWN_ERROR) || law->power < 0.25)
		return "";
	if (fabs(law->power - nearest) > fmax(law->error, 0.3) || nearest < 1)
		return arena_format(arena, "n^%.1f", law->power);
	return nearest < 2 ? "n" : arena_format(arena, "n^%.0f", nearest);
}

/* ---- the runs ---- */

struct sized_run {
	struct profile_view profile;
	double size, cpu_ns;
};

/* User and system time of its execution; 0: not known. */
static double cpu_of(const struct run *run)
{
	double sum = 0;

	for (uint32_t i = 0; i < run->executions.count; i++) {
		const struct execution_row row = run_execution(run, i + 1);

		if (row.flags & (EXECUTION_TIMED_OUT | EXECUTION_INTERRUPTED))
			return 0; /* not the whole of it */
		if (!(row.flags & EXECUTION_NO_USAGE))
			sum += (double)(row.user_ns + row.system_ns);
	}
	return sum;
}

static bool sized_open(const struct evidence_piece *piece, double size, struct sized_run *run)
{
	const struct profile_options by_function = {.by = PROFILE_FUNCTION};
	struct err ignored = {0};

	*run = (struct sized_run){.size = size};
	if (!piece->run || !(size > 0))
		return false;
	run->cpu_ns = cpu_of(piece->run);
	return run->cpu_ns > 0 &&
	       profile_make(piece->run, &by_function, &run->profile, &ignored) >= 0;
}

static const struct profile_row *row_find(const struct profile_view *view, const char *function)
{
	vec_foreach (const struct profile_row, row, &view->rows)
		if (str_equal(row->name, function))
			return row;
	return NULL;
}

static struct growth_law law_of(
	const struct sized_run *runs, unsigned count, const char *function, bool total)
{
	double sizes[GROWTH_SIZES] = {0}, times[GROWTH_SIZES] = {0};
	double deviations[GROWTH_SIZES] = {0};

	for (unsigned i = 0; i < count; i++) {
		const struct profile_row *row = row_find(&runs[i].profile, function);
		const struct profile_cost *cost = !row ? NULL : total ? &row->total : &row->self;

		if (!cost || cost->samples < SAMPLES_LEAST)
			return (struct growth_law){(double)NAN, (double)NAN};
		sizes[i] = runs[i].size;
		times[i] =
			runs[i].cpu_ns * (double)cost->weight / (double)runs[i].profile.all.weight;
		deviations[i] = sqrt(1 / (double)cost->samples + RUNS_DIFFER * RUNS_DIFFER);
	}
	return growth_fit(sizes, times, deviations, count);
}

static struct growth_law law_of_whole(const struct sized_run *runs, unsigned count)
{
	double sizes[GROWTH_SIZES] = {0}, times[GROWTH_SIZES] = {0};
	double deviations[GROWTH_SIZES] = {0};

	for (unsigned i = 0; i < count; i++) {
		sizes[i] = runs[i].size;
		times[i] = runs[i].cpu_ns;
		deviations[i] = RUNS_DIFFER;
	}
	return growth_fit(sizes, times, deviations, count);
}

static void functions_make(
	const struct sized_run *runs, unsigned count, struct arena *arena, struct growth_view *view)
{
	const struct profile_view *whole = &runs[0].profile;
	struct growth_function *rows = arena_take(arena, (whole->rows.count + 1) * sizeof(*rows));

	vec_foreach (const struct profile_row, row, &whole->rows) {
		if (row->flags & (LABEL_UNNAMED | LABEL_KERNEL) || row->total_share < SHARE_LEAST)
			continue;
		rows[view->function_count++] = (struct growth_function){
			.function = row->name,
			.share = row->self_share,
			.own = law_of(runs, count, row->name, false),
			.total = law_of(runs, count, row->name, true),
		};
	}
	view->functions = rows;
}

bool growth_view_make(
	const struct evidence *evidence, struct arena *arena, struct growth_view *ret_view)
{
	static const enum evidence_kind kinds[GROWTH_SIZES] = {
		EVIDENCE_PROFILE, EVIDENCE_SMALLER, EVIDENCE_SMALLEST};
	struct sized_run runs[GROWTH_SIZES] = {0};
	unsigned count = 0;

	*ret_view = (struct growth_view){0};
	for (unsigned i = 0; i < GROWTH_SIZES; i++) {
		const struct evidence_piece *piece = &evidence->piece[kinds[i]];
		double size = i ? evidence->sizes[kinds[i]] : 1;

		/* Without a whole run of the whole input the two smaller ones still tell. */
		if ((i && size > SIZE_MOST) || !sized_open(piece, size, &runs[count]))
			continue;
		ret_view->sizes[count] = size;
		ret_view->cpu_ns[count] = runs[count].cpu_ns;
		count++;
	}
	ret_view->size_count = count;
	ret_view->whole = law_of_whole(runs, count > 1 ? count : 0);
	if (count > 1)
		functions_make(runs, count, arena, ret_view);
	for (unsigned i = 0; i < count; i++)
		profile_done(&runs[i].profile);
	return count > 1;
}

const struct growth_function *growth_find(const struct growth_view *view, const char *function)
{
	for (uint32_t i = 0; i < view->function_count; i++)
		if (label_same_function(view->functions[i].function, function))
			return &view->functions[i];
	return NULL;
}
