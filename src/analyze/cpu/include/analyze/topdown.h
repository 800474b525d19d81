/* topdown.h - where the cycles went: one tree per kind of core, and a verdict.
 *
 * A node is a share of the issue slots (or cycles) with the bounds it had over the runs, the part
 * of the time its events were on the PMU, and an assessment.  A node that came out below 0 or above
 * 1 is clamped and flagged.  An event that reads 0 where real work always makes it count is not
 * trusted, and no node is made from it: the node has no value and says why.
 * Pure.  Owns: everything is in the caller's arena; run, tables and books are borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/metric.h"
#include "analyze/stat.h"
#include "analyze/topdown_plan.h"
#include "analyze/verdict.h"

struct run;

enum topdown_tier {
	TOPDOWN_FULL,	  /* every generic event was counted rightly in the self-test */
	TOPDOWN_CUT_DOWN, /* some read 0 or nonsense, or are missing: a virtual PMU, mostly */
};

/* What is known before the run is looked at. */
struct topdown_facts {
	struct topdown_core cores[TOPDOWN_CORES];
	unsigned core_count;
	enum topdown_tier tier;
	const char *tier_reason; /* which events do not count, or "" */
	const char *cpu;	 /* what the machine calls its CPU, or "" */
	bool is_virtual;	 /* a hypervisor says that it is there */
	bool watchdog;		 /* the NMI watchdog holds a counter */
	unsigned level;		 /* asked for; 0: only the quick look */
	uint32_t passes;	 /* runs of the program per round; 1: all events at once */
	bool once;		 /* the kernel multiplexed */
};

struct topdown_node {
	const char *name, *meaning, *source, *advice;
	const char *parent; /* its name, or "" */
	unsigned level;
	bool known;
	const char *reason; /* why it is not known, or "" */
	const char *flag;   /* what is wrong with the value, or "" */
	double share;	    /* 0..1, clamped */
	double raw;	    /* as it came out */
	double lo, hi;	    /* over the runs; NAN with one run */
	double coverage;    /* 0..1: time its events were on the PMU; NAN: not known */
	double threshold;   /* worth a look above it; NAN: none */
	enum metric_assessment assessment;
};

struct topdown_tree {
	const struct topdown_core *core;
	const char *label;	    /* the core's PMU on a hybrid CPU, else "" */
	const char *title;	    /* of the CPU, "" when it has no table */
	const char *basis;	    /* "issue slots" or "cycles" */
	const char *reason;	    /* why there is no tree, or "" */
	const char *flag;	    /* what is wrong with it as a whole, or "" */
	const char *note;	    /* what must be said beside the numbers, or "" */
	bool whole;		    /* level 1 adds up to 1 */
	unsigned width;		    /* slots per cycle, 0: not known */
	double part;		    /* of the cycles of all kinds of cores, NAN: not known */
	bool measured;		    /* at least one node has a value */
	struct topdown_node *nodes; /* parents before children, children behind their parent */
	uint32_t node_count;
};

/* One step of the quick look. */
struct topdown_step {
	const char *question; /* "are instructions slow?" */
	const char *answer;   /* "yes: 0.41 instructions per cycle (healthy > 1.5)" */
	const char *metric;
	bool known, alarming;
};

enum { TOPDOWN_STEPS = 5 };

struct topdown_view {
	const struct topdown_facts *facts;
	struct stat_view stat;	/* events, executions and the generic metrics */
	const char *tier;	/* "full", "cut_down" */
	const char *tier_words; /* the first line for people */
	bool user_only;		/* the kernel's side was not permitted */
	uint32_t rounds;	/* that were completed */
	const char *bounds;	/* what lo and hi are */
	struct topdown_tree *trees;
	uint32_t tree_count;
	struct topdown_step steps[TOPDOWN_STEPS];
	uint32_t step_count;
	struct verdict verdict;
};

/* The books that the view looks things up in. */
struct topdown_books {
	const struct metric_book *metrics;
	const struct advice_book *advice;
};

void topdown_view_make(const struct run *run, const struct topdown_facts *facts,
	const struct topdown_books *books, const struct verdict_subject *subject,
	struct arena *arena, struct topdown_view *ret_view);
