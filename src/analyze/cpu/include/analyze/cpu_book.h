/* cpu_book.h - what the events of one CPU are called, and the top-down tree made from them.
 *
 * Does: read the texts of data/cpus (docs/metrics.md has the format), find the table of a CPU,
 * compute the raw value of each node from counts.  Does not: ask which CPU this is
 * (source/cpu_identity.h), open events, clamp or judge (a node may come out negative: the view says
 * so).  There is no nearest table: a CPU that no file names has none.
 * Owns: a book owns all its texts.  Threads: a filled book is never changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/formula.h"
#include "analyze/metric.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

enum cpu_event_flags {
	CPU_EVENT_FIXED = 1,	/* has its own counter, takes no general one */
	CPU_EVENT_COUNTER0 = 2, /* runs on general counter 0 only: one such event in a group */
	CPU_EVENT_NONZERO = 4,	/* every real program makes it count: a 0 is no measurement */
	CPU_EVENT_PRECISE = 8,	/* can be sampled with :p on x86, so that the address is right */
	CPU_EVENT_LEADER = 16,	/* must be first in its group (slots) */
	CPU_EVENT_MEMBER = 32,	/* only in a group behind such a leader, takes no counter */
};

struct cpu_event {
	const char *name; /* the vendor's; users may type it in any case */
	uint64_t config, config1;
	unsigned flags;
};

/* What `assay stat --set NAME` counts on this CPU.  Names used by all tables that have them:
 *     topdown   level 1, one group that fits       topdown2   what level 2 needs besides
 *     l1  l2_tlb  branches  mix  memory            precise    at most 3 events to sample with :p
 * Others may stand beside them: topdown_smt (whole cores, -a only), topdown_cycles, memory_wait
 * (how many reads are under way at once). */
struct cpu_set {
	const char *name;
	const char *meaning;
	const char *groups;	/* as `assay stat -e` takes them: "{A,B},{A,C}" */
	const uint32_t *events; /* each event of the table once: index into its events */
	uint32_t events_count;
};

enum cpu_basis {
	CPU_SLOTS,  /* places for one operation: width per cycle */
	CPU_CYCLES, /* whole cycles: coarser, boxes overlap */
};

enum { CPU_FORMULAS = 4, CPU_LEVELS = 4, CPU_NO_NODE = -1 };

/* A value that has a name.  Formulas use events, earlier values and nodes, and `width`. */
struct cpu_value {
	const char *name;
	const char *formula;			   /* the first alternative as written */
	struct formula alternatives[CPU_FORMULAS]; /* the first whose inputs are known is used */
	unsigned alternatives_count;
};

struct cpu_node {
	struct cpu_value value; /* a share of the slots or cycles, raw */
	int parent;		/* index of a node before this one, CPU_NO_NODE at level 1 */
	unsigned level;		/* 1, 2.. */
	enum cpu_basis basis;	/* nodes of two bases are two trees */
	double threshold;	/* worth a look when above it and its parent passes; NAN: never */
	/* What to do about it, the same words for all CPUs: retiring, retiring.heavy,
	 * retiring.light, bad_speculation, bad_speculation.branches, bad_speculation.clears,
	 * frontend, frontend.latency, frontend.bandwidth, backend, memory, core, smt. */
	const char *advice;
	const char *meaning;
	const char *source; /* where the formula comes from, with its version */
};

struct cpu_table {
	const char *name;  /* of the file without its end: "sapphire_rapids" */
	const char *title; /* "Intel Sapphire Rapids, Emerald Rapids" */
	const char *source;
	const char *note;  /* what must be said beside the numbers, or "" */
	unsigned width;	   /* slots per cycle, 0: not known */
	unsigned counters; /* general counters of one thread while SMT is on, 0: not known */
	enum cpu_basis basis;
	bool whole; /* the level 1 nodes of this basis add up to 1; else never draw them as 100 % */
	const struct cpu_event *events;
	uint32_t events_count;
	const struct cpu_set *sets;
	uint32_t sets_count;
	const struct cpu_value *values; /* helpers of the formulas, not shown */
	uint32_t values_count;
	const struct cpu_node *nodes; /* parents first */
	uint32_t nodes_count;
	const char *metrics; /* metric and alias blocks for metric_book_add_core(), or "" */
};

struct cpu_rule; /* one `for` line */
struct run;

struct cpu_book {
	struct arena arena;
	vec_of(struct cpu_table) tables;
	vec_of(struct cpu_rule) rules;
};

/* Who is asked for.  x86: vendor, family, model, stepping; ARM: midr, vendor NULL. */
struct cpu_asked {
	const char *vendor; /* "GenuineIntel" as in /proc/cpuinfo */
	unsigned family, model, stepping;
	uint64_t midr;
	const char *pmu; /* "cpu_core" on a hybrid CPU, else NULL, "" or any other name */
};

/* Fill a zeroed book from the texts compiled in. */
int cpu_book_load(struct cpu_book *book, struct err *err);

/* Add one table, `name` being its file name.  -EINVAL with file, line and reason when anything in
 * it is doubtful: an unknown key or name, a group that does not fit, a CPU that has a table
 * already. */
int cpu_book_add(struct cpu_book *book, const char *name, const char *text, struct err *err);

void cpu_book_done(struct cpu_book *book);
#define cpu_book_auto __attribute__((cleanup(cpu_book_done)))

/* The table made for exactly this CPU, or NULL. */
const struct cpu_table *cpu_book_match(const struct cpu_book *book, const struct cpu_asked *asked);

/* Add the metrics of the tables that the events of a run come from, for each kind of core: the
 * table that has the most events of `sets` (ends with NULL) among those that were asked for.
 * `whole`: a table fits only when all events of its first set were, which its own formulas need; a
 * name that stands for a generic event means the same in each table that has it.  The book and the
 * run must outlive `metrics`. */
int cpu_book_metrics(const struct cpu_book *book, const struct run *run, const char *const *sets,
	bool whole, struct metric_book *metrics, struct err *err);

/* By name; NULL when there is none. */
const struct cpu_set *cpu_table_set(const struct cpu_table *table, const char *name);
const struct cpu_event *cpu_table_event(const struct cpu_table *table, const char *name);
const struct cpu_node *cpu_table_node(const struct cpu_table *table, const char *name);

/* The raw value of each node.  counts[i] belongs to table->events[i], NAN: not counted.  `width` of
 * this machine (sysfs caps/slots), 0: the table's.  A node whose inputs are missing or whose
 * denominator is 0 gets NAN. */
void cpu_table_compute(
	const struct cpu_table *table, const double *counts, unsigned width, double *ret_values);

/* The first event that `node` needs and counts[] has not, NULL when all are there. */
const struct cpu_event *cpu_node_missing(
	const struct cpu_table *table, const struct cpu_node *node, const double *counts);
