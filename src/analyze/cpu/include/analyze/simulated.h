/* simulated.h - what a simulator counted, by function and by line, and what it says about the time.
 *
 * Two questions.  simulated_take(): the counts of a simulated run (drive/simulate.h, or an imported
 * cachegrind.out) by function or line.  simulated_join(): the same divided into the time that clock
 * samples of a normal run found there: ns per instruction, per miss, per mispredict, and from these
 * a verdict per function and for the whole program.
 * The counts are exact for the model and the time is measured; a ratio of the two tells which kind
 * of work takes the time.  It is never a top-down tree: what prefetching and overlap hide is not in
 * the model (docs/methods.md).
 * Pure.  Owns: rows are in the caller's arena; texts are the runs', which must live longer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/verdict.h"
#include "base/arena.h"
#include "base/err.h"

struct run;

enum simulated_count {
	SIMULATED_INSTRUCTIONS,
	SIMULATED_L1I_MISSES,
	SIMULATED_LLI_MISSES,
	SIMULATED_LOADS,
	SIMULATED_L1_LOAD_MISSES,
	SIMULATED_LL_LOAD_MISSES,
	SIMULATED_STORES,
	SIMULATED_L1_STORE_MISSES,
	SIMULATED_LL_STORE_MISSES,
	SIMULATED_CONDITIONALS,
	SIMULATED_CONDITIONAL_MISSES,
	SIMULATED_INDIRECTS,
	SIMULATED_INDIRECT_MISSES,
	SIMULATED_L2_LOAD_MISSES, /* of a simulation of its own: job/topdown_sim.c */
	SIMULATED_COUNTS,
};

/* "instructions": as the events of the run are called. */
const char *simulated_count_name(enum simulated_count count);

/* Counts of one place.  What the run did not simulate is 0 here and false in `known`. */
struct simulated_row {
	const char *function; /* "[unknown]" */
	const char *file;     /* "": not known; of a function: where most of its instructions are */
	uint32_t line;	      /* 0 of a function */
	uint64_t counts[SIMULATED_COUNTS];
};

struct simulated_counts {
	bool known[SIMULATED_COUNTS];
	uint64_t totals[SIMULATED_COUNTS]; /* of the first execution, as the rows are */
	const struct simulated_row *rows;  /* most instructions first */
	uint32_t row_count;
	bool partial; /* the simulation was cut: rates only */
};

enum simulated_by { SIMULATED_BY_FUNCTION, SIMULATED_BY_LINE };

/* -ENODATA (ERR_USAGE) when nothing in the run was simulated. */
int simulated_take(const struct run *run, enum simulated_by by, struct arena *arena,
	struct simulated_counts *ret_counts, struct err *err);

/* Loads and stores, all branches: the sums that people ask for. */
uint64_t simulated_l1_misses(const struct simulated_row *row);
uint64_t simulated_ll_misses(const struct simulated_row *row);
uint64_t simulated_mispredicts(const struct simulated_row *row);

/* Misses per 1,000 instructions; NAN without instructions. */
double simulated_mpki(uint64_t count, uint64_t instructions);

/* What things cost on this machine, in ns; source/pmu_cost.h measures it. */
struct simulated_costs {
	double cycle_ns;      /* one step of a loop that takes one core cycle */
	double memory_ns;     /* a load from memory that nothing overlaps */
	double line_ns;	      /* a cache line of 64 bytes in a long sequential read */
	double plain_ns;      /* the same, read word by word */
	double cache_ns;      /* a load that misses L1 and hits L2 */
	double far_ns;	      /* one that misses L2 and hits L3; 0: there is no L3 */
	double mispredict_ns; /* a branch that was predicted wrong */
	bool measured;	      /* false: the defaults of data/simulated.rules */
};

/* Take a second measurement in: of a cycle the better one, of what others use too the mean.  What
 * was not measured changes nothing. */
void simulated_costs_join(struct simulated_costs *costs, const struct simulated_costs *again);

/* The thresholds of data/simulated.rules, each a number with its reason in the text. */
struct simulated_rules {
	double explains_share, latency_share, stall_cpi, stall_share;
	double bandwidth_factor, plain_factor, speculation_least, frontend_share;
	double target_share, target_instructions;
	double core_cpi, retiring_cpi;
	double lead_share, judged_share, user_share;
	double samples_least, clear_margin;
	double again_share, doubt_factor, unclear_factor;
	struct simulated_costs defaults;
};

/* Read the text compiled in. */
void simulated_rules_load(struct simulated_rules *ret_rules);
/* Read another text; every rule has to be there once, and above 0. */
int simulated_rules_parse(
	const char *name, const char *text, struct simulated_rules *ret_rules, struct err *err);

/* One function (or line): its time beside its counts.  NAN: the divisor is 0 or not known. */
struct simulated_site {
	struct simulated_row row;
	uint64_t samples;
	bool l2_known;		    /* which loads miss it: then cache_share is exact */
	double time_ns, time_share; /* per execution; of all sampled time */
	double ns_per_instruction, ns_per_l1_miss, ns_per_ll_miss, ns_per_mispredict;
	double l1_mpki, ll_mpki, mispredict_mpki;
	/* Could explain; `line_share`: at the faster of both sequential reads; `cache_share`: hits
	 * of L2 and L3, as if all hit L2 where it is not known; `far_share`: as if all hit L3. */
	double memory_share, line_share, plain_share, cache_share, far_share;
	double mispredict_share, frontend_share;
	enum verdict_category category;
	enum verdict_confidence confidence;
	const char *why;  /* one sentence with its numbers */
	bool few_samples; /* so it has no cause: category is unclear, and `why` says so */
};

struct simulated_view {
	struct simulated_counts counts; /* by function */
	struct simulated_costs costs;
	struct simulated_site *functions; /* most time first */
	uint32_t function_count;
	const struct simulated_site *lines; /* most time first; category is not set */
	uint32_t line_count;
	double time_ns;	      /* sampled CPU time of one execution */
	double kernel_share;  /* of it: not simulated */
	double joined_share;  /* of it: in functions that the simulator saw too */
	double reached_share; /* of the time outside the kernel: in functions that have 1 % or more
				 of the simulated instructions; NAN: there is no such time */
	double category_share[VERDICT_CATEGORIES]; /* of the time */
	double l1_mpki, ll_mpki, mispredict_mpki;  /* of all that was simulated */
	uint64_t samples;
	uint32_t hottest_core;	/* index of the hottest function judged `core`, UINT32_MAX: none */
	struct verdict verdict; /* without the advice */
	const char *const *not_simulated; /* what the model leaves out, one text each */
	uint32_t not_simulated_count;
};

/* --- the parts, for tests --- */

/* The ratios and shares of a site whose row and time are set. */
void simulated_site_ratios(const struct simulated_costs *costs, struct simulated_site *site);

/* And, for a function, its category, confidence and why. */
void simulated_site_judge(const struct simulated_rules *rules, const struct simulated_costs *costs,
	struct arena *arena, struct simulated_site *site);

/* The name under which a function of the samples and one of the simulator meet: without
 * parameters, clones (.isra.0) and the instruction set of a C library's variant
 * (__memmove_evex_unaligned_erms: the simulated CPU has no AVX-512 and gets another one).  Length
 * of the part of `name` that counts. */
size_t simulated_name_length(const char *name);

/* --- the whole --- */

/* `simulated` and `clock` are two runs of the same program; `clock` has samples of a clock.
 * -ENODATA when there are none, or nothing was simulated. */
int simulated_join(const struct run *simulated, const struct run *clock,
	const struct simulated_costs *costs, struct arena *arena, struct simulated_view *ret_view,
	struct err *err);

/* Whether it matters for the verdict which loads hit L2 and which L3, and nobody knows. */
bool simulated_asks_for_l2(const struct simulated_view *view);

/* llvm-mca's prediction for the loop that the verdict `core` is about, beside what was measured:
 * far more is not explained by the instructions, and then neither the function nor the program is
 * called that. */
void simulated_doubt_core(
	struct simulated_view *view, double measured, double predicted, struct arena *arena);

/* Whether a simulation that was cut ended before the program came to what takes its time: then its
 * rates are those of the start only.  False too where nothing can be said. */
bool simulated_is_start_only(
	const struct run *simulated, const struct run *clock, struct arena *arena);
