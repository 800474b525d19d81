/* cpu_tables.h - the tables of this machine's CPU: source says which CPU it is, analyze has the
 * book, and only a job may know both. */
#pragma once

#include "analyze/cpu_book.h"
#include "source/cpu_identity.h"
#include "source/event.h"
#include "source/pmu.h"

struct cpu_tables {
	struct cpu_book book;
	struct cpu_identity identity;
	const struct cpu_table *table[CPU_KINDS]; /* of each kind of core; NULL: not known */
	vec_of(struct event_alias) aliases;	  /* those of the first kind first */
	uint32_t alias_first[CPU_KINDS + 1];	  /* where those of each kind start */
};

/* Fill a zeroed value.  A CPU without a table is no error. */
int cpu_tables_load(struct cpu_tables *tables, struct err *err);

void cpu_tables_done(struct cpu_tables *tables);

/* The core type that this kind's events carry: NULL unless the CPU is a hybrid. */
const char *cpu_tables_core(const struct cpu_tables *tables, unsigned kind);

/* Let `list` understand the vendor's names.  The tables must outlive its parsing. */
void cpu_tables_lend(const struct cpu_tables *tables, struct event_list *list);

/* Add the set of this name of each kind of core that has one.  Returns how many had, or a negative
 * errno. */
int cpu_tables_add_set(const struct cpu_tables *tables, const char *name, struct event_list *list,
	struct err *err);

/* The same of several sets (ends with NULL), their groups cut to the counters that `report` found.
 */
int cpu_tables_add_fitting(const struct cpu_tables *tables, const char *const *sets,
	const struct pmu_report *report, struct event_list *list, struct err *err);

/* Whether any CPU of the book has a set of this name. */
bool cpu_tables_know_set(const struct cpu_tables *tables, const char *name);

/* "Intel Sapphire Rapids", or which model it is that has no table; `out` is filled. */
void cpu_tables_name(const struct cpu_tables *tables, char *out, size_t capacity);
