/* branches.h - the branches of a run: how many, how many went wrong, and which ones.
 *
 * Three witnesses, the first that the run has: branch stacks (each entry of a stack is one branch
 * with its two ends, so the counts are those of `perf report --sort symbol_from,symbol_to`),
 * samples of an event that counts mispredictions (one end, and it may have skidded), places of a
 * simulator (exact, but of a model).  Counts of the whole program stand beside them.
 * A mispredict rate is of the entries that say whether they were predicted, never of all.
 * Does not: read code; whoever has the code fills in the instructions of the blocks.
 * Pure.  Owns: its rows; texts are the run's or in `texts`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/metric.h"
#include "analyze/site_place.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct run;

enum branch_witness {
	BRANCHES_STACKS,    /* the PMU's record of the last branches */
	BRANCHES_SAMPLED,   /* samples of an event of mispredictions */
	BRANCHES_SIMULATED, /* a model of a predictor */
	BRANCHES_UNSEEN,    /* only counts, or nothing */
};

enum { BRANCH_TYPES = 16 }; /* the kernel's PERF_BR_*; 0: not told */

/* "cond", "ind_call"...; "" for 0. */
const char *branch_type_name(unsigned type);

/* "cond,call,ret" as bits of types.  -EINVAL with the names there are. */
int branch_types_parse(const char *text, uint32_t *ret_types, struct err *err);

struct branch_tally {
	uint64_t count;	    /* entries, samples, or executions in the model */
	uint64_t not_taken; /* of these; most PMUs record taken ones only */
	uint64_t wrong_path;
	uint64_t predicted, mispredicted; /* where it is told */
	uint64_t cycles, timed;		  /* of the blocks before it; entries that tell them */
	double miss_rate;		  /* NAN: not told */
};

/* The instructions from where the branch before led to, up to this branch. */
struct branch_block {
	uint32_t site; /* index */
	uint32_t module;
	const char *path, *build_id; /* of the module */
	uint64_t start, end;	     /* addresses in it; `end` is the branch itself */
	uint64_t times, cycles;
	uint32_t instructions; /* 0: not known; branches_add_instructions() */
};

struct branch_site {
	struct site_place from, to;
	bool has_to;
	struct branch_tally tally;
	double share; /* of all mispredictions; where none is told, of all entries */
	unsigned type;
	double cycles;	/* of the block before it, mean; NAN: not told */
	double ipc;	/* of that block; NAN: not timed, or its code is not known */
	uint32_t order; /* as it was found; of no meaning outside */
};

struct branch_type_row {
	unsigned type;
	struct branch_tally tally;
};

struct branches_view {
	enum branch_witness witness;
	const char *target;
	const char *event; /* what was sampled, "": nothing */
	bool precise;	   /* SAMPLED: the event says where it happened */
	bool has_types, has_speculation, has_not_taken;
	uint64_t samples; /* with branches */
	uint32_t longest; /* entries of one stack */
	struct branch_tally all;
	vec_of(struct branch_type_row) types; /* most mispredictions first */
	vec_of(struct branch_site) sites;     /* the same order */
	vec_of(struct branch_block) blocks;
	uint32_t site_count_all;  /* before the limit */
	const char *sites_reason; /* UNSEEN: why there are no sites */
	struct arena texts;
};

struct branches_options {
	uint32_t types;	 /* only these, bits of PERF_BR_*; 0: all */
	uint32_t limit;	 /* sites at most, 0: all */
	bool whole;	 /* the rates of the whole program only: no sites are asked for */
	bool unfiltered; /* the types were chosen while recording: none may be told */
};

/* -EINVAL when the filter asks for types that the run does not tell. */
int branches_make(const struct run *run, const struct branches_options *options,
	struct branches_view *ret_view, struct err *err);
void branches_done(struct branches_view *view);
#define branches_auto __attribute__((cleanup(branches_done)))

/* The blocks know their instructions now: instructions per cycle of each site. */
void branches_add_instructions(struct branches_view *view);

struct site_summary;

/* Which metrics the page of branches stands on; ends with NULL. */
extern const char *const branches_metrics[];
/* The sets of a CPU's table whose names its events may have; ends with NULL. */
extern const char *const branches_sets[];

/* Does misprediction explain the time?  Fills the verdict of `summary`, without the advice. */
void branches_judge(
	const struct branches_view *view, struct arena *arena, struct site_summary *summary);
