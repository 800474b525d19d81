/* hotspot_parts.h - hotspots while they are put together: inside analyze only.
 *
 * hotspot_stacks.c and hotspot_level.c find the places in the stacks, hotspot_samples.c makes rows
 * of them, with their times by hotspot_alone.c, hotspot_join.c and hotspot_experiment.c add what
 * other mechanisms say about them, hotspot_reach.c how far a fix of them may reach,
 * hotspot_gain.c what follows by arithmetic, hotspot.c scores and ranks. */
#pragma once

#include "analyze/answer.h"
#include "base/err.h"
#include "base/vec.h"

enum { HOTSPOT_EVIDENCE_MAX = 6 };
/* Of a place's time in a loop of its own: then that is what it does. */
#define HOTSPOT_LOOP_LEAST 0.5
#define HOTSPOT_INNER_LEAST 0.5 /* of a place's time: a function below it that stands for it */

/* Shares of the time of the recording in which a thread runs there: at all, and no other thread. */
struct hotspot_times {
	double present, alone;
};

/* A hotspot with room for its evidence. */
struct hotspot_draft {
	struct hotspot spot;
	struct hotspot_evidence evidence[HOTSPOT_EVIDENCE_MAX];
	double experiment_share;	  /* of the experiments' samples; NAN: none was made here */
	bool tried, flat, pays;		  /* experiments: made here, say flat, say that it pays */
	double samples_share;		  /* 0: not in the samples */
	double loop_share;		  /* in a loop of its own; 0: none, or nobody looked */
	bool looked;			  /* for loops in its code */
	double release, released;	  /* memory given back here; elsewhere, of what it takes */
	double reach;			  /* the share that may go with all of its work */
	uint64_t calls;			  /* counted, at least; 0: not counted */
	double thread_least, thread_most; /* shares of the busy threads' own samples */
	bool is_runtime;		  /* the collector or the scheduler itself */
	struct hotspot_times times;	  /* 0: not known */
};

struct hotspot_drafts {
	vec_of(struct hotspot_draft) rows;
	uint32_t busy_threads; /* that the samples of the rows are of; 0: not known */
	double busy;	       /* share of the time in which any thread runs; 0: not known */
	double sampled_cpus;   /* how many ran on average; 0: not known */
	double runtime;	 /* share of the samples in a collector or scheduler of the language */
	double together; /* of the time, two threads in anything else; NAN: not known */
};

struct algorithm_view;
struct hot_code;

/* What helps to tell the level of a place; both may be NULL. */
struct hotspot_look {
	const struct hot_code *code;		/* without it the innermost function is the place */
	const struct algorithm_view *algorithm; /* calls and trips that were counted */
};

/* Places of the program's own code.  Nothing without samples. */
void hotspots_from_samples(const struct evidence_piece *profile, const struct hotspot_look *look,
	struct arena *arena, struct hotspot_drafts *drafts);

/* The times of `count` places, from 1 as in `place_of`, by stack; [0] is the whole program. Returns
 * the length of the recording in nanoseconds, 0: the samples have no times. */
struct profile_samples;
double hotspot_times_take(const struct run *run, const struct profile_samples *samples,
	const uint32_t *place_of, uint32_t count, struct hotspot_times *ret_times);

/* What simulated counts say about the kind of work, and the ledger does not reject; refines CPU
 * into memory or branch. */
void hotspots_join_simulation(const struct evidence *evidence, const struct ledger_view *ledger,
	struct arena *arena, struct hotspot_drafts *drafts);

/* What experiments say: gains, and what is not worth touching. */
void hotspots_join_experiments(
	const struct evidence *evidence, struct arena *arena, struct hotspot_drafts *drafts);

/* How often its code is called and loops. */
void hotspots_join_algorithm(
	const struct evidence *evidence, struct arena *arena, struct hotspot_drafts *drafts);

/* What the witnesses of the supported explanations say. */
void hotspots_join_ledger(const struct ledger_view *ledger, struct hotspot_drafts *drafts);

/* How far a fix may reach: what may go with the work of each place. */
void hotspots_reach(
	const struct signals *signals, struct arena *arena, struct hotspot_drafts *drafts);

/* The gain of a program with one busy thread, or with several that do the same, where no experiment
 * tells it. */
void hotspots_gain(const struct evidence *evidence, const struct signals *signals,
	struct arena *arena, struct hotspot_drafts *drafts);

/* All of it: scored and ranked, the places worth a look in `ret_rows`, those that are hot and not
 * worth touching in `ret_flat`. */
struct hotspot_list {
	struct hotspot *rows;
	uint32_t count;
};
void hotspots_make(const struct evidence *evidence, const struct signals *signals,
	const struct ledger_view *ledger, struct arena *arena, struct hotspot_list *ret_rows,
	struct hotspot_list *ret_flat);

/* Most of its stacks do not reach the root: who calls it, and from where, was not seen. */
bool hotspot_has_unknown_callers(const struct hotspot *spot);

/* What speaks for the place and against it; what the whole answer has to do with is 0. */
void hotspot_features(const struct hotspot_draft *draft, struct confidence_features *ret_features);

/* Its share of this kind of work. */
double hotspot_kind_share(const struct hotspot *spot, enum hotspot_category category);

/* What the stacks of the places look like (data/patterns): their cause and advice, where nothing
 * better is known.  All rows that match, with a place or without, in `ret_patterns`. */
void hotspots_join_patterns(const struct evidence *evidence, const struct signals *signals,
	struct arena *arena, struct hotspot_list *rows, struct pattern_view *ret_patterns);

/* A function with all that it calls: sampled CPU time of it and of everything, ns, and all samples.
 * NAN: the samples are not of a clock. */
struct hotspot_below {
	double ns, total_ns, samples;
};
struct hotspot_below hotspot_below(const struct run *profile, const char *function);

/* "parse()": a function as it is said, without its parameters. */
const char *hotspot_call(struct arena *arena, const char *function);

void hotspot_add_evidence(struct hotspot_draft *draft, const struct hotspot_evidence *evidence);
