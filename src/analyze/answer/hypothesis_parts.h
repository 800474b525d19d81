/* hypothesis_parts.h - the book of explanations as it is kept: private to its files. */
#pragma once

#include "analyze/hypothesis.h"
#include "analyze/text_block.h"
#include "base/str.h"

/* "FORMULA >= NUMBER". */
struct condition_part {
	struct formula left;
	const char *words; /* the left side as it is written */
	char sign;	   /* '<' or '>' */
	bool or_equal;
	double number;
};

enum {
	CONDITION_PARTS = 6,
	WITNESS_CONDITIONS = 4,
	WITNESS_QUANTITIES = 3,
	HYPOTHESIS_WITNESSES = 8,
	HYPOTHESIS_SHARES = 3,
	QUANTITY_SIGNALS = 4
};

/* All of them together: "A and B". */
struct condition {
	struct condition_part parts[CONDITION_PARTS];
	unsigned count;
};

/* One thing that several mechanisms tell of the same run. */
struct quantity {
	const char *name, *title, *next;
	const char *signals[QUANTITY_SIGNALS];
	unsigned signal_count;
	double apart; /* more than this share of the larger number apart: they do not agree */
	double floor; /* when the larger one is below it, nothing is said */
	struct condition unless[WITNESS_CONDITIONS]; /* one that holds: nothing is said */
	unsigned unless_count;
};

struct witness_rule {
	const char *name, *says;
	struct condition supports[WITNESS_CONDITIONS], rejects[WITNESS_CONDITIONS];
	unsigned supports_count, rejects_count;
	struct text_pair agrees[WITNESS_QUANTITIES]; /* the quantities it rests on, by name */
	unsigned agrees_count;
};

struct hypothesis {
	const char *file; /* where it is written */
	const char *name, *title, *category, *advice, *falsifier, *next;
	const char *missing;	/* what no collector gives yet, or "" */
	struct condition needs; /* without which it cannot be: not shown then; no parts: none */
	double effort;
	bool is_place, is_aside;
	unsigned enough; /* witnesses that make it "supports" */
	struct formula shares[HYPOTHESIS_SHARES];
	unsigned shares_count;
	struct witness_rule witnesses[HYPOTHESIS_WITNESSES];
	unsigned witness_count;
};

struct hypothesis_book {
	struct arena arena;
	vec_of(struct hypothesis) rows;
	vec_of(struct quantity) quantities;
};

/* "A >= 1 and B < 2" */
int condition_parse(
	struct text_reader *reader, const struct text_pair *pair, struct condition *ret_condition);

/* The first that is true, else NULL; *tested is set when one of them is known. */
const struct condition *conditions_find(const struct condition *conditions, unsigned count,
	const struct signals *signals, bool *tested);

/* One block that begins with `quantity`. */
int quantity_parse(
	struct text_reader *reader, const struct text_block *block, struct quantity *ret_quantity);

/* NULL: there is none of that name. */
const struct quantity *quantity_find(const struct hypothesis_book *book, const char *name);

/* Two of its numbers that cannot both be right; NULL: they agree, or it cannot be said. */
const struct ledger_dispute *quantity_judge(
	const struct quantity *quantity, const struct signals *signals, struct arena *arena);

/* "CPU time: 1.2 s by rusage and 700 ms by samples cannot both be right (42 % apart)". */
void dispute_add_words(const struct ledger_dispute *dispute, struct str *out);

/* A text with {signal} in it, each written for people; NULL: a bracket is not closed. */
char *words_expand(const char *text, const struct signals *signals, struct arena *arena);

/* "17 %", "1,234 per second", "2.5 CPUs". */
void words_add_value(double value, const char *unit, struct str *out);
