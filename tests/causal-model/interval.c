/* interval.c - which interval covers the truth?
 *
 * Pairs of experiments (0 against s, in random order) of 30 ms warm-up and 200 ms, on a machine
 * whose pace wanders (2 % from one experiment to the next, correlated) and drifts by 10 % over 40
 * pairs.  The progress counter is read as a number, so a visit more or less is part of the noise.
 * Beside other programs the time in which the program stood still is delay like any other. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 40, SIZES = 5, FLOORS = 5, TEN_PAIRS = 2, DECIDED_FLOOR = 3 };

static const int sizes[SIZES] = {3, 5, 10, 20, 40};
/* Bias that no scatter shows, in points: all but the first also have 1 point for every program. */
static const double per_delay[FLOORS] = {0, 0, 2, 4, 6};

struct experiment {
	double ns, items;
};

struct pair {
	struct experiment base, faster;
	double hits;
};

struct coverage {
	int cells, covered[FLOORS];
	double half;
};

/* 97.5 % of Student's t (Cornish and Fisher), good to 1 % from 2 degrees of freedom on. */
static double student(double degrees)
{
	static const double first[] = {12.71, 4.303, 3.182, 2.776, 2.571};
	double z = 1.959964, d = degrees;

	if (degrees < 6)
		return first[(int)degrees - 1];
	return z + (z * z * z + z) / (4 * d) +
	       (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * d * d);
}

static double gain_without(const struct pair *pairs, int count, int left_out)
{
	struct experiment base = {0, 0}, faster = {0, 0};

	for (int i = 0; i < count; i++) {
		if (i == left_out)
			continue;
		base.ns += pairs[i].base.ns;
		base.items += pairs[i].base.items;
		faster.ns += pairs[i].faster.ns;
		faster.items += pairs[i].faster.items;
	}
	return log((faster.ns / (faster.items + 0.5)) / (base.ns / (base.items + 0.5)));
}

/* The log of the ratio of sums and its standard error by leaving out one pair at a time. */
static double gain_estimate(const struct pair *pairs, int count, double *ret_error)
{
	double all = gain_without(pairs, count, -1), mean = 0, square = 0;

	for (int i = 0; i < count; i++)
		mean += gain_without(pairs, count, i) / count;
	for (int i = 0; i < count; i++)
		square += pow(gain_without(pairs, count, i) - mean, 2);
	*ret_error = sqrt(square * (count - 1) / count);
	return all;
}

/* Half the interval in points, without the floor: scatter of the pairs, but never less than what
 * the number of visits and of hits allows. */
static double half_width(const struct pair *pairs, int count, double estimate, double error)
{
	double base = 0, faster = 0, hits = 0, least;

	for (int i = 0; i < count; i++) {
		base += pairs[i].base.items;
		faster += pairs[i].faster.items;
		hits += pairs[i].hits;
	}
	/* Visits are counted to +-1 per experiment; hits scatter by about a third of their root. */
	least = sqrt(count / 6.0 * (1 / (base * base + 1) + 1 / (faster * faster + 1)) +
		     pow(estimate, 2) * 0.1 / (hits + 1));
	return 100 * exp(estimate) * student(count - 1) * fmax(error, least);
}

static void experiment_run(struct sim *sim, int line, int permille, struct experiment *ret)
{
	sim_experiment(sim, line, permille);
	sim_run(sim, sim->now + 30 * MS);
	sim_measure(sim);
	sim_run(sim, sim->now + 200 * MS);
	ret->ns = 200e6 - (double)(sim->owed_ns - sim->marked_owed_ns);
	ret->items = (double)sim->counts.items;
	sim_experiment(sim, -1, 0);
}

static void pairs_run(const struct program *program, const struct options *options, int line,
	int permille, struct pair *ret_pairs)
{
	static struct sim sim;
	uint64_t random = program->seed + (uint64_t)(line * 10000 + permille);
	double wander = 0;

	sim_init(&sim, program, options);
	sim_run(&sim, 50 * MS);
	for (int i = 0; i < PAIRS; i++) {
		bool swap = sim_random(&random) < 0.5;

		for (int half = 0; half < 2; half++) {
			bool faster = swap ? !half : half;
			double noise = 0;

			for (int k = 0; k < 12; k++)
				noise += sim_random(&random) - 0.5;
			wander = 0.6 * wander + 0.016 * noise;
			sim.pace = exp(wander + 0.1 * i / PAIRS);
			experiment_run(&sim, line, faster ? permille : 0,
				faster ? &ret_pairs[i].faster : &ret_pairs[i].base);
			if (faster)
				ret_pairs[i].hits = (double)sim.counts.hits;
			sim_run(&sim, sim.now + 5 * MS);
		}
	}
}

/* The share of the measured time that was delay. */
static double delay_share(const struct pair *pairs, int count)
{
	double share = 0;

	for (int i = 0; i < count; i++)
		share += (1 - pairs[i].faster.ns / 200e6) / count;
	return share;
}

static void cover(const struct pair *pairs, double truth, struct coverage *coverage)
{
	for (int i = 0; i < SIZES; i++) {
		double error, log_ratio = gain_estimate(pairs, sizes[i], &error);
		double half = half_width(pairs, sizes[i], log_ratio, error);
		double off = fabs(100 * (1 - exp(log_ratio)) - truth);

		coverage[i].cells++;
		coverage[i].half += half;
		for (int k = 0; k < FLOORS; k++)
			coverage[i].covered[k] +=
				off <=
				half + (k ? 1 : 0) + per_delay[k] * delay_share(pairs, sizes[i]);
	}
}

static void family_cover(
	int family, int programs, const struct options *options, struct coverage *coverage)
{
	static struct program program, loaded;
	static struct pair pairs[PAIRS];

	for (int seed = 1; seed <= programs; seed++) {
		double base;

		program_make(&program, family, (uint64_t)seed + 500);
		base = truth_per_item(&program, -1, 0);
		loaded = program;
		program_load(&loaded, &options->load);
		for (int cell = 0; cell < 4 * program.lines; cell++) {
			int line = cell / 4, s = 250 * (cell % 4 + 1);

			pairs_run(&loaded, options, line, s, pairs);
			cover(pairs, 100 * (1 - truth_per_item(&program, line, s) / base),
				coverage);
		}
	}
}

static void show(const char *name, const struct coverage *coverage)
{
	printf("| %s |", name);
	for (int i = 0; i < SIZES; i++) {
		printf(" %.1f:", coverage[i].half / coverage[i].cells);
		for (int k = 0; k < FLOORS; k++)
			printf(" %.0f", 100.0 * coverage[i].covered[k] / coverage[i].cells);
		printf(" |");
	}
	printf("\n");
	fflush(stdout);
}

static void coverage_add(struct coverage *sum, const struct coverage *more)
{
	for (int i = 0; i < SIZES; i++) {
		sum[i].cells += more[i].cells;
		sum[i].half += more[i].half;
		for (int k = 0; k < FLOORS; k++)
			sum[i].covered[k] += more[i].covered[k];
	}
}

void interval_table(int programs, const struct options *options, const char *load)
{
	struct coverage all[SIZES] = {{0}};

	printf("half width: coverage %% with a floor of 0, 1, 1 + 2 d, 1 + 4 d, 1 + 6 d points\n");
	printf("(d: the share of the time that was delay); period %.2f ms, other tasks: %s\n\n",
		(double)options->period_ns / 1e6, load);
	printf("| shape | 3 pairs | 5 | 10 | 20 | 40 |\n|---|---|---|---|---|---|\n");
	for (int family = 0; family < FAMILIES; family++) {
		struct coverage by[SIZES] = {{0}};

		if (!strcmp(program_family(family), "paced"))
			continue;
		family_cover(family, programs, options, by);
		show(program_family(family), by);
		if (family_is_counted(family))
			coverage_add(all, by);
	}
	show("all but spinning", all);
}

double interval_coverage(int programs, const struct options *options)
{
	struct coverage all[SIZES] = {{0}};

	for (int family = 0; family < FAMILIES; family++) {
		if (family_is_counted(family))
			family_cover(family, programs, options, all);
	}
	return (double)all[TEN_PAIRS].covered[DECIDED_FLOOR] / all[TEN_PAIRS].cells;
}
