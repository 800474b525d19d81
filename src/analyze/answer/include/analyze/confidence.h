/* confidence.h - how sure an answer is: named features in, a probability and its word out.
 *
 * Does: a logistic sum with the weights of data/confidence.rules, and limits that no sum exceeds.
 * Does not: look at runs; who makes an answer fills in the features.  Pure.  Owns nothing. */
#pragma once

#include "base/err.h"

enum confidence_feature {
	CONFIDENCE_SECOND_METHOD,    /* 1: at least two independent methods agree */
	CONFIDENCE_THIRD_METHOD,     /* 1: at least three */
	CONFIDENCE_OBJECTIONS,	     /* methods that could have found the place and did not */
	CONFIDENCE_PROVEN,	     /* 1: an experiment excludes no gain, of this place alone */
	CONFIDENCE_LEVEL_IS_OPINION, /* 1: which function of the chain it is was not confirmed */
	CONFIDENCE_DOUBTED,	     /* 1: experiment and arithmetic contradict each other */
	CONFIDENCE_TOLD_APART,	     /* 1: no two callers have the same time */
	CONFIDENCE_COUNTED,	     /* 1: counts confirm the place */
	CONFIDENCE_EXPLAINED,	     /* 1: an explanation of more than the place is supported */
	CONFIDENCE_SHARE,	     /* of the CPU time that the place has */
	/* Of the whole answer; 0 in the rows below it. */
	CONFIDENCE_NOISE,	 /* 1: the machine was not quiet */
	CONFIDENCE_RIVAL,	 /* 1: by experiments another place may gain more */
	CONFIDENCE_GAP,		 /* to the next place, in combined standard errors; -5 to 5 */
	CONFIDENCE_SAMPLES,	 /* log10 of how many were taken */
	CONFIDENCE_OTHERS_SHARE, /* of the CPUs, to other programs */
	CONFIDENCE_WALL_SPREAD,	 /* of the whole runs, relative; at most 1 */
	CONFIDENCE_SHORT_RUN,	 /* 1: a run takes less than 0.1 s */
	CONFIDENCE_FEATURES,
};

/* "second_method", as in the file and in JSON. */
const char *confidence_feature_name(enum confidence_feature feature);

struct confidence_features {
	double value[CONFIDENCE_FEATURES]; /* NAN: not known */
};

struct confidence_rules {
	double intercept, high, medium;
	double weight[CONFIDENCE_FEATURES];
	double most[CONFIDENCE_FEATURES]; /* 1: no limit */
};

/* -EINVAL: a line is not understood or missing, or not 0 < medium < high < 1. */
int confidence_rules_parse(
	const char *name, const char *text, struct confidence_rules *ret_rules, struct err *err);

/* Those of data/. */
void confidence_rules_load(struct confidence_rules *ret_rules);

double confidence_probability(
	const struct confidence_rules *rules, const struct confidence_features *features);

/* "high", "medium", "low" */
const char *confidence_word(const struct confidence_rules *rules, double probability);
