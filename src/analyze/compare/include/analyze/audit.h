/* audit.h - how far the numbers of a benchmark can be trusted, and which claims they allow.
 *
 * Does: look at the executions of one or more runs (measured or imported) and name everything that
 * makes them doubtful, each with its evidence and the way out, by the rules of data/audit.rules;
 * say which level of fairness a comparison of the commands has reached.  Does not: measure, open
 * files.  Pure.  Owns: everything is in the caller's arena; texts are the runs' or the book's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/bench.h"
#include "analyze/fingerprint.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct binary_facts;
struct run;

enum audit_severity { AUDIT_LOW, AUDIT_MEDIUM, AUDIT_HIGH, AUDIT_SEVERITIES };
enum { AUDIT_LEVELS = 6 };

struct audit_rule {
	const char *code, *means, *fix, *denies;
	enum audit_severity severity;
	double limit; /* NAN: it has none */
};

struct audit_level {
	const char *name; /* "L3" */
	const char *needs, *claim;
};

/* The rules as parsed.  Zero-initialised is empty. */
struct audit_book {
	struct arena texts;
	vec_of(struct audit_rule) rules;
	vec_of(struct audit_level) levels;
};

/* Fill a zeroed book from the text that is compiled in, or add another text. */
int audit_book_load(struct audit_book *book, struct err *err);
int audit_book_add(struct audit_book *book, const char *name, const char *text, struct err *err);
void audit_book_done(struct audit_book *book);
#define audit_book_auto __attribute__((cleanup(audit_book_done)))

/* NULL when the book has no such rule. */
const struct audit_rule *audit_book_find(const struct audit_book *book, const char *code);

/* One file of results.  `programs[i]` are the facts of command i's program as it is now, NULL: not
 * known; `programs` NULL: none is. */
struct audit_input {
	const char *name;
	const struct run *run;
	const struct binary_facts *const *programs;
};

struct audit_finding {
	const struct audit_rule *rule;
	const char *file;     /* NULL: of all together */
	const char *command;  /* NULL: of the whole file */
	const char *evidence; /* in words */
	double number;	      /* what was held against the limit; NAN: no number */
};

enum audit_answer { AUDIT_UNKNOWN, AUDIT_NO, AUDIT_YES };

struct audit_step {
	const struct audit_level *level;
	enum audit_answer answer;
	const char *evidence;
};

struct audit_file {
	const char *name;
	struct bench_view bench;
	char key[FINGERPRINT_KEY]; /* "" without a fingerprint */
	bool names_only;	   /* its commands are names of benchmarks, no command lines */
};

struct audit_view {
	const struct audit_book *book;
	struct arena *arena;
	struct audit_file *files;
	const struct bench_command **commands; /* of all files */
	uint32_t file_count, command_count, run_count;
	vec_of(struct audit_finding) findings; /* worst first, audit_view_done() */
	uint32_t counts[AUDIT_SEVERITIES];
	/* Of two commands or more: */
	bool compares;
	struct audit_step steps[AUDIT_LEVELS];
	int reached; /* highest level with all below it shown, -1: none */
	enum fingerprint_class class;
	const char *supports, *lacks; /* two clauses of one sentence */
};

int audit_view_make(const struct audit_input *inputs, uint32_t count, const struct audit_book *book,
	struct arena *arena, struct audit_view *ret_view, struct err *err);
void audit_view_done(struct audit_view *view);
#define audit_view_auto __attribute__((cleanup(audit_view_done)))

/* Are both of one machine, by its id?  Where neither has one (a container, a chroot), by boot and
 * host name. */
bool audit_is_same_machine(const struct run *a, const struct run *b);

/* "HIGH"; "yes", "no", "unknown". */
const char *audit_severity_name(enum audit_severity severity);
const char *audit_answer_name(enum audit_answer answer);
