/* main.c - causal_model accuracy|foreign|interval|recognise [PROGRAMS PER FAMILY [SEEDS TO SKIP]] |
 * check
 *
 * `check` is the test (errors in points): fixed seeds, so its figures are the same on every
 * machine. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double mean_of(const struct options *options, enum measure measure, int programs)
{
	struct seeds seeds = {.count = programs};
	struct errors all = {0}, by[FAMILIES] = {{0}};
	double mean;

	accuracy_measure(options, measure, seeds, &all, by);
	mean = errors_mean(&all);
	for (int i = 0; i < FAMILIES; i++)
		free(by[i].values);
	free(all.values);
	return mean;
}

static int expect(int number, bool holds, const char *what, double left, double right)
{
	printf("%s %d - %s (%.2f, %.2f)\n", holds ? "ok" : "not ok", number, what, left, right);
	return !holds;
}

/* One task of another program for each CPU. */
static int check_foreign(int number)
{
	enum { PROGRAMS = 2 };
	static const double bound = 4.0;
	struct options options = decided;
	double mean, other;
	int failed;

	options.load = (struct load){2, LOAD_SPIN};
	mean = mean_of(&options, MEASURE_EACH, PROGRAMS);
	failed = expect(
		number, mean < bound, "beside other programs it stays below a bound", mean, bound);
	options.foreign = FOREIGN_PREVIOUS;
	other = mean_of(&options, MEASURE_EACH, PROGRAMS);
	return failed + expect(number + 1, mean < other,
				"a share of the CPUs is closer than who left the CPU", mean, other);
}

/* The rule that stops the program while a thread of it is robbed. */
static int check_stopping(int number)
{
	enum { PROGRAMS = 2 };
	static const double bounds[] = {2.0, 3.0}; /* one task for each CPU, and two */
	struct options options = stopping, share = decided;
	double mean, other;
	int failed = 0;

	for (int i = 0; i < 2; i++) {
		options.load = share.load = (struct load){2 + 2 * i, LOAD_SPIN};
		mean = mean_of(&options, MEASURE_GROWTH, PROGRAMS);
		failed += expect(number + i, mean < bounds[i],
			"the program stopped, it stays below a bound", mean, bounds[i]);
	}
	other = mean_of(&share, MEASURE_EACH, PROGRAMS);
	failed += expect(number + 2, mean < other, "and is closer than a share alone", mean, other);
	other = interval_coverage(1, &options);
	return failed + expect(number + 3, other >= 0.93, "93 % of its intervals hold the truth",
				other, 0.93);
}

int check(void)
{
	enum { PROGRAMS = 3 };
	static const double bound = 1.0;
	struct options options = decided;
	double mean = mean_of(&options, MEASURE_GROWTH, PROGRAMS), other;
	int failed;

	printf("1..12\n");
	failed = expect(1, mean < bound, "the decided rule stays below its bound", mean, bound);
	options.rule = RULE_MAX;
	other = mean_of(&options, MEASURE_GROWTH, PROGRAMS);
	failed += expect(2, mean < other, "it is closer than max", mean, other);
	options.rule = RULE_UNPAID;
	other = mean_of(&options, MEASURE_GROWTH, PROGRAMS);
	failed += expect(3, mean < other, "it is closer than D", mean, other);
	options = decided;
	options.cpu_edge = false;
	other = mean_of(&options, MEASURE_GROWTH, PROGRAMS);
	failed += expect(4, mean < other, "handing on CPUs is worth it", mean, other);
	other = interval_coverage(1, &decided);
	failed += expect(5, other >= 0.9, "nine of ten intervals hold the truth", other, 0.9);
	other = recognise_wrong(10);
	failed +=
		expect(6, other <= 0, "programs paced by the clock are told from others", other, 0);
	failed += check_foreign(7);
	failed += check_stopping(9);
	return failed != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int programs = argc > 2 ? atoi(argv[2]) : 8;
	struct seeds seeds = {.after = argc > 3 ? atoi(argv[3]) : 0};

	if (programs < 1 || programs > 10000)
		programs = 8;
	seeds.count = programs;
	if (!strcmp(what, "check"))
		return check();
	if (!strcmp(what, "accuracy")) {
		accuracy_table(seeds);
	} else if (!strcmp(what, "foreign")) {
		foreign_table(seeds);
	} else if (!strcmp(what, "interval")) {
		struct options options = decided;

		interval_table(programs, &options, "none");
		options.period_ns = 1000 * US;
		interval_table(programs, &options, "none");
		foreign_intervals(programs);
	} else if (!strcmp(what, "recognise")) {
		recognise_table(programs);
	} else {
		fprintf(stderr,
			"usage: causal_model accuracy|foreign|interval|recognise [PROGRAMS] | "
			"check\n");
		return 2;
	}
	return 0;
}
