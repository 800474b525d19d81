/* fingerprint.h - may two measurements be compared?
 *
 * Does: join the fields of a run with the rules of data/fingerprint.rules; compute the key, which
 * is the same on every call, after a reboot and on every machine of the same build; name every
 * difference of two runs with how bad it is.  Does not: read the machine.
 * Owns: views own their lists; texts are borrowed from the runs, which must live longer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct run;

enum fingerprint_severity { FINGERPRINT_INFO, FINGERPRINT_WARN, FINGERPRINT_BLOCK };
enum fingerprint_state { FINGERPRINT_VALUE, FINGERPRINT_ABSENT, FINGERPRINT_DENIED };
enum fingerprint_class { FULLY_COMPARABLE, ADVISORY, NOT_COMPARABLE };

enum { FINGERPRINT_KEY = 17 }; /* 16 hex digits and the NUL */

/* One line of the rules. */
struct fingerprint_rule {
	const char *field; /* "group.name", may end in * */
	const char *reason;
	const char *neutral; /* the value that means the same as absent, or NULL */
	double quiet_limit;  /* above it the machine was not quiet; HUGE_VAL: none */
	enum fingerprint_severity severity;
	bool brief; /* worth an agent's attention */
};

struct fingerprint_rules {
	struct arena texts;
	vec_of(struct fingerprint_rule) rows;
};

/* Fill zeroed rules from the text that is compiled in, or add another text. */
int fingerprint_rules_load(struct fingerprint_rules *rules, struct err *err);
int fingerprint_rules_add(
	struct fingerprint_rules *rules, const char *name, const char *text, struct err *err);
void fingerprint_rules_done(struct fingerprint_rules *rules);
#define fingerprint_rules_auto __attribute__((cleanup(fingerprint_rules_done)))

/* The first rule that matches; never NULL: a field without a rule is INFO. */
const struct fingerprint_rule *fingerprint_rules_find(
	const struct fingerprint_rules *rules, const char *group, const char *name);

struct fingerprint_field {
	const char *group, *name;
	const char *value; /* NULL unless it has one */
	const struct fingerprint_rule *rule;
	enum fingerprint_state state;
	bool loud; /* its number says that the machine is not quiet */
};

struct fingerprint_view {
	struct fingerprint_rules rules;
	vec_of(struct fingerprint_field) fields; /* in the order they were taken */
	unsigned absent, denied;
	char key[FINGERPRINT_KEY]; /* "" when the run has no fields */
};

void fingerprint_view_init(struct fingerprint_view *view, const struct run *run);
void fingerprint_view_done(struct fingerprint_view *view);
#define fingerprint_view_auto __attribute__((cleanup(fingerprint_view_done)))

/* The key alone: the first 16 hex digits of SHA-256 over "group.name=value\n" of every BLOCK field
 * that has a value other than its neutral one, sorted.  "" when the run has no fields. */
void fingerprint_key(const struct run *run, char ret_key[FINGERPRINT_KEY]);

struct fingerprint_difference {
	const char *field;		   /* "group.name" */
	const char *a, *b;		   /* the value, or NULL */
	const char *a_missing, *b_missing; /* "absent" or "denied" where there is no value */
	const char *reason;
	enum fingerprint_severity severity;
};

struct fingerprint_comparison {
	struct arena texts;
	vec_of(struct fingerprint_difference) differences; /* worst first, then as taken */
	unsigned counts[3];				   /* by severity */
	unsigned compared;				   /* fields that at least one side knows */
	enum fingerprint_class class;
	char a_key[FINGERPRINT_KEY], b_key[FINGERPRINT_KEY];
};

void fingerprint_compare(
	struct fingerprint_comparison *comparison, const struct run *a, const struct run *b);
void fingerprint_comparison_done(struct fingerprint_comparison *comparison);
#define fingerprint_comparison_auto __attribute__((cleanup(fingerprint_comparison_done)))

/* "FULLY_COMPARABLE", "BLOCK", ...: the words of the contract. */
const char *fingerprint_class_name(enum fingerprint_class class);
const char *fingerprint_severity_name(enum fingerprint_severity severity);
