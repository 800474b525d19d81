/* answer.h - what to change first: hotspots of all sources joined by their place, and one answer.
 *
 * A hotspot is a place in the program's own code, at the level of the stack where somebody would
 * change something (hotspot_level.c), with the chain of functions that it is in and the kinds of
 * work there (running, allocating, faulting, in a system call, taking a lock).  Simulated counts
 * refine "CPU" into memory or branch; experiments add the gain, or say that it is hot and not worth
 * touching; for one busy thread, or several that do the same, the gain follows by arithmetic.
 * Mechanisms are independent ways of knowing (clock samples, /proc and rusage, simulation, hardware
 * counters, experiments, the program's own spans); one mechanism counts once.
 * Pure.  Owns: everything is in the caller's arena; texts may be the runs'. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/confidence.h"
#include "analyze/evidence.h"
#include "analyze/gain.h"
#include "analyze/hypothesis.h"
#include "analyze/patterns.h"
#include "analyze/signals.h"
#include "base/arena.h"

enum hotspot_category {
	HOTSPOT_CPU,
	HOTSPOT_MEMORY,
	HOTSPOT_BRANCH,
	HOTSPOT_LOCK,
	HOTSPOT_IO,
	HOTSPOT_OFF_CPU,
	HOTSPOT_ALLOCATION,
	HOTSPOT_SYSCALL,
	HOTSPOT_CATEGORIES,
};
const char *hotspot_category_word(enum hotspot_category category);

struct hotspot_evidence {
	const char *mechanism; /* "samples", "experiments", "simulation"... */
	const char *path;      /* file in the directory */
	const char *query;     /* SQL that gives the number, or "" */
	const char *words;     /* "71 % of the samples" */
	double value;	       /* what the query gives; NAN without one */
	bool agrees;	       /* that this place matters */
};

/* Measured in time, not counted: so wrong together with all others when the machine is busy. */
bool hotspot_is_timed(const struct hotspot_evidence *evidence);

/* A kind of work at a place. */
struct hotspot_kind {
	enum hotspot_category category;
	double share; /* of the CPU time */
};

/* A function on the way from the innermost one to the root. */
struct hotspot_link {
	const char *function, *call, *file, *location; /* file "" unknown; as in struct hotspot */
	uint32_t line;		/* of the work in it, or of the call; 0: unknown */
	double total, self;	/* shares of the CPU time: with all it calls, and alone */
	double entries;		/* how often it was entered; NAN: not counted */
	uint64_t entries_least; /* also of a part of the run, or a smaller one; 0: not counted */
};

struct hotspot {
	uint32_t rank;
	const char *location; /* "parse.c:142", or the function without lines */
	const char *function, *file;
	const char *call;    /* "parse()": the function for people, without its parameters */
	uint32_t line;	     /* 0: unknown */
	const char *library; /* of the system that it is of: who calls it can be changed; "" */
	bool has_no_name;    /* all code of a `file` without symbols; location is "[FILE]" */
	const char *metric;  /* "CPU time" */
	double value;	     /* share of it, with what it calls that is no place of its own */
	enum hotspot_category category;	  /* the kind that matters most */
	const struct hotspot_kind *kinds; /* all of them, the largest first; they add up to value */
	uint32_t kind_count;
	const struct hotspot_link *chain;  /* the innermost function first, the root last */
	uint32_t chain_count, chain_place; /* chain[chain_place] is the place */
	double garbage;	  /* share of the CPU time: the collector's, for what it allocates */
	double cut_share; /* of its samples: stacks that do not reach the root */
	const struct hotspot_evidence *evidence; /* the first one gives `value` */
	uint32_t evidence_count;
	uint32_t agree, asked; /* mechanisms that agree, of those that could tell */
	bool counts_once;      /* several of them are one in that: the machine was not quiet */
	double gain, gain_lo, gain_hi; /* of the program, at speed-up `gain_at`; NAN: not tried */
	double gain_at;
	double gain_all, gain_all_lo, gain_all_hi; /* when all of the work is gone; NAN: unknown */
	enum gain_source gain_source, gain_all_source;
	const char *gain_all_note, *gain_doubt; /* of its bounds, of experiment against samples */
	const char *gain_reason;		/* why it is not known; NULL: it is */
	bool is_paced;	    /* a clock or a peer sets the pace: experiments tell no gain */
	const char *target; /* of the experiments, as `causal -f` takes it; NULL: not tried */
	double open_lo, open_hi, open_at; /* they leave it open; NAN: too few; at 0: they do not */
	double impact, confidence, effort, score;
	struct confidence_features features; /* that it is made from */
	const struct ledger_row *because;    /* the explanation it fits, or NULL */
	double explained;		     /* share of the CPU time that this is about */
	const char *algorithm; /* how its time grows, how often it is called and loops, "" */
	bool tells_growth;     /* `algorithm` does */
	const char *steps; /* an operation done again and again: where its time is; NULL: none */
	uint64_t done, done_below;	   /* it, and what it calls, at least; 0: not counted */
	const struct pattern_row *pattern; /* the shape that its stacks show, or NULL */
	const char *cause, *why; /* why it is slow there, NULL: not known; the same in words */
};

#define HOTSPOT_SCORE_WORTH 2.0 /* and more is worth acting on; so is a gain */
#define HOTSPOT_GAIN_WORTH 0.05 /* that an experiment proves, whatever the score */

/* The gain that an experiment proves; NAN: none does. */
static inline double hotspot_proven_gain(const struct hotspot *spot)
{
	return gain_is_experiment(spot->gain_source) ? spot->gain_lo : __builtin_nan("");
}

/* What to do there: what the shape of its stacks asks for before what a category does. */
const char *hotspot_advice(const struct hotspot *spot);

static inline bool hotspot_is_worth(double score, double gain_lo)
{
	return score >= HOTSPOT_SCORE_WORTH || gain_lo >= HOTSPOT_GAIN_WORTH;
}

enum answer_kind {
	ANSWER_CHANGE,	     /* change this first */
	ANSWER_NOTHING,	     /* nothing stands out */
	ANSWER_NOISY,	     /* the machine was too noisy */
	ANSWER_NOT_MEASURED, /* because */
};
const char *answer_kind_word(enum answer_kind kind);

struct answer_missing {
	const char *what, *reason, *fix;
	bool not_yet; /* assay does not collect it, on no machine: the reason is answer_not_yet */
};
extern const char answer_not_yet[];
/* A field of the machine's fingerprint. */
struct answer_field {
	const char *name, *value;
};

struct answer_view {
	enum answer_kind kind;
	const char *sentence;	     /* the one line of the answer */
	const struct hotspot *first; /* with ANSWER_CHANGE, when it has a place; else NULL */
	const struct ledger_row *because;
	const char *cause; /* why it is slow there, by the ledger or counters; NULL: not known */
	const char *why, *confidence, *refute, *next; /* confidence: high, medium, low */
	const char *confidence_reason; /* why it is lower than by the methods alone; or NULL */
	double probability; /* that it is right; not fitted yet; NAN: it claims nothing */
	struct confidence_features features;
	const char *again;			   /* the command of the next round */
	double gain, gain_lo, gain_hi, gain_at;	   /* NAN: not known */
	double gain_all, gain_all_lo, gain_all_hi; /* when all of the work is gone */
	enum gain_source gain_source, gain_all_source;
	const char *gain_all_note, *gain_doubt; /* or NULL */
	const char *gain_reason;		/* why it is not */
	const struct hotspot *hotspots;
	uint32_t hotspot_count;
	const struct hotspot *flat; /* hot, and not worth touching */
	uint32_t flat_count;
	struct pattern_view patterns; /* all that match, also those without a place */
	const struct ledger_view *ledger;
	const struct signals *signals;
	const struct growth_view *growth; /* with the input; NULL: not known */
	const struct answer_missing *missing;
	uint32_t missing_count;
	const struct answer_field *environment; /* what a reader wants to know of the machine */
	uint32_t environment_count;
	const char *fingerprint; /* the key, "" when it was not taken */
};

/* The functions worth an experiment: places in the program's own code with at least `least_share`
 * of the samples, hottest first, as the samples alone would name them; `code` as in the evidence,
 * NULL: nobody looked.  Where that time is spent in what the place calls, the experiment is about
 * all of that.  Returns how many. */
struct hotspot_target {
	const char *function;
	const char *inner; /* below it, with most of its time: tells as much; NULL: there is none */
	bool with_callees, inner_with_callees;
};
uint32_t hotspot_functions(const struct evidence_piece *profile, const struct hot_code *code,
	double least_share, struct arena *arena, struct hotspot_target *ret_functions,
	uint32_t max);

/* Sampled CPU time of the function's own code, ns; NAN: the samples are not of a clock. */
double hotspot_function_ns(const struct evidence_piece *profile, const char *function);

/* What to do, "": nothing is known. */
static inline const char *answer_advice(const struct answer_view *view)
{
	return view->first     ? hotspot_advice(view->first)
	       : view->because ? view->because->advice
			       : "";
}

/* "parse() <- run() <- main()": who leads to the place; "" when that is main() at once. */
const char *answer_chain(const struct hotspot *spot, struct arena *arena);

void answer_make(const struct evidence *evidence, const struct signals *signals,
	const struct ledger_view *ledger, struct arena *arena, struct answer_view *ret_view);
