/* model.h - the questions asked of the simulator: accuracy, intervals, what can be recognised. */
#pragma once

#include "sim.h"

/* Programs after + 1 .. after + count of each family. */
struct seeds {
	int after, count;
};

/* What measuring cost. */
struct price {
	double paused; /* share of the threads' time, sum over cells */
	double longer; /* wall time per item beside others to that alone, sum over programs */
	double last_items;
	int cells, programs;
};

/* Errors in points (100 * (predicted - true gain)). */
struct errors {
	double *values; /* of their size; owned by the caller */
	int count, capacity;
	double sum, bias, worst;
	struct price price;
};

void errors_add(struct errors *errors, double points);
double errors_mean(const struct errors *errors);
double errors_quantile(struct errors *errors, double share); /* sorts */

/* How an experiment's virtual time is taken. */
enum measure { MEASURE_GROWTH, MEASURE_VISITS, MEASURE_EACH, MEASURE_CPU };

/* The rule of docs/decisions/012, beside other programs with the older share of 028. */
extern const struct options decided;
/* The rule that stops the program while a thread of it is robbed (028): growth is its measure. */
extern const struct options stopping;

/* Virtual time per item since sim_measure(). */
double measured_per_item(struct sim *sim, enum measure measure);
double truth_per_item(const struct program *program, int line, int speedup_permille);
bool family_is_counted(int family);

/* All lines at 50 and 100 % of these programs; ret_by has FAMILIES entries. */
void accuracy_measure(const struct options *options, enum measure measure, struct seeds seeds,
	struct errors *ret_all, struct errors *ret_by);
void accuracy_heading(void);
/* The row of one rule, on the machine that the options say. */
void accuracy_show(
	const char *name, const struct options *options, enum measure measure, struct seeds seeds);
void accuracy_table(struct seeds seeds);
void foreign_table(struct seeds seeds);
/* The intervals of the stopping rule, for each load. */
void foreign_intervals(int programs);
/* `load`: the name of the one in the options. */
void interval_table(int programs, const struct options *options, const char *load);
/* Share of the cells whose truth is in the decided interval of ten pairs. */
double interval_coverage(int programs, const struct options *options);
void recognise_table(int programs);
/* Programs called paced by the clock that are not, or the other way round. */
int recognise_wrong(int programs);
int check(void); /* 0: the rule holds */
