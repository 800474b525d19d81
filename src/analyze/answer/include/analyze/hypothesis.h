/* hypothesis.h - named explanations, and what the evidence says about each.
 *
 * The explanations with their rules, thresholds, advice and falsifier are text (data/hypotheses,
 * docs/hypotheses.md has the format).  A rule belongs to one witness and is written over signals.
 * Supports needs two independent witnesses; one is inconclusive.  Witnesses that contradict each
 * other are a conflict, and so is a verdict that rests on a number which a second mechanism tells
 * otherwise of the same run.  An explanation whose inputs no collector gave is untested, never
 * rejected.
 * Pure.  Owns: the book owns its texts; results are in the caller's arena and borrow from both. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/formula.h"
#include "analyze/signals.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

enum hypothesis_verdict {
	HYPOTHESIS_UNTESTED,
	HYPOTHESIS_SUPPORTS,
	HYPOTHESIS_REJECTS,
	HYPOTHESIS_INCONCLUSIVE,
	HYPOTHESIS_CONFLICT,
	HYPOTHESIS_VERDICTS,
};

/* "untested", "supports", "rejects", "inconclusive", "conflict". */
const char *hypothesis_verdict_word(enum hypothesis_verdict verdict);

struct hypothesis; /* one of the book */
struct hypothesis_book;

int hypothesis_book_load(struct hypothesis_book **ret_book, struct err *err);
int hypothesis_book_parse(
	const char *name, const char *text, struct hypothesis_book **ret_book, struct err *err);
void hypothesis_book_close(struct hypothesis_book *book);
void hypothesis_book_close_pointer(struct hypothesis_book **book);
#define hypothesis_book_auto __attribute__((cleanup(hypothesis_book_close_pointer)))

/* One quantity of one run, told by two mechanisms that do not agree. */
struct ledger_dispute {
	const char *quantity, *title;	 /* "sampled_time", "CPU time of the profiled run" */
	const struct signal *low, *high; /* the two that are farthest apart */
	double apart;			 /* 1 - low / high */
	double limit;			 /* what is still agreement */
	const char *next;		 /* the command that settles it */
};

/* What one witness says, with its numbers written out: "17 % of its time queued for a CPU (> 10)".
 */
struct ledger_witness {
	const char *witness;
	enum hypothesis_verdict verdict; /* SUPPORTS, REJECTS, INCONCLUSIVE or UNTESTED */
	const char *words;
	const struct signal **signals; /* the inputs it used */
	uint32_t signal_count;
	const struct ledger_dispute *dispute; /* about a number it rests on; NULL: none */
};

struct ledger_row {
	const char *name, *title; /* "page_fault_storm", "page faults take the time" */
	const char *category;	  /* cpu, memory, branch, lock, io, off_cpu, allocation, syscall,
				     fault, starvation, noise */
	enum hypothesis_verdict verdict;
	const char *why;       /* one sentence with the numbers */
	const char *untested;  /* what is missing and how to get it, or "" */
	const char *advice;    /* what to do about it */
	const char *falsifier; /* what would refute it */
	const char *next;      /* the next command; of a dispute: the one that settles it */
	double share;	       /* of the wall or CPU time that it explains; NAN: not known */
	double effort;	       /* 1 small, 2 medium, 3 large */
	bool is_place;	       /* says where the time is, blames nothing: true of good code too */
	bool is_aside;	       /* is_place, and about no place that could be changed */
	bool is_impossible;    /* what it needs is not there: a lock of one thread; not shown */
	bool noisy;	       /* the machine was not quiet: see the row `noise` */
	struct ledger_witness *witnesses;
	uint32_t witness_count;
	/* One that has the row's verdict, of the counters where there is one; nobody decided an
	 * open row: then one that is for it.  NULL: there is none. */
	const struct ledger_witness *decider;
	bool by_counters; /* the decider is the simulator or the PMU */
};

struct ledger_view {
	/* Supports first, then conflict, inconclusive, untested, rejects; within each what says why
	 * before what is only a place and before the noise, by share. */
	struct ledger_row *rows;
	uint32_t count;
	bool noisy; /* the row `noise` is supported */
};

void ledger_evaluate(const struct hypothesis_book *book, const struct signals *signals,
	struct arena *arena, struct ledger_view *ret_view);
