/* hypothesis_parts.h - the book of explanations as it is kept: private to its files. */
#pragma once

#include "analyze/hypothesis.h"
#include "base/str.h"

/* "FORMULA >= NUMBER". */
struct comparison {
	struct formula left;
	const char *words; /* the left side as it is written */
	char sign;	   /* '<' or '>' */
	bool or_equal;
	double number;
};

enum {
	CONDITION_PARTS = 6,
	WITNESS_CONDITIONS = 4,
	HYPOTHESIS_WITNESSES = 8,
	HYPOTHESIS_SHARES = 3
};

/* All of them together: "A and B". */
struct condition {
	struct comparison parts[CONDITION_PARTS];
	unsigned count;
};

struct witness_rule {
	const char *name, *says;
	struct condition supports[WITNESS_CONDITIONS], rejects[WITNESS_CONDITIONS];
	unsigned supports_count, rejects_count;
};

struct hypothesis {
	const char *name, *title, *category, *advice, *falsifier, *next;
	const char *missing; /* what no collector gives yet, or "" */
	double effort;
	bool is_place;
	unsigned enough; /* witnesses that make it "supports" */
	struct formula shares[HYPOTHESIS_SHARES];
	unsigned shares_count;
	struct witness_rule witnesses[HYPOTHESIS_WITNESSES];
	unsigned witness_count;
};

struct hypothesis_book {
	struct arena arena;
	vec_of(struct hypothesis) rows;
};

/* A text with {signal} in it, each written for people; NULL: a bracket is not closed. */
char *words_expand(const char *text, const struct signals *signals, struct arena *arena);

/* "17 %", "1,234 per second", "2.5 CPUs". */
void words_add_value(double value, const char *unit, struct str *out);
