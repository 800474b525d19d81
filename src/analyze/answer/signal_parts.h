/* signal_parts.h - what the files of signals.h share: private to them.
 *
 * A signal is a formula (data/signals.txt) over leaves of one run.  A leaf is one number that the
 * run can tell, with the SQL that gives it; so the query of a signal is its formula with the SQL of
 * each leaf put in, and both are made in one place. */
#pragma once

#include <stdbool.h>

#include "analyze/formula.h"
#include "analyze/signals.h"
#include "base/str.h"

struct run;
struct profile_facts;

/* "fact.runq_ns" of a run: `value` is NAN with a reason. */
struct leaf {
	double value;
	const char *reason; /* "" with a value */
	const char *sql;    /* an expression, NULL stands for "not known" there too */
};

struct leaf_reader {
	const struct run *run;
	const struct evidence *evidence; /* that it is of, for what joins two */
	bool is_start_only; /* the simulation was cut before the program came to its work */
	struct arena *arena;
	struct profile_facts *profile; /* NULL: not asked for yet */
};

/* False: there is no such leaf (its name is wrong). */
bool leaf_read(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf);
bool leaf_profile(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf);
bool leaf_causal(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf);
bool leaf_growth(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf);

void leaf_reader_done(struct leaf_reader *reader);
void profile_facts_close(struct profile_facts *facts);

/* Why what was simulated says nothing about the program. */
extern const char leaf_start_only[];

/* A name out of the run as a literal: names of events are anybody's. */
const char *leaf_literal(const struct leaf_reader *reader, const char *name);

struct leaf leaf_known(double value, const char *sql);
struct leaf leaf_unknown(const char *reason, const char *sql);

/* One block of data/signals.txt. */
struct signal_rule {
	const char *name, *unit, *witness, *meaning;
	enum evidence_kind from;
	enum evidence_kind otherwise; /* instead, where `from` was not measured; else `from` too */
	struct formula formula;
};

struct signal_book {
	struct arena arena;
	vec_of(struct signal_rule) rules;
};

int signal_book_load(struct signal_book *book, struct err *err);
int signal_book_add(struct signal_book *book, const char *name, const char *text, struct err *err);
void signal_book_done(struct signal_book *book);
#define signal_book_auto __attribute__((cleanup(signal_book_done)))
