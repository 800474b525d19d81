/* model.h - the questions asked of the simulator: accuracy, intervals, what can be recognised. */
#pragma once

#include "sim.h"

/* Errors in points (100 * (predicted - true gain)). */
struct errors {
	double *values; /* of their size; owned by the caller */
	int count, capacity;
	double sum, bias, worst;
};

void errors_add(struct errors *errors, double points);
double errors_mean(const struct errors *errors);
double errors_quantile(struct errors *errors, double share); /* sorts */

/* How an experiment's virtual time is taken. */
enum measure { MEASURE_GROWTH, MEASURE_VISITS, MEASURE_EACH, MEASURE_CPU };

/* The rule as decided (docs/decisions/012-causal-rule.md). */
extern const struct options decided;

double truth_per_item(const struct program *program, int line, int speedup_permille);
bool family_is_counted(int family);

/* All lines at 50 and 100 % of `programs` programs per family; ret_by has FAMILIES entries. */
void accuracy_measure(const struct options *options, enum measure measure, int programs,
	struct errors *ret_all, struct errors *ret_by);
void accuracy_heading(void);
/* The row of one rule, on the machine that the options say. */
void accuracy_show(
	const char *name, const struct options *options, enum measure measure, int programs);
void accuracy_table(int programs);
void foreign_table(int programs);
void interval_table(int programs, int64_t period_ns);
/* Share of the cells whose truth is in the decided interval of ten pairs. */
double interval_coverage(int programs);
void recognise_table(int programs);
/* Programs called paced by the clock that are not, or the other way round. */
int recognise_wrong(int programs);
int check(void); /* 0: the rule holds */
